"""The metadata table as a table that is written: its storage, its properties, where new times and ids come from.

Rules: `HoodieBackedTableMetadataWriter.initializeMetaClient`; docs/format/metadata-table.md#its-own-properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pyhudi.cache import cached_property
from pyhudi.errors import TableNotFound
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.metadata_table.format.metadata_partitions import slices_of_partition
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import create_properties, load_properties
from pyhudi.timeline.clock import Clock, InstantClock, now_millis
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.write_instant import TimelineWriter
from pyhudi.timeline_archive.full_timeline import load_full_timeline

FOLDER = ".hoodie/metadata"
_WORK_FOLDERS = (".hoodie/.temp", ".hoodie/.aux", ".hoodie/.heartbeat")
_OF_LAYOUT_1 = {
    "hoodie.timeline.layout.version": "1",
    "hoodie.archivelog.folder": "archived",
    "hoodie.table.keygenerator.class": "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
}
_OF_LAYOUT_2 = {
    "hoodie.timeline.layout.version": "2",
    "hoodie.archivelog.folder": "history",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
    "hoodie.record.merge.mode": "CUSTOM",
    "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
}


@dataclass(frozen=True, slots=True)
class TimeAndIds:
    """Where a write takes time and chance from: `zone` is that of the data table's timeline, `sync_marker` gives 16 random
    bytes.
    """

    clock: Clock
    zone: str
    sync_marker: Callable[[], bytes]

    def now_ms(self) -> int:
        """Return the present in epoch milliseconds."""
        return now_millis(self.clock)


@dataclass(frozen=True)
class MetadataWriterTable:
    """The metadata table while the data table's lock is held, as it was when its timeline was read."""

    storage: FolderStorage
    config: TableConfig
    timeline: Timeline
    sources: TimeAndIds
    encoder: RecordEncoder

    @property
    def writer(self) -> TimelineWriter:
        """Writes its instants."""
        return TimelineWriter(self.storage, self.config)

    def next_time(self, after: str = "") -> str:
        """Return an instant time later than `after` and than all on the timeline.

        The data table's times would not do: a log file that seemed to be completed before the last compaction of this
        table would be taken for compacted.
        """
        return InstantClock(self.sources.clock, self.sources.zone, max(after, self.timeline.greatest_time())).next()

    def slices(self, partition: str) -> tuple[FileSlice, ...]:
        """Return the newest slice of each file group of a partition, by file id."""
        return slices_of_partition(partition, self.view.latest_slices(partition))

    def check_files(self, partitions: Iterable[str]) -> None:
        """See that the newest slices of these partitions are whole: whoever builds on less makes a loss permanent.

        Raises:
            CorruptTableError: a file is not there as its commit states; names it.
        """
        for name in partitions:
            self.slices(name)

    @cached_property
    def view(self) -> CheckedView:
        """Shows its files; each of its partitions is listed once, and compared with what its commits say that they wrote."""
        return CheckedView(self.storage, self.config, self.timeline)

    def with_instant(self, instant: Instant) -> MetadataWriterTable:
        """Return the table with an instant that its writer completed; its files are listed again."""
        return replace(self, timeline=self.timeline.with_instant(instant))

    def reload(self) -> MetadataWriterTable:
        """Return the table with its timeline read again."""
        return replace(self, timeline=load_full_timeline(self.storage, self.config))


def open_writer_table(storage: Storage, sources: TimeAndIds) -> MetadataWriterTable | None:
    """Open the metadata table of the table on `storage` for writing; None when there is none."""
    mdt = FolderStorage(storage, FOLDER)
    try:
        config = TableConfig(load_properties(mdt))
    except TableNotFound:
        return None
    return MetadataWriterTable(mdt, config, load_full_timeline(mdt, config), sources, RecordEncoder(config.version))


def create_metadata_table(storage: Storage, config: TableConfig, sources: TimeAndIds) -> MetadataWriterTable:
    """Create an empty metadata table in place of whatever is there."""
    storage.delete_tree(FOLDER)
    mdt = FolderStorage(storage, FOLDER)
    properties = _properties(config)
    of_table = TableConfig(properties)
    for folder in (of_table.archive_path if of_table.layout == 1 else of_table.history_path, *_WORK_FOLDERS):
        mdt.make_dir(folder)
    create_properties(mdt, properties, sources.clock.now())
    created = open_writer_table(storage, sources)
    assert created is not None
    return created


def _properties(config: TableConfig) -> dict[str, str]:
    version = str(int(config.version))
    return {
        "hoodie.table.name": f"{config.name}_metadata",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.version": version,
        "hoodie.table.base.file.format": "HFILE",
        "hoodie.table.recordkey.fields": "key",
        "hoodie.populate.meta.fields": "false",
        "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
        "hoodie.datasource.write.drop.partition.columns": "false",
        **(_OF_LAYOUT_1 if config.layout == 1 else _OF_LAYOUT_2 | {"hoodie.table.initial.version": version}),
    }
