"""The metadata table in the course of an action: found under the lock, prepared, updated, looked after.

Rules: docs/design/0070-hfile-and-metadata-table.md; `BaseHoodieWriteClient.writeTableMetadata`. Here a metadata table that
turns out to be damaged is rebuilt, and a failure after the action is complete is logged.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from dataclasses import replace

import pyarrow as pa

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.metadata_table.format.metadata_settings import AS_IT_IS, MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.metadata_table.lifecycle.open_for_write import MetadataTableState, OtherWriters, find_state
from pyhudi.metadata_table.lifecycle.prepare_metadata import drop_metadata_table, prepare, rebuilt
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, TimeAndIds, open_writer_table
from pyhudi.metadata_table.services.metadata_rollback import roll_back_with
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.internal.schema_history import SchemaHistory, with_history
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.txn.commit_checks import check_locked_before_repair
from pyhudi.txn.heartbeats import is_alive
from pyhudi.txn.locked_table import LockedTable

_log = logging.getLogger(__name__)


def find_metadata_table(table: LockedTable) -> MetadataTableState:
    """Open the metadata table, and roll back what dead writers left in it; failed writes are rolled back already.

    Times that the table takes from then on are later than those of the metadata table.

    Raises:
        LockLostError: something looks unfinished, and the lock excludes others no more.
    """
    state = find_state(table.storage, table.config, table.timeline, sources_of(table), _others(table))
    if state.mdt is not None:
        keep_times_apart(table, state.mdt)
    return state


def _others(table: LockedTable) -> OtherWriters:
    def is_at_work(requested: str) -> bool:
        return is_alive(table.storage, requested, table.clock, table.heartbeats)

    return OtherWriters(functools.partial(check_locked_before_repair, table), is_at_work)


def keep_times_apart(table: LockedTable, mdt: MetadataWriterTable) -> None:
    """Make further times of the table later than all of its metadata table.

    The metadata table records an action under the action's time, and takes fresh times for its own services. Where the clock of the
    next writer is behind, an action could get the time of a compaction, and would count as recorded before it was.
    In layout 1 times of services are longer.
    """
    if mdt.config.layout > 1:
        table.times.raise_floor(mdt.timeline.greatest_time())


def time_of_service(table: LockedTable) -> str:
    """Return the time of a compaction, clustering or rollback that begins; it is none of the metadata table's own."""
    if table.config.metadata_partitions and table.config.layout > 1:
        with contextlib.suppress(CorruptTableError):  # whoever records the action rebuilds it
            mdt = open_writer_table(table.storage, sources_of(table))
            if mdt is not None:
                keep_times_apart(table, mdt)
    return table.times.next()


def prepare_metadata_table(
    table: LockedTable,
    schema_json: str | None,
    settings: MetadataSettings = AS_IT_IS,
    state: MetadataTableState | None = None,
    *,
    history: SchemaHistory | None = None,
) -> tuple[LockedTable, MetadataSync | None]:
    """Return the table with the properties it has then, and its metadata table; None when metadata tables are disabled.

    Args:
        table: the table.
        schema_json: its Avro schema with the action that begins, without meta fields; None while it is unknown.
        settings: what the action's options want.
        state: what `find_metadata_table` returned.
        history: that of the schema, if the table keeps one: older files may call columns otherwise.

    Raises:
        LockLostError: something looks unfinished, and the lock excludes others no more.
        StorageError: the storage failed; the action must not begin.
    """
    schema, sources = _columns(schema_json, history), sources_of(table)
    config, in_step = prepare(table.storage, table.config, table.timeline, schema, sources, settings, state, _others(table))
    return replace(table, config=config), in_step


def record_commit(in_step: MetadataSync, instant: str, metadata: CommitMetadata, history: SchemaHistory | None = None) -> MetadataSync:
    """Record a commit of any kind that is about to complete, and return the table with it; `history` as in
    `prepare_metadata_table`.

    Raises:
        CorruptTableError: a written file has no whole footer.
        StorageError: the storage failed; the action must not complete.
    """
    schema = _columns(metadata.schema_json, None if history is None else history.written(instant))
    try:
        return in_step.record_commit(instant, metadata, schema)
    except CorruptTableError as error:
        return rebuilt(in_step, str(error), schema).record_commit(instant, metadata, schema)


def rollback_pending(table: LockedTable, done: RollbackMetadata) -> None:
    """Roll back what an action recorded that is rolled back, before its instant leaves the table's timeline. It may be repeated.

    Raises:
        StorageError: the storage failed; the rollback stays pending.
    """
    if not table.config.metadata_partitions:
        return
    sources = sources_of(table)
    try:
        mdt = open_writer_table(table.storage, sources)
        if mdt is not None:
            roll_back_with(mdt, table.storage, done)
    except CorruptTableError as error:
        _log.warning("the metadata table of %s is deleted, the next write rebuilds it: %s", table.storage.uri, error)
        drop_metadata_table(table.storage, table.config, sources)


def maintain(in_step: MetadataSync | None) -> MetadataSync | None:
    """Look after the metadata table once the action is complete; what goes wrong is left to the next writer.

    Returns:
        The metadata table as it is then; None where there is none, or it has to be opened again.
    """
    if in_step is None:
        return None
    try:
        return in_step.maintain()
    except CorruptTableError as error:
        _log.warning("the metadata table of %s is deleted, the next write rebuilds it: %s", in_step.storage.uri, error)
        drop_metadata_table(in_step.storage, in_step.config, in_step.mdt.sources)
    except (HudiError, OSError) as error:
        _log.warning("the metadata table of %s was not compacted, the next write tries again: %s", in_step.storage.uri, error)
    return None


def sources_of(table: LockedTable) -> TimeAndIds:
    """Return where the metadata table of a locked table takes time and chance from."""
    return TimeAndIds(table.clock, table.config.timeline_zone, table.ids.sync_marker)


def _columns(schema_json: str | None, history: SchemaHistory | None) -> pa.Schema | None:
    return with_history(avro_to_arrow(schema_json), history) if schema_json else None
