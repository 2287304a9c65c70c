"""The metadata table as a writer finds it, once it holds the table's lock and has rolled back failed writes.

Rules: `HoodieBackedTableMetadataWriter.initializeIfNeeded`; docs/design/0070-hfile-and-metadata-table.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_partitions import FILES
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

    `view` shows the table by its metadata table, else by listing.
    """

    mdt: MetadataWriterTable | None
    reason: str
    view: FileSystemView

    @property
    def trouble(self) -> str:
        """Why the metadata table must be rebuilt, as known by now; empty when it may be continued."""
        distrusted = self.view.distrusted if isinstance(self.view, MetadataView) else ""
        return self.reason or distrusted


def find_state(storage: Storage, config: TableConfig, timeline: Timeline, sources: TimeAndIds) -> MetadataTableState:
    """Open the metadata table for writing, and roll back what an action left in it that did not come to its end.

    Nobody else is between the record of an action and its completion, since both are made under the lock: what is recorded
    of an instant that is not complete belongs to a writer that died. That may be a compaction, which is run again later.

    Raises:
        StorageError: the storage failed.
    """
    mdt, reason = _usable(storage, config, timeline, sources)
    if mdt is None:
        return MetadataTableState(None, reason, CheckedView(storage, config, timeline))
    try:
        if config.layout == 1:
            # A log file written now would have to name the slice that a planned compaction makes.
            mdt = roll_back_compactions(mdt)
        for failed in _failed_instants(mdt, timeline):
            mdt = roll_back(mdt, failed.requested)
        mdt.check_files(config.metadata_partitions)
    except CorruptTableError as error:
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


def _failed_instants(mdt: MetadataWriterTable, timeline: Timeline) -> Iterator[Instant]:
    """Yield the delta commits of actions that are not complete: pending here, or pending in the data table.

    Those of partitions that are built concurrently with writers stay.
    """
    visible = visible_timeline(mdt.timeline, timeline)
    pending = (instant for instant in visible.pending() if instant.action is Action.DELTA_COMMIT)
    yield from (instant for instant in pending if not is_under_way(instant, timeline))
