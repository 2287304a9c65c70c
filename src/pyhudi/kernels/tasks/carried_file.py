"""A new base file of rows that keep what they are: a service moves them, no writer changes them."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter
from pyhudi.kernels.tasks.splicing_writer import JoiningFileWriter
from pyhudi.kernels.tasks.task_attempt import reserve_name
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.codec.parquet.copied_source import ParquetSource
    from pyhudi.kernels.base_file.stored_groups import StoredGroups
    from pyhudi.storage.storage_protocol import Storage


class CarriedFile:
    """The base file, from its marker to its footer. Rows keep commit time, sequence number and key; write statistics are those of
    `HoodieCreateHandle`.
    """

    def __init__(
        self, storage: Storage, context: RecordContext, settings: WriterSettings, task: WriteTask, template: ParquetSource | None = None
    ) -> None:
        """Create the marker and open the file; the end of the `with` block finishes it. Row groups can be joined given a `template`."""
        self._started = time.perf_counter()
        self._task = reserve_name(storage, task, MarkerType.CREATE)
        self._context = context
        token = self._task.write_token.split("-", 1)[0]
        self._meta = MetaColumnWriter(task.instant, token, task.partition_path, str(self._task.file_name))
        self._size = 0
        with contextlib.ExitStack() as files:
            self._output = files.enter_context(storage.open_output(self._task.path))
            files.callback(self._measure)  # when the footer is written, and before the file is closed
            filters = KeyFilter.for_rows_after(storage, None, context, settings)
            writer = (
                BaseFileWriter(self._output, context, settings, filters)
                if template is None
                else JoiningFileWriter(self._output, context, settings, filters, template, str(self._task.file_name))
            )
            self._writer = files.enter_context(writer)
            self._files = files.pop_all()

    @property
    def rows(self) -> int:
        """How many rows the file has so far."""
        return self._writer.rows

    @property
    def written_bytes(self) -> int:
        """How many bytes are in the file so far; row groups that wait are not."""
        return self._output.tell()

    def append(self, rows: pa.Table) -> None:
        """Add rows, with their meta columns."""
        self._writer.append(self._meta.carried_over(rows, self._context.file_schema))

    def join_group(self, stored: StoredGroups, number: int) -> None:
        """Add a row group of an open file as it is."""
        assert isinstance(self._writer, JoiningFileWriter), "the file has a template"
        self._writer.join_group(stored, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.__exit__(*error)  # type: ignore[arg-type]  # the three arguments of the protocol

    def _measure(self) -> None:
        self._size = self._output.tell()

    def result(self) -> TaskResult:
        """Return what was written, once the file is closed."""
        rows, path = self._writer.rows, self._task.path
        stat = WriteStat(
            file_id=self._task.file_id,
            path=path,
            partition_path=self._task.partition_path,
            num_writes=rows,
            num_inserts=rows,
            total_write_bytes=self._size,
            file_size_in_bytes=self._size,
            total_create_ms=int((time.perf_counter() - self._started) * 1000),
        )
        return TaskResult(stat, 0, path)
