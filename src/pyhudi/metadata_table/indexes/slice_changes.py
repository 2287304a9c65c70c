"""Which file slices a commit changes, and what rows they had before and have after it.

Rules: `BaseFileRecordParsingUtils`, `HoodieTableMetadataUtil.convertMetadataToRecordIndexRecords`;
docs/format/metadata-table.md#what-each-action-records. Only files of the commit, and of the slices below them, are opened. Compactions
change no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_groups import log_order
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.kernels.log_file.log_rows import read_log_rows, slice_blocks
from pyhudi.kernels.log_file.visible_blocks import LOGS_NAMED_BY_INSTANT
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.schema.meta_columns import IS_DELETED, META_FIELDS, RECORD_KEY
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.visibility import Visibility

#: In version 6 log files do not tell which of them are the commit's own, which is not complete yet; failed writes are rolled back by then.
_EVERYTHING = Visibility(frozenset(), archive_boundary="9" * 17)
_KEEPS_ROWS = frozenset({Operation.COMPACT.value, Operation.LOG_COMPACT.value})


@dataclass(frozen=True, slots=True)
class SliceChange:
    """A file group's slice before and after a commit, None for no slice; `stats` say what was written, nothing for a replaced one.

    `has_uncounted_inserts` is True when new records in log files may be counted among the updates.
    """

    group: FileGroupId
    before: FileSlice | None
    after: FileSlice | None
    stats: tuple[WriteStat, ...] = ()
    has_uncounted_inserts: bool = False

    @property
    def appended(self) -> tuple[LogFile, ...]:
        """The log files that the commit added to the slice before; empty when it wrote a base file. Others may apply later."""
        if self.after is None or self.after.base != (None if self.before is None else self.before.base):
            return ()
        logs_before = () if self.before is None else self.before.logs
        return tuple(log for log in self.after.logs if log not in logs_before)

    @property
    def keeps_keys(self) -> bool:
        """True when a base file was written again, and its writer counted neither a row more nor a row less."""
        rewritten = self.before is not None and not self.before.logs and self.after is not None and not self.appended
        return rewritten and not any(stat.num_inserts or stat.num_deletes for stat in self.stats)

    @property
    def keeps_rows(self) -> bool:
        """True when, beyond that, its writer counted no changed row."""
        return self.keeps_keys and not any(stat.num_update_writes for stat in self.stats)


def slice_changes(view: FileSystemView, metadata: CommitMetadata) -> list[SliceChange]:
    """Return the file groups that a commit writes to or replaces, by partition path and file id.

    Args:
        view: shows the table before the commit.
        metadata: what the commit says of itself.
    """
    if metadata.compacted or metadata.operation in _KEEPS_ROWS:
        return []
    replaced = metadata.replaced or {}
    result: list[SliceChange] = []
    for path in sorted(metadata.stats.keys() | replaced.keys()):
        before = {slice_.group.file_id: slice_ for slice_ in view.latest_slices(path)}
        written: dict[str, list[WriteStat]] = {}
        for stat in metadata.stats.get(path, ()):
            if stat.path is not None and stat.file_id is not None:
                written.setdefault(stat.file_id, []).append(stat)
        for file_id in sorted(written.keys() | set(replaced.get(path, ()))):
            group, stats = FileGroupId(path, file_id), tuple(written.get(file_id, ()))
            old = before.get(file_id)
            result.append(SliceChange(group, old, _after(group, old, stats), stats, metadata.may_begin_records_in_logs))
    return result


def _after(group: FileGroupId, before: FileSlice | None, stats: Sequence[WriteStat]) -> FileSlice | None:
    """Return the slice that a commit leaves: a base file of its own, or the slice before with more logs; None for a replaced one."""
    slice_ = before if stats else None
    for stat in stats:
        name = (stat.path or "").rpartition("/")[2]
        if (base := parse_base_file_name(name)) is not None:
            return FileSlice(group, base.instant, BaseFile(group.partition_path, base, stat.file_size_in_bytes))
        if (log := parse_log_file_name(name)) is not None and not log.is_cdc:
            slice_ = slice_ or FileSlice(group, log.instant, None)
            written = LogFile(group.partition_path, log, stat.file_size_in_bytes)
            slice_ = replace(slice_, logs=tuple(sorted((*slice_.logs, written), key=log_order)))
    return slice_


class SliceRows:
    """Reads rows of slices of one table: record keys, and other columns."""

    def __init__(self, view: FileSystemView, context: RecordContext) -> None:
        self._storage = view.storage
        self._config = view.config
        self._timeline = view.timeline
        self._context = context
        self._layout = view.config.layout
        self._visibility = view.timeline.visibility if self._layout >= LOGS_NAMED_BY_INSTANT else _EVERYTHING

    def keys(self, slice_: FileSlice | None, among: pa.Array | None = None) -> pa.StringArray:
        """Return the record keys of a slice's rows, or those of them that are `among` some."""
        return self.rows(slice_, (), among).column(RECORD_KEY).combine_chunks()

    def rows(self, slice_: FileSlice | None, columns: Sequence[str], among: pa.Array | None = None) -> pa.Table:
        """Return record key and columns of a slice's rows, or of those whose key is `among` some."""
        columns_schema = self._schema(columns)
        return pa.Table.from_batches(self.batches(slice_, columns, among), columns_schema)

    def batches(self, slice_: FileSlice | None, columns: Sequence[str], among: pa.Array | None = None) -> Iterator[pa.RecordBatch]:
        """Yield record key and columns of a slice's rows in batches of bounded size; log files are compared with their checksums."""
        if slice_ is not None:
            task = SliceTask(self._checked(slice_), self._visibility, self._layout, tuple(self._schema(columns).names))
            only = None if among is None else pc.field(RECORD_KEY).isin(among)
            yield from iter_merged(self._storage, self._context, task, only)

    def base(self, file: BaseFile, column: str) -> Iterator[pa.RecordBatch]:
        """Yield a column of a base file, one batch at least."""
        batches = iter_base_file(self._storage, file, self._context.schema, [column])
        empty = self._context.schema.field(column)
        yield from chain([pa.RecordBatch.from_pylist([], pa.schema([empty]))], batches)

    def logged(self, change: SliceChange) -> tuple[pa.StringArray, bool]:
        """Return the keys, each once, that the log files of a change refer to, and whether deletes are among them."""
        assert change.after is not None
        appended = replace(change.after, base=None, logs=change.appended)
        log_rows = read_log_rows(self._storage, self._context, slice_blocks(self._storage, appended, self._layout), ())
        return pc.unique(log_rows.keys), bool(log_rows.deletes.any())

    def may_hold_deletes(self, slice_: FileSlice | None) -> bool:
        """Tell whether the logs of a slice may have deleted rows: from headers of blocks, once the files match their checksums."""
        context = self._context
        if slice_ is None or not slice_.logs:
            return False
        if context.merger is not None or self.marks_deletes:
            return True
        return any(block.type is BlockType.DELETE for block in slice_blocks(self._storage, self._checked(slice_), self._layout))

    @property
    def marks_deletes(self) -> bool:
        """True when a row of the data can say that it is a delete."""
        return self._context.delete_field is not None or IS_DELETED in self._context.schema.names

    def _checked(self, slice_: FileSlice) -> FileSlice:
        return with_checksums(self._storage, self._config, self._timeline, slice_)

    def _schema(self, columns: Sequence[str]) -> pa.Schema:
        fields = {field.name: field for field in (*META_FIELDS, *self._context.schema)}
        return pa.schema([fields[name] for name in dict.fromkeys((RECORD_KEY, *columns))])
