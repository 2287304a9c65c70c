"""Runs a task of a write, whichever kind it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.log_file.append_task import AppendTask
from pyhudi.kernels.tasks.append_log import run_append_task
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, run_write_task

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: One file group's part of a write: a new base file, or log files on top of what is there.
GroupTask: TypeAlias = WriteTask | AppendTask


def run_task(
    storage: Storage, context: RecordContext, settings: WriterSettings, task: GroupTask, rows: pa.Table | Iterable[pa.RecordBatch]
) -> list[TaskResult]:
    """Run one task and return a result for each file it wrote; arguments and errors as in the function of its kind."""
    if isinstance(task, AppendTask):
        return run_append_task(storage, context, settings, task, rows)
    return [run_write_task(storage, context, settings, task, rows)]
