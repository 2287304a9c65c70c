"""The partition `bloom_filters`: the bloom filter of each base file, as it is in the file's footer.

Rules: `HoodieTableMetadataUtil.convertFilesToBloomFilterRecords`; docs/format/metadata-table.md#what-each-action-records, #metadata-record.
A file without a filter has no record: who asks for it must look into the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.base_file import FOOTER_BLOOM_FILTER, FOOTER_BLOOM_TYPE, OLD_FOOTER_BLOOM_FILTER
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import BloomFilterRecord, MetadataRecord
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.write.data_table_changes import Changes, InitialGroup, numbered_file_ids, spread_records
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_names import BaseFileName, parse_base_file_name
from pyhudi.storage.storage_protocol import Storage

_DEFAULT_KIND = "DYNAMIC_V0"


class BloomFiltersKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.BLOOM_FILTERS

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:  # noqa: ARG002 - one protocol for all kinds
        """Return None: Apache Hudi defines it nowhere."""
        return None

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns."""
        return numbered_file_ids(partition, table.settings.bloom_filters_groups)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the filters of all base files that a snapshot reads."""
        files = [file.path for path in table.view.partition_paths() for file in table.view.latest_base_files(path)]
        return spread_records(partition, dict(_filters(table.view.storage, files)), table.settings.bloom_filters_groups, table.mdt.encoder)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> Changes:  # noqa: ARG002
        """Return the filters of the base files that were written."""
        return Changes(dict(_filters(table.view.storage, [stat.path for stat in metadata.all_stats() if stat.path is not None])))

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> Changes:  # noqa: ARG002
        """Return tombstones of the base files that were removed."""
        removed = BloomFilterRecord("", instant, b"", is_deleted=True)
        names = ((path, file.rpartition("/")[2]) for path, done in metadata.partitions.items() for file in done.deleted)
        return Changes({keys.bloom_filter_key(path, name): removed for path, name in names if parse_base_file_name(name)})


def _filters(storage: Storage, files: Iterable[str]) -> Iterator[tuple[str, MetadataRecord]]:
    named = ((file, parse_base_file_name(file.rpartition("/")[2])) for file in files)
    base = [(file, name) for file, name in named if name is not None and name.extension == "parquet"]
    for record in LocalEngine().run(lambda one: _filter(storage, *one), base):
        if record is not None:
            yield record


def _filter(storage: Storage, file: str, name: BaseFileName) -> tuple[str, MetadataRecord] | None:
    with open_parquet(storage, file) as parquet:
        entries = footer_entries(parquet, storage, file)
    text = entries.get(FOOTER_BLOOM_FILTER) or entries.get(OLD_FOOTER_BLOOM_FILTER)
    if text is None:
        return None
    key = keys.bloom_filter_key(file.rpartition("/")[0], str(name))
    return key, BloomFilterRecord(entries.get(FOOTER_BLOOM_TYPE, _DEFAULT_KIND), name.instant, text.encode())
