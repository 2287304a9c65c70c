"""Which errors come of Spark's interrupting a call: those that say so, however deep, and of the stream's own cancelled jobs.

And what becomes of the jobs of a call that the user interrupts.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
import traceback
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pyhudi.errors import StorageError
from pyhudi.spark.jvm.interrupted_jobs import jobs_end_with_call
from pyhudi.spark.jvm.interruption import InterruptedCall, is_interruption

#: `StreamExecution.PROXY_ERROR` of Spark 4.1.
PROXY_ERROR = re.compile(
    r"py4j\.protocol\.Py4JJavaError: An error occurred while calling((.|\r\n|\r|\n)*)"
    r"(java\.lang\.InterruptedException|java\.io\.InterruptedIOException|java\.nio\.channels\.ClosedByInterruptException)"
)


def thrown(name: str, message: str | None = None, cause: SimpleNamespace | None = None) -> SimpleNamespace:
    """Return what of an exception of the JVM is asked."""
    kind = SimpleNamespace(getName=lambda: name)
    return SimpleNamespace(getClass=lambda: kind, getMessage=lambda: message, getCause=lambda: cause)


class JavaError(Py4JJavaError):  # type: ignore[misc]
    """py4j's error around such an exception."""

    def __init__(self, exception: SimpleNamespace) -> None:
        Exception.__init__(self, "An error occurred while calling o1.collect.")
        self.java_exception = exception

    def __str__(self) -> str:
        return "An error occurred while calling o1.collect.\n" + "\tat somewhere\n" * 1000


def _raised_from(cause: BaseException, error: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def _raised_while_handling(context: BaseException, error: BaseException) -> BaseException:
    error.__context__ = context
    return error


INTERRUPTED = JavaError(thrown("org.apache.spark.SparkException", "await", thrown("java.lang.InterruptedException")))
CANCELLED = JavaError(thrown("org.apache.spark.SparkException", "[SPARK_JOB_CANCELLED] Job 3 cancelled Query [runId = r1] was stopped"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (INTERRUPTED, True),
        (JavaError(thrown("java.nio.channels.ClosedByInterruptException")), True),
        (JavaError(thrown("java.io.InterruptedIOException")), True),
        (_raised_from(INTERRUPTED, StorageError("cannot list")), True),
        (_raised_while_handling(INTERRUPTED, ValueError("while handling")), True),
        (CANCELLED, False),
        (JavaError(thrown("java.lang.IllegalStateException")), False),
        (StorageError("cannot list"), False),
    ],
)
def test_an_interruption_is_known_by_its_class_at_any_depth(error: BaseException, expected: bool) -> None:
    assert is_interruption(error) is expected


def test_a_cancelled_job_is_one_for_its_own_group_only() -> None:
    assert is_interruption(CANCELLED, "r1")
    assert not is_interruption(CANCELLED, "r2")


def test_what_py4j_sees_is_short_and_known_to_spark() -> None:
    try:
        try:
            raise INTERRUPTED
        except Py4JJavaError:
            raise InterruptedCall from None
    except InterruptedCall:
        text = traceback.format_exc()
    assert PROXY_ERROR.search(text)
    assert len(text) < 1000


@pytest.mark.spark
def test_py4j_logs_no_trace_of_an_interrupt(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    press = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    press.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            spark._jvm.java.lang.Thread.sleep(10_000)  # type: ignore[union-attr]
    finally:
        press.join()
        signal.signal(signal.SIGINT, before)
    logging.getLogger().error("the user's own")
    assert [record.message for record in caplog.records if record.name == "root"] == ["the user's own"]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("is_shell", [False, True])
def test_jobs_of_an_interrupted_call_end_with_it(is_shell: bool, spark: SparkSession) -> None:
    context = spark.sparkContext

    def as_in_pyspark(number: int, frame: object) -> None:  # its own handler, which the session of the tests may not have set
        context.cancelAllJobs()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, as_in_pyspark if is_shell else signal.default_int_handler)
    press = threading.Timer(3, os.kill, [os.getpid(), signal.SIGINT])
    press.start()
    try:
        with pytest.raises(KeyboardInterrupt), jobs_end_with_call(context):
            context.parallelize([1], 1).map(lambda _: time.sleep(100)).collect()
    finally:
        press.join()
        signal.signal(signal.SIGINT, before)
    assert context.statusTracker().getActiveJobsIds() == []
    assert not context.getJobTags()
    assert spark.range(3).count() == 3
