"""The metadata table as a writer finds it, once it holds the table's lock and has rolled back failed writes.

Rules: `HoodieBackedTableMetadataWriter.initializeIfNeeded`; docs/design/0070-hfile-and-metadata-table.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_partitions import FILES
from pyhudi.metadata_table.indexes.recorded_stats import RecordedStats
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.metadata_view import MetadataView
from pyhudi.metadata_table.read.valid_instants import missing_instants, visible_timeline
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, TimeAndIds, open_writer_table
from pyhudi.metadata_table.services.metadata_compaction import roll_back_compactions
from pyhudi.metadata_table.services.metadata_rollback import roll_back
from pyhudi.metadata_table.write.inflight import is_under_way
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class MetadataTableState:
    """A table and its metadata table; `mdt` is None when it cannot be continued, and `reason` says why.

    `view` shows the table by its metadata table, else by listing. `recorded` is what one that was deleted held of the table's files.
    """

    mdt: MetadataWriterTable | None
    reason: str
    view: FileSystemView
    recorded: RecordedStats | None = None

    @property
    def trouble(self) -> str:
        """Why the metadata table must be rebuilt, as known by now; empty when it may be continued."""
        distrusted = self.view.distrusted if isinstance(self.view, MetadataView) else ""
        return self.reason or distrusted


@dataclass(frozen=True, slots=True)
class OtherWriters:
    """What is known of the other writers of a table.

    `check_excluded` is called with what is wrong before anything is rolled back or given up because of it, and raises an error if the lock
    does not exclude others any more, whose action would look unfinished then. `is_alive` tells whether the writer of an instant is.
    """

    check_excluded: Callable[[str], None] = lambda _: None
    is_alive: Callable[[str], bool] = lambda _: False


NO_OTHERS: Final = OtherWriters()


def find_state(
    storage: Storage, config: TableConfig, timeline: Timeline, sources: TimeAndIds, others: OtherWriters = NO_OTHERS
) -> MetadataTableState:
    """Open the metadata table for writing, and roll back what an action left in it that did not come to its end.

    Nobody else is between the completion of an action's record and that of the action, since both are made under the lock. But Apache Hudi
    begins the record together with the write and without the lock (`hoodie.metadata.streaming.write.enabled`). So a record that is
    complete, of an instant that is not, belongs to a writer that died, and one that is pending to a writer that may be alive.

    Args:
        storage: the data table's.
        config: its properties.
        timeline: its timeline.
        sources: of time and chance.
        others: what is known of the other writers.

    Raises:
        StorageError: the storage failed.
    """
    mdt, reason = _usable(storage, config, timeline, sources)
    if mdt is None:
        if FILES in config.metadata_partitions:
            others.check_excluded(reason)
        return MetadataTableState(None, reason, CheckedView(storage, config, timeline))
    try:
        if config.layout == 1:
            # A log file written now would have to name the slice that a planned compaction makes.
            mdt = roll_back_compactions(mdt)
        for failed in _failed_instants(mdt, timeline, others):
            others.check_excluded(f"its record of {failed.requested} is not complete")
            mdt = roll_back(mdt, failed.requested)
        mdt.check_files(config.metadata_partitions)
    except CorruptTableError as error:
        others.check_excluded(str(error))
        return MetadataTableState(None, str(error), CheckedView(storage, config, timeline))
    table = MetadataTable(storage, config, timeline, mdt.view, mdt.timeline)
    return MetadataTableState(mdt, "", MetadataView(storage, config, timeline, table))


def _usable(storage: Storage, config: TableConfig, timeline: Timeline, sources: TimeAndIds) -> tuple[MetadataWriterTable | None, str]:
    """Return the metadata table, or None and why it cannot be continued."""
    if FILES not in config.metadata_partitions:
        return None, "it was not there"
    try:
        mdt = open_writer_table(storage, sources)
    except CorruptTableError as error:
        return None, str(error)
    if mdt is None:
        return None, "its files are missing"
    if mdt.config.version != config.version:
        return None, f"it has version {mdt.config.version}, the table {config.version}"
    if missing := missing_instants(mdt.timeline, timeline):
        return None, f"another writer made {missing[0]} without it"
    return mdt, ""


def _failed_instants(mdt: MetadataWriterTable, timeline: Timeline, others: OtherWriters) -> Iterator[Instant]:
    """Yield the delta commits of actions that are not complete: pending here, or pending in the data table.

    Those of partitions that are built concurrently with writers stay, and those that a live writer has begun.
    """
    begun = {instant.requested for instant in mdt.timeline.pending()}
    visible = visible_timeline(mdt.timeline, timeline)
    for instant in visible.pending():
        if instant.action is not Action.DELTA_COMMIT or is_under_way(instant, timeline):
            continue
        # The write itself may have begun after the data table's timeline was read.
        if not (instant.requested in begun and others.is_alive(instant.requested)):
            yield instant
