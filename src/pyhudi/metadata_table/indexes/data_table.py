"""What the metadata table must know of the table that it describes, while an action is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.cache import cached_property
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.kernels.base_file.record_context import record_context_of
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import StoredColumns, bound_types, index_version_of, stored_columns
from pyhudi.metadata_table.format.index_definitions import IndexDefinition, load_definitions
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.metadata_table.indexes.file_stats import BoundTypes, file_stats
from pyhudi.metadata_table.indexes.recorded_stats import RecordedStats
from pyhudi.metadata_table.indexes.slice_changes import SliceRows
from pyhudi.metadata_table.read.partition_reader import MetadataPartition, slices_by_data_partition
from pyhudi.metadata_table.read.stats_records import stats_records
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import BaseFile, FileSlice, join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """What a snapshot of a partition reads: paths of base files, and whether any of them has log files on top."""

    base: tuple[str, ...]
    has_logs: bool


class DataTable:
    """The data table as it is before an action, for those who make records of that action.

    Args:
        view: shows it; `view.storage` and `view.config` are the table's.
        mdt: its metadata table as it is before the action.
        schema: its data columns with the action, without meta columns; None when the action does not say.
        settings: what options say about the metadata table.
        recorded: statistics from the metadata table before this one.
    """

    def __init__(
        self,
        view: FileSystemView,
        mdt: MetadataWriterTable,
        schema: pa.Schema | None,
        settings: MetadataSettings,
        recorded: RecordedStats | None = None,
    ) -> None:
        self.view = view
        self.mdt = mdt
        self.schema = schema
        self.settings = settings
        self._recorded = recorded
        self._stats: dict[str, Mapping[str, ColumnStats] | None] = {}
        self._row_counts: dict[str, int] = {}

    def reopened(self, view: FileSystemView, mdt: MetadataWriterTable) -> DataTable:
        """Return the same table with another view of it and another state of its metadata table; footers stay known."""
        table = DataTable(view, mdt, self.schema, self.settings, self._recorded)
        table._stats = self._stats
        table._row_counts = self._row_counts
        return table

    @cached_property
    def definitions(self) -> Mapping[str, IndexDefinition]:
        """The definitions of the table's indexes by name."""
        return load_definitions(self.view.storage, self.view.config)

    @cached_property
    def context(self) -> RecordContext:
        """What reading the table's rows takes.

        Raises:
            UnsupportedError: it has no schema yet, or merges records in a way that is not served.
        """
        config = self.view.config
        if self.schema is None:
            raise UnsupportedError(f"table {self.view.storage.uri} has no schema, so that its rows cannot be read for an index")
        return record_context_of(config, self.schema, with_meta_fields(arrow_to_avro(self.schema, config.name)))

    @cached_property
    def rows(self) -> SliceRows:
        """Reads rows of its slices."""
        return SliceRows(self.view, self.context)

    @cached_property
    def types(self) -> BoundTypes:
        """The types of the bounds of the columns that have statistics."""
        definition = self.definitions.get(partitions.COLUMN_STATS)
        if self.schema is None or definition is None:
            return {}
        version = index_version_of(self.view.config.version, definition.version)
        return bound_types(self.schema, definition.source_fields, version)

    def stored_columns(self, path: str, columns: Iterable[str]) -> StoredColumns | None:
        """Return what a base file calls some columns that have statistics; None when unknown."""
        instant = _instant_of(path)
        return None if self.schema is None or instant is None else stored_columns(columns, self.schema, self.view.config, instant)

    def partition(self, name: str, within: str = "") -> MetadataPartition | None:
        """Return a partition of the metadata table as it was before the action, None when there is no such one.

        `within` is the data table's partition whose file groups are meant, in a record index by partition.
        """
        if name not in self.view.config.metadata_partitions:
            return None
        slices = self._record_index_slices.get(within) if within else self.mdt.slices(name)
        return MetadataPartition(self.mdt.storage, name, slices, self.mdt.timeline, within=within) if slices else None

    @cached_property
    def _record_index_slices(self) -> Mapping[str, Sequence[FileSlice]]:
        return slices_by_data_partition(partitions.RECORD_INDEX, self.mdt.slices(partitions.RECORD_INDEX))

    def stats_of(self, path: str) -> Mapping[str, ColumnStats] | None:
        """Return the statistics of a base file by column, from its footer; None when it has no rows."""
        if path not in self._stats:
            self._stats[path] = file_stats(self.view.storage, path, self.types, self.stored_columns(path, self.types))
        return self._stats[path]

    def stats_cells(self, paths: Collection[str]) -> dict[str, bytes]:
        """Return the encoded statistics of base files by key: as they were recorded before, others from the footers."""
        named_as_today = [path for path in paths if self._calls_columns_as_today(path)] if self._recorded is not None else ()
        encoder = self.mdt.encoder
        known = {} if self._recorded is None else self._recorded.of_files(named_as_today, self.types, encoder.file_schema)
        self._stats.update((path, stats.by_column) for path, stats in known.items())
        result: dict[str, bytes] = {}
        for path in paths:
            if path in known:
                result |= known[path].cells
            else:
                within = path.rpartition("/")[0]
                for column, stats in (self.stats_of(path) or {}).items():
                    result[keys.column_stats_key(column, within, stats.file_name)] = encoder.encode(stats)
        return result

    def row_counts(self, files: Sequence[BaseFile]) -> list[int]:
        """Return how many rows base files have, by their footers, each of which is read once."""
        unknown = [file for file in files if file.path not in self._row_counts]
        counts = LocalEngine().run(lambda file: row_count(self.view.storage, file), unknown)
        self._row_counts.update((file.path, count) for file, count in zip(unknown, counts, strict=True))
        return [self._row_counts[file.path] for file in files]

    def stats_of_all(self, paths: Collection[str]) -> list[Mapping[str, ColumnStats]]:
        """Return the statistics of the base files that have rows, as far as possible without opening them."""
        # What was recorded of a file that calls columns otherwise was made before they got their names or types of today.
        unknown = [path for path in paths if path not in self._stats and self._calls_columns_as_today(path)]
        self._stats.update(self._look_up(unknown))
        return [stats for path in paths if (stats := self.stats_of(path)) is not None]

    def _calls_columns_as_today(self, path: str) -> bool:
        instant = _instant_of(path)
        return self.schema is None or instant is None or alignment(self.schema, instant) is None

    def after(self, partition_path: str, metadata: CommitMetadata) -> PartitionFiles:
        """Return what a snapshot of a partition reads once a commit is visible."""
        slices = {slice_.group.file_id: slice_ for slice_ in self.view.latest_slices(partition_path)}
        for file_id in (metadata.replaced or {}).get(partition_path, ()):
            slices.pop(file_id, None)
        base = {file_id: slice_.base.path for file_id, slice_ in slices.items() if slice_.base is not None}
        with_logs = {file_id for file_id, slice_ in slices.items() if slice_.logs}
        for stat in metadata.stats.get(partition_path, ()):
            name = (stat.path or "").rpartition("/")[2]
            if parsed := parse_base_file_name(name):
                base[parsed.file_id] = join_path(partition_path, name)
                with_logs.discard(parsed.file_id)
            elif log := parse_log_file_name(name):
                with_logs.add(log.file_id)
        return PartitionFiles(tuple(sorted(base.values())), bool(with_logs))

    @cached_property
    def _known(self) -> MetadataPartition | None:
        return self.partition(partitions.COLUMN_STATS)

    def _look_up(self, paths: Collection[str]) -> Mapping[str, Mapping[str, ColumnStats]]:
        if not paths or self._known is None:
            return {}
        path_by_key: dict[str, str] = {}
        for path in paths:
            partition_path, _, name = path.rpartition("/")
            path_by_key |= {keys.column_stats_key(column, partition_path, name): path for column in self.types}
        result: dict[str, dict[str, ColumnStats]] = {}
        for cells in self._known.get_cells(path_by_key):
            for row, record in stats_records(cells, self._known.name):
                if not record.is_deleted:
                    result.setdefault(path_by_key[row.decode()], {})[record.column] = record
        return result


def _instant_of(path: str) -> str | None:
    """Return the requested time of the commit that wrote a base file; None when the path is not that of one."""
    name = parse_base_file_name(path.rpartition("/")[2])
    return None if name is None else name.instant
