"""The identity of the running Spark task: its number and the write token of its files."""

from __future__ import annotations

from pyspark import TaskContext


def task_identity() -> tuple[int, str]:
    """Return the number of the running Spark task and its write token `<partition>-<stage>-<attempt>`.

    A repeated attempt has another token, so it never meets the files of the one before; those are found by their markers.
    """
    context = TaskContext.get()
    assert context is not None, "runs inside a Spark task"
    number = context.partitionId()
    return number, f"{number}-{context.stageId()}-{context.taskAttemptId()}"
