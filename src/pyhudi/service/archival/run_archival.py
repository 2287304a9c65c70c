"""Archiving the timelines of a table and of its metadata table, one after the other, under the table's lock.

Rules: `TimelineArchiverV2`. The metadata table keeps at least what its table keeps active, since writers and readers find
out by that whether it knows of all commits. So its turn comes second.
"""

from __future__ import annotations

from dataclasses import replace

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.read.valid_instants import missing_instants
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, TimeAndIds, open_writer_table
from pyhudi.service.archival.archivable_instants import ArchivalInputs, Cleaned, Stay, choose
from pyhudi.service.archival.archival_result import ArchivalResult
from pyhudi.service.archival.archival_settings import ArchivalSettings
from pyhudi.service.archival.move_to_archive import drop_archived, move_to_archive
from pyhudi.service.rollback.late_files import delete_late_files
from pyhudi.service.table_service import COMPLETED, PLANNED
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable

#: Entry of a clean's metadata: the savepointed commits whose files it left.
_SAVEPOINTED = "savepointed_timestamps"


def is_due(storage: Storage, config: TableConfig, timeline: Timeline, settings: ArchivalSettings) -> bool:
    """Tell whether commits of a table may be archived, as far as the metadata table does not keep them."""
    if len(timeline.data_instants()) <= settings.most:
        return False
    return bool(choose(_archival_inputs(storage, config, timeline), settings)[0])


def archive(table: LockedTable, settings: ArchivalSettings, metadata: MetadataSettings, *, dry_run: bool = False) -> ArchivalResult:
    """Archive what may leave the timelines of a table and of its metadata table; the next run finishes one that was cut.

    Raises:
        CorruptTableError: a file of a timeline or of its archive is damaged.
        StorageError: the storage failed; no instant is lost.
    """
    if not dry_run and drop_archived(table.storage, table.config, table.timeline):
        table = table.reload()
    state = PLANNED if dry_run else COMPLETED
    mdt = _metadata_table(table)
    bounds, hindrance = _bounds(table, mdt)
    if hindrance:
        return ArchivalResult(kept_because=hindrance, state=state)
    inputs = _archival_inputs(table.storage, table.config, table.timeline, bounds)
    instants, kept_because = choose(inputs, settings)
    if instants and not dry_run:
        delete_late_files(table, instants)
        move_to_archive(table.storage, table.config, table.timeline, instants, settings.merge)
    if mdt is None:
        return ArchivalResult(instants, (), kept_because, state)
    removed = frozenset(instants)
    left = replace(table.timeline, instants=tuple(one for one in table.timeline.instants if one not in removed))
    beyond = inputs.goes_beyond_savepoints(settings)
    of_metadata = replace(settings.of_metadata_table(metadata.max_delta_commits), beyond_savepoints=beyond)
    return ArchivalResult(instants, _archive_metadata_table(mdt, left, of_metadata, dry_run=dry_run), kept_because, state)


def _archive_metadata_table(mdt: MetadataWriterTable, left: Timeline, settings: ArchivalSettings, *, dry_run: bool) -> tuple[Instant, ...]:
    """Archive the metadata table's timeline, given what is left of its table's."""
    if not dry_run and drop_archived(mdt.storage, mdt.config, mdt.timeline):
        mdt = mdt.reload()
    saved = {one.requested for one in left.completed() if one.action is Action.SAVEPOINT} if settings.beyond_savepoints else set()
    times = [one.requested for one in left.data_instants() if one.requested not in saved] + [one.requested for one in left.pending()]
    if not times:
        return ()
    bound = Stay(min(times), "the table's own timeline begins there")
    instants, _ = choose(_archival_inputs(mdt.storage, mdt.config, mdt.timeline, (bound,)), settings)
    if instants and not dry_run:
        move_to_archive(mdt.storage, mdt.config, mdt.timeline, instants, settings.merge)
    return instants


def _metadata_table(table: LockedTable) -> MetadataWriterTable | None:
    if not table.config.metadata_partitions:
        return None
    return open_writer_table(table.storage, TimeAndIds(table.clock, table.config.timeline_zone, table.ids.sync_marker))


def _bounds(table: LockedTable, mdt: MetadataWriterTable | None) -> tuple[tuple[Stay, ...], str]:
    """Return from where on the metadata table keeps commits of its table, or why it keeps all."""
    if not table.config.metadata_partitions:
        return (), ""
    if mdt is None:
        return (), "the metadata table is missing, the next write rebuilds it"
    if missing := missing_instants(mdt.timeline, table.timeline):
        # Nobody would find out any more that it does not know of that commit.
        return (), f"the metadata table does not know of {missing[0]}, the next write rebuilds it"
    try:
        mdt.check_files(table.config.metadata_partitions)
    except CorruptTableError as error:
        # Nobody would find out any more which files there were: their commits name them.
        return (), f"the metadata table is damaged, the next write rebuilds it: {error}"
    compacted = [one.requested for one in mdt.timeline.completed() if one.action is Action.COMMIT]
    if not compacted:
        return (), "the metadata table was not compacted yet"
    later = (one for one in table.timeline.data_instants() if table.timeline.effect(one)[0] > compacted[-1])
    first = next(later, None)
    return (() if first is None else (Stay(first.requested, f"the metadata table was last compacted at {compacted[-1]}"),)), ""


def _archival_inputs(storage: Storage, config: TableConfig, timeline: Timeline, bounds: tuple[Stay, ...] = ()) -> ArchivalInputs:
    return ArchivalInputs(timeline, config.is_merge_on_read, _last_clean(storage, config, timeline), bounds)


def _last_clean(storage: Storage, config: TableConfig, timeline: Timeline) -> Cleaned | None:
    last = next((one for one in reversed(timeline.completed()) if one.action is Action.CLEAN), None)
    if last is None:
        return None
    done = read_action(storage, config, last)
    if not isinstance(done, CleanMetadata):
        return Cleaned(last.requested)
    saved = tuple(time for time in (done.extra_metadata or {}).get(_SAVEPOINTED, "").split(",") if time)
    return Cleaned(last.requested, done.retained_from or None, saved)
