"""Calls of the JVM into Python that Spark interrupts, as it does when a stream is stopped.

Spark tells a stopped stream from a failed one by a regular expression over the text of the call's error
(`StreamExecution.isInterruptionException`). Java's matcher takes a stack frame for each character after the beginning of a match: a
trace of some thousand characters, which every error of the JVM has, ends in a StackOverflowError of 1,000 lines. So what py4j sees of an
interruption is short.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from pyhudi.spark.jvm.jvm import JavaObject, java_causes

_log = logging.getLogger(__name__)

#: As Spark lists them.
_INTERRUPTIONS: Final = frozenset(
    {"java.lang.InterruptedException", "java.io.InterruptedIOException", "java.nio.channels.ClosedByInterruptException"}
)
#: How Spark's expression begins.
_PROXY_ERROR: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling the JVM"
_CANCELLED: Final = "cancelled"
_JOB_GROUP: Final = "spark.jobGroup.id"
_MOST_CAUSES: Final = 20


class InterruptedCall(Exception):
    """What py4j sees of an interrupted call: the text that Spark looks for, and no trace of the JVM."""

    def __init__(self) -> None:
        super().__init__(
            "stopped by Spark (py4j.protocol.Py4JJavaError: An error occurred while calling the JVM: java.lang.InterruptedException)"
        )


@contextmanager
def interruptions_shortened(session: SparkSession) -> Iterator[None]:
    """Raise `InterruptedCall` for an error that comes of an interruption, or of Spark's cancelling the jobs of this stream."""
    try:
        yield
    except Exception as error:
        if not is_interruption(error, session.sparkContext.getLocalProperty(_JOB_GROUP)):
            raise
        _log.debug("interrupted by Spark", exc_info=True)
        raise InterruptedCall from None


def is_interruption(error: BaseException, job_group: str | None = None) -> bool:
    """Tell whether an error comes of an interruption of the JVM's thread, or, when it is named, of the cancelling of a group of jobs."""
    return any(_interrupts(thrown, job_group) for cause in _causes(error) for thrown in _java_exception(cause))


def _interrupts(thrown: JavaObject, job_group: str | None) -> bool:
    if str(thrown.getClass().getName()) in _INTERRUPTIONS:
        return True
    message = str(thrown.getMessage() or "")
    return job_group is not None and _CANCELLED in message and job_group in message


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised from or while handling."""
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _java_exception(error: BaseException) -> Iterator[JavaObject]:
    """Yield the exception of the JVM that an error stands for, and its causes."""
    exception: JavaObject = None
    if isinstance(error, Py4JJavaError):
        exception = error.java_exception
    elif isinstance(error, CapturedException):
        exception = error._origin  # noqa: SLF001 - said nowhere else
    return java_causes(exception)
