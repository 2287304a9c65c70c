"""New base files of the row groups of others, which are copied as bytes: the stream copy of clustering.

A file whose row groups cannot be copied (logs on top of it, other columns or types than a new file has, another library that wrote it)
is decoded and encoded.

Rules: `SparkStreamCopyClusteringExecutionStrategy`, `HoodieParquetFileBinaryCopier`; docs/format/services.md#binary-copy.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa

from pyhudi.codec.parquet.copied_source import GROUPS_MAX, ParquetSource
from pyhudi.codec.parquet.footer_reader import FooterReader
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.parquet_output import encoded
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.base_file.stored_groups import StoredGroups, open_joined
from pyhudi.kernels.merge.merge_slice import count_merged, iter_merged
from pyhudi.kernels.tasks.carried_file import CarriedFile
from pyhudi.kernels.tasks.rewrite_task import RewriteTask, RollingFiles, check_rows, file_task, stated_rows
from pyhudi.kernels.tasks.write_task import TaskResult

if TYPE_CHECKING:
    from pyhudi.kernels.merge.slice_delta import SliceTask
    from pyhudi.storage.storage_protocol import Storage


def run_join_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: RewriteTask) -> list[TaskResult]:
    """Write the files and say what was done.

    Raises:
        CorruptTableError: a file of the slices is damaged, or holds other rows than it states.
    """
    ensure_partition(storage, task.partition_path, task.instant)
    # Rows are counted beforehand, which reads each footer once more, only where files are to have equal shares of them.
    share = -(-stated_rows(storage, context, task) // task.files) if task.files > 1 else sys.maxsize
    with JoinedFiles(storage, context, settings, task, share) as files:
        for merge in task.merges:
            files.add(merge)
    check_rows(storage, task, files.stated_rows, files.results)
    return files.results


class JoinedFiles(RollingFiles):
    """Base files of copied row groups, one after the other; all row groups of a file have the schema of its template."""

    def __init__(self, storage: Storage, context: RecordContext, settings: WriterSettings, task: RewriteTask, rows: int) -> None:
        """Begin no file yet; `rows` is how many each is to have."""
        super().__init__(storage, context, settings, task, rows)
        self._storage, self._context, self._limit_bytes = storage, context, task.limit_bytes
        self._new = self._template = encoded(context.file_schema.empty_table(), settings)
        self._open = lambda number: CarriedFile(storage, context, settings, file_task(task, number), self._template)
        self._footers, self._groups = FooterReader(), 0
        #: The number of rows of the slices so far, by footers and log headers.
        self.stated_rows = 0

    def add(self, merge: SliceTask) -> None:
        """Add the rows of a slice: the row groups of its base file where they can be copied.

        Raises:
            CorruptTableError: a file of the slice is damaged or missing.
        """
        base = merge.slice.base
        if base is not None and not merge.slice.logs:
            with open_joined(self._storage, base, self._context, self._footers) as stored:
                template = None if stored is None else self._template_of(stored)
                if stored is not None and template is not None:
                    self.stated_rows += stored.source.stated_rows
                    self._join(stored, template)
                    return
        self.stated_rows += count_merged(self._storage, self._context, merge, limit_bytes=self._limit_bytes)
        self._use(self._new, 1)
        for batch in iter_merged(self._storage, self._context, merge, limit_bytes=self._limit_bytes):
            self.append(pa.Table.from_batches([batch]))

    def _template_of(self, stored: StoredGroups) -> ParquetSource | None:
        """Return the file whose schema a copy has: the last one, a new one, or, written by another library, the file itself."""
        source = stored.source
        for template in (self._template, self._new):
            if source.can_be_copied_to(template):
                return template
        return source if stored.has_columns_of(self._context) and source.can_be_copied_to(source) else None

    def _join(self, stored: StoredGroups, template: ParquetSource) -> None:
        self._use(template, len(stored.rows))
        for number, rows in enumerate(stored.rows):
            if rows:
                self._current().join_group(stored, number)
                self._groups += 1
                self._end_if_full()

    def _use(self, template: ParquetSource, groups: int) -> None:
        """Let the next row groups have the schema of a template; a file has one schema, and a limited number of row groups."""
        if self._file is not None and (template is not self._template or self._groups + groups >= GROUPS_MAX):
            self._end()
        self._template = template

    def _end(self) -> None:
        super()._end()
        self._groups = 0
