"""The metadata table when completed commits are rolled back: it is rolled back with them, or rebuilt with the partitions that it had.

Rules: `HoodieBackedTableMetadataWriter.update(HoodieRestoreMetadata)`. The delta commit of a commit can be rolled back as long as no
compaction has put it into base files, and no index that the table still has was built after it. Otherwise the metadata table is deleted
before the first file is, and is rebuilt in the end. Apache Hudi leaves indexes out that it had; here a file next to the table names them
until they are back.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, EXPRESSION_PREFIX, SECONDARY_PREFIX
from pyhudi.metadata_table.format.metadata_settings import AS_IT_IS
from pyhudi.metadata_table.indexes.recorded_stats import RecordedStats, read_recorded
from pyhudi.metadata_table.lifecycle.open_for_write import MetadataTableState
from pyhudi.metadata_table.lifecycle.prepare_metadata import drop_metadata_table, without_disabled
from pyhudi.metadata_table.read.instant_times import is_built
from pyhudi.metadata_table.read.valid_instants import missing_instants
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, open_writer_table
from pyhudi.read.snapshot.read_schema import StoredSchema, table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_keys import METADATA_PARTITIONS
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import prepare_metadata_table, sources_of

_log = logging.getLogger(__name__)
_NOTE: Final = ".hoodie/.aux/pyhudi.rollback"
#: Builds of version 6 have longer times.
_INSTANT_DIGITS: Final = 17


def note_partitions(table: LockedTable, action: Instant, targets: Collection[Instant]) -> tuple[LockedTable, RecordedStats | None]:
    """Note which partitions the metadata table has before commits are rolled back, and drop it if it cannot be rolled back with them.

    Args:
        table: the table.
        action: the pending rollback or restore.
        targets: the instants that it rolls back, completed or not.

    Returns:
        The table with the properties that it has then, and what a metadata table that was dropped held of the table's files.
    """
    # Apache Hudi builds partition statistics of merge-on-read tables in its next write, which must not make all else be built again.
    table = replace(table, config=without_disabled(table.storage, table.config, sources_of(table), AS_IT_IS))
    names = (*_noted(table, action), *table.config.metadata_partitions)
    if not names:
        return table, None
    table.storage.replace(_NOTE, "\n".join([action.requested, *sorted(set(names))]).encode())
    if not table.config.metadata_partitions or (reason := _why_not(table, targets)) is None:
        return table, None
    _log.info("the metadata table of %s is rebuilt when %s %s is done: %s", table.storage.uri, action.action, action.requested, reason)
    recorded = _recorded(table)
    return replace(table, config=drop_metadata_table(table.storage, table.config, sources_of(table))), recorded


def rebuild_partitions(table: LockedTable, action: Instant, recorded: RecordedStats | None = None) -> bool:
    """Build again what the metadata table lacks of the partitions that it had, before the rollback or restore completes.

    Args:
        table: the table.
        action: the rollback or restore.
        recorded: what the metadata table held of the table's files, when it was dropped by this process.

    Returns:
        Whether anything was built.
    """
    names = _noted(table, action)
    if not names:
        return False
    table = replace(table.reload(), config=replace(table.config, properties=load_properties(table.storage)))
    missing = [name for name in names if name not in table.config.metadata_partitions]
    if missing and table.timeline.data_instants():
        stored = table_schema(table.storage, table.config, table.timeline)
        named = ",".join(_buildable(table, names, stored))
        config = replace(table.config, properties={**table.config.properties, METADATA_PARTITIONS: named})
        view = FileSystemView(table.storage, config, table.timeline)
        state = MetadataTableState(None, f"{action.action} {action.requested}", view, recorded)
        renamed = replace(table, config=config)
        _, in_step = prepare_metadata_table(renamed, stored.avro_json, AS_IT_IS, state, history=history_of(stored.columns))
        if in_step is None:
            _log.warning("the metadata table of %s is built when nothing is pending; make these again then: %s", table.storage.uri, missing)
    table.storage.delete(_NOTE)
    return bool(missing)


def _noted(table: LockedTable, action: Instant) -> tuple[str, ...]:
    """Return the partitions that an action noted before it was cut off."""
    try:
        first, *names = table.storage.read(_NOTE, max_bytes=1 << 20).decode().split("\n")
    except FileNotFoundError:
        return ()
    return tuple(names) if first == action.requested else ()


def _recorded(table: LockedTable) -> RecordedStats | None:
    """Return the statistics of files of a metadata table that knows all actions and is whole; None when there is no such one."""
    try:
        mdt = open_writer_table(table.storage, sources_of(table))
        if mdt is None or COLUMN_STATS not in table.config.metadata_partitions or missing_instants(mdt.timeline, table.timeline):
            return None
        return read_recorded(mdt)
    except CorruptTableError:
        return None


def _why_not(table: LockedTable, targets: Collection[Instant]) -> str | None:
    """Return why the metadata table cannot be rolled back with these instants; None when it can."""
    if table.config.layout == 1 and table.config.is_merge_on_read:
        return "rollbacks leave log files of version 6, which later ones delete"
    try:
        mdt = open_writer_table(table.storage, sources_of(table))
        if mdt is None:
            return "its files are missing"
        if missing := missing_instants(mdt.timeline, table.timeline):
            return f"it does not know of {missing[0]}"
        mdt.check_files(table.config.metadata_partitions)
        builds = {one.requested for one in table.timeline.instants if one.action is Action.INDEXING}
        return _built_or_compacted(mdt, targets, builds, table.config.metadata_partitions)
    except CorruptTableError as error:
        return str(error)


def _built_or_compacted(
    mdt: MetadataWriterTable, targets: Collection[Instant], builds: Collection[str], partitions: Collection[str]
) -> str | None:
    requested = {one.requested for one in targets}
    recorded = [one for one in mdt.timeline.completed() if one.requested in requested and one.action is Action.DELTA_COMMIT]
    unrecorded = {one.requested for one in targets if one.is_completed} - {one.requested for one in recorded}
    if unrecorded:
        return f"it was built after {min(unrecorded)}"
    if not recorded:
        return None
    first = min(mdt.timeline.effect(one)[0] for one in recorded)
    for one in mdt.timeline.completed():
        is_service = one.action is Action.COMMIT or one.requested in mdt.timeline.log_compactions
        is_build = one.requested in builds or is_built(one.requested) or len(one.requested) > _INSTANT_DIGITS
        is_later_build = is_build and mdt.timeline.effect(one)[0] >= first and _has_built(mdt, one, partitions)
        if (is_service and one.requested >= first) or is_later_build:
            return f"{one.action} {one.requested} of it came after what is rolled back"
    return None


def _has_built(mdt: MetadataWriterTable, build: Instant, partitions: Collection[str]) -> bool:
    """Tell whether a build has made one of these partitions; those that were dropped since do not count."""
    try:
        stats = load_commit_metadata(mdt.storage, mdt.config, mdt.timeline, build).stats
    except FileNotFoundError:
        return True
    return not stats or not stats.keys().isdisjoint(partitions)


def _buildable(table: LockedTable, names: Collection[str], stored: StoredSchema) -> list[str]:
    """Return the partitions whose columns the table still has, and say which it has not."""
    definitions = load_definitions(table.storage, table.config)
    buildable = []
    for name in names:
        fields = definitions[name].source_fields if name in definitions else ()
        lost = [field for field in fields if field.partition(".")[0] not in stored.columns.names]
        if lost and name.startswith((SECONDARY_PREFIX, EXPRESSION_PREFIX)):
            _log.warning("the index %s of table %s goes: the table has no column %s any more", name, table.storage.uri, lost[0])
        else:
            buildable.append(name)
    return buildable
