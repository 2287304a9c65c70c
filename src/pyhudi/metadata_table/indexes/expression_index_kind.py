"""The partitions `expr_index_*`: bounds, or bloom filters, of a function of a column in each base file.

Rules: `HoodieTableMetadataUtil.convertWriteStatsToExpressionIndexRecords`, `SparkMetadataWriterUtils`;
docs/format/metadata-table.md#what-each-action-records, #keys-of-metadata-records. A function that is not computed here (or not of this
column) leads to no records of new files, and log files have none: readers keep such files. Bounds of whole partitions, which Apache Hudi
has next to them, are rolled back: as soon as one partition has some, it takes a partition without any for one without matching rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import index_version_of
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, MetadataRecord, RecordType
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.expression_records import ExpressionRecords
from pyhudi.metadata_table.indexes.indexed_type import check_indexed_type
from pyhudi.metadata_table.write.data_table_changes import Changes, InitialGroup, numbered_file_ids, spread_records
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name

#: `hoodie.metadata.index.expression.file.group.count`
_GROUPS = 2


class ExpressionIndexKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition.startswith(partitions.EXPRESSION_PREFIX)

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:  # noqa: ARG002 - one protocol for all kinds
        """Return None: who creates the index says of what it is."""
        return None

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:  # noqa: ARG002 - one protocol for all kinds
        """Return the file ids of the groups that `initial` returns."""
        return numbered_file_ids(partition, _GROUPS)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the records of all base files that a snapshot reads."""
        index = _Index(table, partition)
        records = index.of_files(file for path in table.view.partition_paths() for file in table.view.latest_base_files(path))
        return spread_records(partition, records, _GROUPS, table.mdt.encoder)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> Changes:  # noqa: ARG002
        """Return the records of the base files that were written, and the bounds of partitions to roll back."""
        index = _Index(table, partition)
        check_indexed_type(table, index.field, partition, _same_values)
        return Changes(index.of_files(_base_files(metadata)), index.of_partitions())

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> Changes:
        """Return tombstones of the base files that were removed."""
        index = _Index(table, partition)
        names = ((path, file.rpartition("/")[2]) for path, done in metadata.partitions.items() for file in done.deleted)
        return Changes(dict(index.deletion(path, name, instant) for path, name in names if parse_base_file_name(name)))


class _Index:
    """One expression index of a table."""

    def __init__(self, table: DataTable, partition: str) -> None:
        definition = table.definitions.get(partition)
        if definition is None or len(definition.source_fields) != 1:
            raise UnsupportedError(f"table {table.view.storage.uri} does not say what its index {partition} is of; drop the index")
        self._table = table
        self._partition = partition
        self.field = definition.source_fields[0]
        self._is_bloom = definition.type == partitions.BLOOM_FILTERS
        self._records = ExpressionRecords(definition, index_version_of(table.view.config.version, definition.version))

    def of_files(self, files: Iterable[BaseFile]) -> dict[str, MetadataRecord]:
        """Return the records of base files by key, of those that there are any of."""
        records = LocalEngine().run(self._of_file, list(files))
        return {key: record for key, record in records if record is not None}

    def of_partitions(self) -> tuple[str, ...]:
        """Return the keys of the bounds of partitions that there are; of all that there may be while the index is being built."""
        if self._is_bloom:
            return ()
        record_keys = [keys.expression_partition_stats_key(self.field, path) for path in self._table.view.partition_paths()]
        if self._partition in self._table.view.config.metadata_partitions_inflight:
            return tuple(record_keys)
        index = self._table.partition(self._partition)
        return () if index is None else tuple(key for key, _ in index.get_many(record_keys))

    def deletion(self, path: str, name: str, instant: str) -> tuple[str, MetadataRecord]:
        """Return key and tombstone of a base file."""
        if self._is_bloom:
            return self._key(path, name), BloomFilterRecord("", instant, b"", is_deleted=True)
        return self._key(path, name), ColumnStats(RecordType.COLUMN_STATS, name, self.field, is_deleted=True)

    def _key(self, path: str, name: str) -> str:
        return keys.bloom_filter_key(path, name) if self._is_bloom else keys.column_stats_key(self.field, path, name)

    def _of_file(self, file: BaseFile) -> tuple[str, MetadataRecord | None]:
        column = self.field.split(".")[0]
        record = None
        if column in self._table.context.schema.names:
            record = self._records.of_file(file, pa.Table.from_batches(self._table.rows.base(file, column)))
        return self._key(file.partition_path, str(file.name)), record


def _same_values(old: pa.DataType, new: pa.DataType) -> bool:
    """Tell whether expressions have the same values of a column of another type."""
    return bool(old == new or (pa.types.is_integer(old) and pa.types.is_integer(new)))


def _base_files(metadata: CommitMetadata) -> Iterator[BaseFile]:
    for path, stats in metadata.stats.items():
        for stat in stats:
            name = parse_base_file_name((stat.path or "").rpartition("/")[2])
            if name is not None:
                yield BaseFile(path, name, stat.file_size_in_bytes)
