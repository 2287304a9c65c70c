"""The rows before and after a write that is not committed yet, of the partitions that it touches.

As in Apache Hudi, partitions that a write leaves as they are do not take part. The rows after it are those of the files that readers would
see if the write were complete: its instant counts as completed, and the file groups that it replaces as replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.cache import cached_property
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.read.execute import read_table, select
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.read_schema import StoredSchema
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.meta_columns import META_FIELDS
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.txn.locked_table import TableState
from pyhudi.write.input.prepare_rows import TableSchema

#: The files of a pending write are in no metadata table, and no commit notes their checksums.
_QUERY = SnapshotQuery(use_metadata_table=False, skips_data=False, verifies_pages=False)


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """A write whose files are there: its instant as it would be when completed, its statistics and what it replaces."""

    instant: Instant
    stats: tuple[WriteStat, ...]
    replaced: Mapping[str, tuple[str, ...]]

    @property
    def paths(self) -> tuple[str, ...]:
        """The partitions that the write touches."""
        return tuple(sorted({*(stat.partition_path or "" for stat in self.stats), *self.replaced}))


class _StagedView(FileSystemView):
    """The files of a table as they would be after a write."""

    def __init__(self, before: FileSystemView, write: StagedWrite) -> None:
        super().__init__(before.storage, before.config, before.timeline.with_instant(write.instant))
        groups = (FileGroupId(path, file_id) for path, ids in write.replaced.items() for file_id in ids)
        self.__dict__["replaced"] = {**before.replaced, **dict.fromkeys(groups, write.instant.requested)}


@dataclass(frozen=True)
class StagedRows:
    """The rows of one side of a write, which are read when a validator asks for them."""

    view: FileSystemView
    schema: TableSchema
    paths: tuple[str, ...]
    columns: frozenset[str] | None  # all, where it is None

    @cached_property
    def table(self) -> pa.Table:
        """The rows with their columns, the meta columns before them.

        Raises:
            HudiError: a file cannot be read.
        """
        if not self.schema.columns.names:
            return self.schema.columns.empty_table()
        snapshot = Snapshot(self.view.storage, _QUERY, self.view.config, self.view.timeline, self.view.timeline)
        known = set(self.view.partition_paths())
        snapshot.__dict__.update(
            _view=self.view,
            stored_schema=StoredSchema(self.schema.columns, self.schema.avro_json),
            partition_paths=tuple(path for path in self.paths if path in known),
        )
        names = column_names(self.view.config, self.schema)
        # Rows without a column could not be counted.
        needed = names if self.columns is None else [name for name in names if name in self.columns] or self.schema.columns.names[:1]
        return read_table(select(snapshot, needed))


def column_names(config: TableConfig, schema: TableSchema) -> list[str]:
    """Return the names of the columns that rows have for validators."""
    return [*(field.name for field in META_FIELDS if config.populate_meta_fields), *schema.columns.names]


def rows_around(
    table: TableState, stored: TableSchema, schema: TableSchema, write: StagedWrite, columns: frozenset[str] | None
) -> tuple[StagedRows, StagedRows]:
    """Return the rows before and after a write.

    Args:
        table: the table under its lock.
        stored: its schema before the write.
        schema: that after it.
        write: what was written.
        columns: those that validators need of them, None for all.
    """
    before = FileSystemView(table.storage, table.config, table.timeline)
    after = _StagedView(before, write)
    return StagedRows(before, stored, write.paths, columns), StagedRows(after, schema, write.paths, columns)
