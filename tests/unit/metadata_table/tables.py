"""Fixture tables that have a metadata table, opened."""

from __future__ import annotations

from pathlib import Path

from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.tables import LANCE, NAMES

WITH_SECONDARY = [name for name in NAMES if name.startswith(("cow/v9_txns", "mor/avro/v9_txns")) and name.endswith("_meta")]
WITH_METADATA_TABLE = sorted(
    {
        *WITH_SECONDARY,
        *(name for name in NAMES if "v9_timebased" in name or name.endswith("simple_overwrite")),
        *LANCE,
        "mor/avro/v8_trips_8i3u1d",
        "mor/avro/v9_nonpartitioned_rollback",
        "apache_hudi/with_metadata_table_v9",
    }
)
#: Copy-on-write tables of Parquet files with meta columns: what is in the files can be compared with the indexes.
COMPARABLE = [name for name in WITH_METADATA_TABLE if name.startswith("cow/") and name not in LANCE] + [
    "apache_hudi/with_metadata_table_v9"
]


def open_metadata(base: Path) -> tuple[Storage, TableConfig, Timeline, MetadataTable]:
    storage = LocalStorage(str(base))
    config = TableConfig(load_properties(storage))
    timeline = load_full_timeline(storage, config)
    return storage, config, timeline, MetadataTable.open(storage, config, timeline)


def listed(storage: Storage, config: TableConfig) -> dict[str, dict[str, int]]:
    """Names and sizes of the data files in each partition, by listing."""
    result = walk_partitions(storage) if config.partition_fields else [("", storage.list(""))]
    return {
        path: {file.name: file.size for file in files if not file.is_dir and file.name != PARTITION_METAFILE and file.name[-4:] != ".crc"}
        for path, files in result
    }
