"""Jobs of a write end with it when the user interrupts it.

Ctrl-C, or the button of a notebook, ends Python's waiting for the JVM, where the job goes on: its tasks would make files after the rollback
has looked for them, and hold the cores of the session. In the `pyspark` shell the handler of PySpark speaks to the JVM over the connection
that is waiting, which breaks; what is raised is then py4j's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext

#: Spark ends a Python worker two seconds after its task was cancelled.
_PAUSE_S: Final = 0.2
_MOST_PAUSES: Final = 25


@contextmanager
def jobs_end_with_call(context: SparkContext) -> Iterator[None]:
    """Cancel the jobs that this thread starts meanwhile when the user interrupts it, and wait some seconds for their tasks.

    Raises:
        KeyboardInterrupt: the user interrupted the call, whatever was raised.
    """
    block = object()
    tag = f"pyhudi-{id(block)}"  # blocks may be inside of others
    context.addJobTag(tag)
    try:
        yield
    except KeyboardInterrupt:
        with suppress(Py4JError):
            _cancel(context, tag)
        raise
    except Py4JJavaError:
        raise
    except Py4JError as broken:
        try:
            _cancel(context, tag)
        except Py4JError:
            raise broken from None  # no JVM answers any more
        raise KeyboardInterrupt from broken
    finally:
        with suppress(Py4JError):
            context.removeJobTag(tag)


def _cancel(context: SparkContext, tag: str) -> None:
    context.cancelJobsWithTag(tag)
    for _ in range(_MOST_PAUSES):
        if not _has_tasks(context, tag):
            return
        time.sleep(_PAUSE_S)


def _has_tasks(context: SparkContext, tag: str) -> bool:
    tracker = context.statusTracker()
    java_tracker = context._jsc.sc().statusTracker()  # noqa: SLF001 - PySpark's has no tags
    jobs = (tracker.getJobInfo(number) for number in java_tracker.getJobIdsForTag(tag))
    stages = (tracker.getStageInfo(number) for job in jobs if job is not None for number in job.stageIds)
    return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)
