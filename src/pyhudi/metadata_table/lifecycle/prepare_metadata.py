"""Making the metadata table what options want, before an action is put on the table's timeline.

Rules: `HoodieBackedTableMetadataWriter.initializeIfNeeded`, `HoodieTable.deleteMetadataIndexIfNecessary`;
docs/format/metadata-table.md#initialization, #index-definitions. Missing partitions are built from a listing and the footers, partitions
that are switched off go, and a metadata table that cannot be continued is rebuilt.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.index_definitions import PATH, PATH_PROPERTY, load_definitions, render_definitions
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, RECORD_INDEX, SECONDARY_PREFIX
from pyhudi.metadata_table.format.metadata_settings import DEFAULTS, MetadataSettings
from pyhudi.metadata_table.indexes.added_columns import StaleStatisticsError, names_lost_columns, record_added_columns
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.index_kind import PartitionKind
from pyhudi.metadata_table.indexes.index_kinds import kind_of, with_kinds
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.metadata_table.lifecycle.missing_definitions import without_lost_definitions
from pyhudi.metadata_table.lifecycle.open_for_write import NO_OTHERS, MetadataTableState, OtherWriters, find_state
from pyhudi.metadata_table.lifecycle.orphaned_partitions import delete_forgotten
from pyhudi.metadata_table.read.writer_table import FOLDER, MetadataWriterTable, TimeAndIds, create_metadata_table
from pyhudi.metadata_table.write.inflight import check_laid_out, pending_builds
from pyhudi.metadata_table.write.initialise import build_partition
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import store_properties
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)


def prepare(
    storage: Storage,
    config: TableConfig,
    timeline: Timeline,
    schema: pa.Schema | None,
    sources: TimeAndIds,
    settings: MetadataSettings = DEFAULTS,
    state: MetadataTableState | None = None,
    others: OtherWriters = NO_OTHERS,
) -> tuple[TableConfig, MetadataSync | None]:
    """Return the table's properties, and the table with a metadata table that knows all completed actions; None when metadata tables are
    disabled.

    The caller holds the lock and has rolled back what failed writers left.

    Args:
        storage: the data table's storage.
        config: its properties.
        timeline: its timeline.
        schema: its data columns, None while they are unknown.
        sources: of time and chance.
        settings: what options want; by default Apache Hudi's defaults.
        state: what `find_state` found of it before, if that was called.
        others: what `find_state` is to know of the other writers, if it was not called.

    Raises:
        UnsupportedError: it has indexes that this release does not write, or one that another process has begun to build just now.
        StorageError: the storage failed; the table is as it was, without a metadata table if that was being built.
    """
    refuse_unserved(storage, config)
    config = _without_stale(storage, config, timeline, sources)
    if not _shall_be(config, settings):
        return (drop_metadata_table(storage, config, sources) if config.metadata_partitions else config), None
    state = state or find_state(storage, config, timeline, sources, others)
    mdt = None if state.trouble else state.mdt
    if mdt is None and (pending := _must_complete_first(config, timeline)):
        _log.warning("the metadata table of %s is built when %s is complete: %s", storage.uri, pending, state.trouble)
        return (drop_metadata_table(storage, config, sources) if config.metadata_partitions else config), None
    if mdt is None:
        in_step = _rebuild(state, config, schema, sources, settings)
        return in_step.config, in_step
    config = without_disabled(storage, config, sources, settings)
    table = DataTable(state.view.with_config(config), mdt, schema, settings)
    delete_forgotten(table)
    try:
        in_step = _complete(table, settings.enabled_partitions(config), settings, sources)
    except StaleStatisticsError as error:
        in_step = _rebuild(replace(state, reason=str(error)), config, schema, sources, settings)
    return in_step.config, in_step


def rebuilt(in_step: MetadataSync, reason: str, schema: pa.Schema | None) -> MetadataSync:
    """Return the table with its metadata table rebuilt, which turned out to be damaged while an action was recorded.

    Raises:
        StorageError: the storage failed.
    """
    view = FileSystemView(in_step.storage, in_step.config, in_step.view.timeline)
    return _rebuild(MetadataTableState(None, reason, view), in_step.config, schema, in_step.mdt.sources, in_step.settings)


def _without_stale(storage: Storage, config: TableConfig, timeline: Timeline, sources: TimeAndIds) -> TableConfig:
    """Look after partitions that are being built: writers update them, unless nobody builds them any more; then they go."""
    if not config.metadata_partitions_inflight:
        return config
    if pending_builds(timeline):
        check_laid_out(storage, config)
        return config
    stale = config.metadata_partitions_inflight
    _log.warning("what was left of builds in the metadata table of %s goes: %s", storage.uri, ", ".join(stale))
    config = with_partitions(storage, config, config.metadata_partitions, sources)
    for name in stale:
        FolderStorage(storage, FOLDER).delete_tree(name)
    return config


def drop_metadata_table(storage: Storage, config: TableConfig, sources: TimeAndIds) -> TableConfig:
    """Delete the metadata table, and return the table's properties, which do not name it any more."""
    config = with_partitions(storage, config, (), sources)
    storage.delete_tree(FOLDER)
    return config


def refuse_unserved(storage: Storage, config: TableConfig) -> None:
    """Refuse a table whose metadata table this release cannot keep in step.

    Raises:
        UnsupportedError: names the partition.
    """
    names = {*config.metadata_partitions, *config.metadata_partitions_inflight}
    unknown = sorted(name for name in names if kind_of(name) is None)
    if unknown:
        raise UnsupportedError(
            f"table {storage.uri} has the index {unknown[0]} in its hoodie.properties, which this release does not keep in step; drop it,"
            " or write with Apache Hudi"
        )


def _shall_be(config: TableConfig, settings: MetadataSettings) -> bool:
    return bool(config.metadata_partitions) if settings.enabled is None else settings.enabled


def _must_complete_first(config: TableConfig, timeline: Timeline) -> str:
    """Return the time of a pending write or service that a build must wait for, `""` for none.

    An instant of version 6 does not tell whether it completed before the metadata table was built or afterwards; Apache Hudi waits, too.
    """
    pending = timeline.pending() if config.layout == 1 else ()
    return next((instant.requested for instant in pending if instant.comparable_action.writes_data), "")


def _rebuild(
    state: MetadataTableState, config: TableConfig, schema: pa.Schema | None, sources: TimeAndIds, settings: MetadataSettings
) -> MetadataSync:
    storage = state.view.storage
    config = without_lost_definitions(storage, config, sources)
    enabled_partitions = settings.enabled_partitions(config)
    if config.metadata_partitions:
        _log.warning("the metadata table of %s is rebuilt: %s", storage.uri, state.trouble)
        config = with_partitions(storage, config, (), sources)
    mdt = create_metadata_table(storage, config, sources)
    view = FileSystemView(storage, config, state.view.timeline)
    return _complete(DataTable(view, mdt, schema, settings, state.recorded), enabled_partitions, settings, sources)


def _complete(table: DataTable, enabled_partitions: Collection[str], settings: MetadataSettings, sources: TimeAndIds) -> MetadataSync:
    """Build the partitions that are missing, and define again what options or the schema have changed."""
    view, mdt = table.view, table.mdt
    storage, config, timeline = view.storage, view.config, view.timeline
    built: list[str] = []
    for name, kind in with_kinds(enabled_partitions).items():
        if name in config.metadata_partitions_inflight:
            continue
        exists = name in config.metadata_partitions
        if exists and settings.enabled is not None:
            mdt = _with_added_columns(table if mdt is table.mdt else table.reopened(table.view, mdt), name, kind)
        again = settings.enabled is not None or (not exists and names_lost_columns(table, name))
        changed = _define(table, name, kind, sources, again=again)
        if changed is not config or not exists:
            config = changed
            table = table.reopened(table.view.with_config(config), mdt)
        if not exists:
            mdt = build_partition(mdt, name, kind.initial(table, name), data=timeline)
            built.append(name)
    if built:
        names, inflight = (*config.metadata_partitions, *built), config.metadata_partitions_inflight
        config = with_partitions(storage, config, names, sources, inflight)
    return MetadataSync(storage, config, view.with_config(config), mdt, settings)


def _with_added_columns(table: DataTable, partition: str, kind: PartitionKind) -> MetadataWriterTable:
    """Return the metadata table with statistics of columns that are about to come into the index."""
    known = table.definitions.get(partition)
    definition = kind.definition(table, partition) if partition == COLUMN_STATS and known is not None else None
    return table.mdt if known is None or definition is None else record_added_columns(table, known, definition)


def _define(table: DataTable, partition: str, kind: PartitionKind, sources: TimeAndIds, *, again: bool) -> TableConfig:
    """Write how an index is defined, unless that is said already, and return the table's properties.

    `again` holds a definition that is there against the columns that the index would have now.
    """
    storage, config = table.view.storage, table.view.config
    known, created = table.definitions.get(partition), table.settings.created.get(partition)
    if known is not None and not again and created is None:
        return config
    definition = created or kind.definition(table, partition)
    is_known = (
        known == created
        if created is not None
        else known is not None and definition is not None and known.source_fields == definition.source_fields
    )
    if definition is None or is_known:
        return config
    storage.replace(PATH, render_definitions({**table.definitions, partition: definition}))
    return replace(config, properties=store_properties(storage, {PATH_PROPERTY: PATH}, sources.clock.now()))


def without_disabled(storage: Storage, config: TableConfig, sources: TimeAndIds, settings: MetadataSettings) -> TableConfig:
    """Delete the partitions that options have switched off: first from the properties, so that no process reads them any more."""
    enabled_partitions = settings.enabled_partitions(config)
    dropped = [name for name in config.metadata_partitions if name not in enabled_partitions]
    if not dropped:
        return config
    _refuse_to_drop_what_is_needed(storage, dropped, enabled_partitions)
    _log.info("partitions of the metadata table of %s that are switched off go: %s", storage.uri, ", ".join(dropped))
    names, inflight = [name for name in config.metadata_partitions if name in enabled_partitions], config.metadata_partitions_inflight
    config = with_partitions(storage, config, names, sources, inflight)
    definitions = load_definitions(storage, config)
    if not definitions.keys().isdisjoint(dropped):
        storage.replace(PATH, render_definitions({name: definition for name, definition in definitions.items() if name not in dropped}))
    for name in dropped:
        FolderStorage(storage, FOLDER).delete_tree(name)
    return config


def _refuse_to_drop_what_is_needed(storage: Storage, dropped: Collection[str], retained: Collection[str]) -> None:
    dependents = [name for name in retained if name.startswith(SECONDARY_PREFIX)]
    if RECORD_INDEX in dropped and dependents:
        raise UsageError(f"the record index of table {storage.uri} cannot be dropped: {dependents[0]} needs it; drop that first")


def with_partitions(
    storage: Storage, config: TableConfig, names: Collection[str], sources: TimeAndIds, inflight: Collection[str] = ()
) -> TableConfig:
    """Say in the properties which partitions the metadata table has and which are being built, and return them as they are then."""
    changes = {METADATA_PARTITIONS: ",".join(sorted(names)), METADATA_PARTITIONS_INFLIGHT: ",".join(sorted(inflight))}
    return replace(config, properties=store_properties(storage, changes, sources.clock.now()))
