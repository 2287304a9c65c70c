"""What a Spark task sends back to the driver: one line of JSON, a result or an error of ours.

An error travels as a value, so that a user's mistake found in a task is raised on the driver as the pyhudi error it is, not as a Python
worker's stack inside a Java one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Final

import pyarrow as pa
from pyspark import TaskContext

from pyhudi import errors
from pyhudi.errors import HudiError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spec.actions.commit import WriteStat

#: The schema of a task's output, as `mapInArrow` wants it.
RESULT_SCHEMA: Final = "result string"


def answers(work: Callable[[], Iterator[TaskResult]]) -> Iterator[pa.RecordBatch]:
    """Yield the results of a task, or the error that ended it."""
    try:
        for result in work():
            yield _line(
                {"stat": asdict(result.stat), "late_dropped": result.late_dropped, "file": result.file, "log_crc32": dict(result.log_crc32)}
            )
    except HudiError as error:
        yield _line({"error": type(error).__name__, "message": str(error)})


def _line(value: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"result": [json.dumps(value)]})


def results_of(lines: list[str]) -> list[TaskResult]:
    """Return the results that all tasks sent.

    Raises:
        HudiError: the first error that a task sent, as the class it had there.
    """
    values = [json.loads(line) for line in lines]
    for value in values:
        if "error" in value:
            kind = getattr(errors, value["error"], HudiError)
            raise kind(value["message"])
    return [TaskResult(_stat(value["stat"]), value["late_dropped"], value["file"], value["log_crc32"]) for value in values]


def _stat(value: dict[str, object]) -> WriteStat:
    log_files = value.pop("log_files")
    return WriteStat(**value, log_files=None if log_files is None else tuple(log_files))  # type: ignore[arg-type]


def task_identity() -> tuple[int, str]:
    """Return the number of the running Spark task and its write token `<partition>-<stage>-<attempt>`.

    A repeated attempt has another token, so it never meets the files of the one before; those are found by their markers.
    """
    context = TaskContext.get()
    assert context is not None, "runs inside a Spark task"
    number = context.partitionId()
    return number, f"{number}-{context.stageId()}-{context.taskAttemptId()}"
