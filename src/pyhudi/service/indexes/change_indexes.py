"""Making and dropping indexes.

Rules: `HoodieSparkIndexClient.create`, `.drop`; docs/format/metadata-table.md#initialization, #index-definitions. An index is read as
soon as the table's properties name it. It is built concurrently with writers, by an `indexing` action (`plan`, `run`); in version 6, on a
table without commits, and with the whole metadata table, under the table's lock.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.locks.exclusive_service import ExclusiveService, exclusive_service
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition, load_definitions
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.lifecycle.open_for_write import MetadataTableState
from pyhudi.metadata_table.write.inflight import pending_builds, planned_partitions
from pyhudi.read.snapshot.read_schema import StoredSchema, table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.indexes.define_index import SECONDARY_INDEX, IndexRequest, check_whole, definition_of, partition_of
from pyhudi.service.indexes.index_build_plan import find_pending, schedule
from pyhudi.service.indexes.index_build_rollback import cancel
from pyhudi.service.indexes.run_index_build import LOCK, run
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.instant import Instant, State
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, locked_table
from pyhudi.txn.metadata_updates import prepare_metadata_table

_log = logging.getLogger(__name__)
_NO_COLUMNS = pa.schema([])


@dataclass(frozen=True, slots=True, repr=False)
class IndexChange(ShownResult):
    """What was done, or would be: partitions of the metadata table that were built, dropped or planned, in this order.

    `instant` is the requested time of the build that is planned or done; None for one under the table's lock.
    """

    built: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    seconds: float = 0.0
    planned: tuple[str, ...] = ()
    instant: str | None = None

    def __str__(self) -> str:
        done = {"built": self.built, "planned": self.planned, "dropped": self.dropped}
        return "; ".join(f"{what} {', '.join(names)}" for what, names in done.items() if names) or "nothing to build"


@dataclass(frozen=True, slots=True)
class Indexing:
    """Makes and drops the indexes of the table on `storage`; `wait_s` is how long to wait for its lock, in seconds."""

    storage: Storage
    clock: Clock
    ids: Ids
    wait_s: float = 60.0

    def create(self, request: IndexRequest, *, if_not_exists: bool = False, dry_run: bool = False, only_plan: bool = False) -> IndexChange:
        """Build an index from what the table holds, while writers continue; each write keeps it in step.

        A secondary index needs the record index, `partition_stats` need `column_stats`: what is missing is built, too. A build of the
        same index that was cut off, or is planned, is run.

        Args:
            request: the index.
            if_not_exists: do nothing when there is an index of that name.
            dry_run: only say what would be built.
            only_plan: put the build on the timeline, for `run`.

        Raises:
            UsageError: the request does not fit the table, or there is such an index already.
            SchemaError: a column does not exist, or its type cannot be served.
            UnsupportedError: tables of that version have no such index, or the table has no meta columns.
            ConflictError: another process builds indexes of the table.
        """
        started = time.perf_counter()
        with contextlib.ExitStack() as present:
            exclusion = None if only_plan or dry_run else present.enter_context(self._lock_exclusively())
            with self._locked(only_shown=dry_run) as (table, stored):
                definition = _defined(request, table, stored)
                planned = _planned(table, request.partition, definition)
                is_cut = planned is not None and planned.state is State.INFLIGHT
                if request.partition in table.config.metadata_partitions and not is_cut:
                    if if_not_exists:
                        _warn_of_another(table, request.partition, definition)
                        return IndexChange()
                    raise UsageError(f"table {self.storage.uri} has the index {request.partition} already")
                created = _with_what_it_needs(request.partition, definition, table)
                if dry_run:
                    return IndexChange(built=tuple(created))
                if planned is None and (table.config.layout == 1 or not table.timeline.data_instants()):
                    _prepare(table, stored, _settings(table, created))
                    return IndexChange(built=tuple(created), seconds=time.perf_counter() - started)
                build = planned or schedule(_with_metadata_table(table, stored), created)
            if only_plan:
                return IndexChange(planned=tuple(created), instant=build.requested)
            built = run(functools.partial(self._locked, exclusion), build.requested, forget=planned is None)
        return IndexChange(built=built, seconds=time.perf_counter() - started, instant=build.requested)

    def run_pending(self, instant: str | None = None, *, dry_run: bool = False) -> tuple[IndexChange, ...]:
        """Run the pending builds, the oldest first, or the one of a requested time; those that were cut off begin again.

        Apache Hudi's are run, too: no other process must be at work on them.

        Raises:
            UsageError: no such build is pending.
            ConflictError: another process of pyhudi builds indexes of the table.
        """
        with self._locked(only_shown=dry_run) as (table, _):
            pending = pending_builds(table.timeline) if instant is None else (find_pending(table.timeline, instant, self.storage.uri),)
            plans = {build.requested: planned_partitions(table.storage, table.config, build) for build in pending}
        if dry_run:
            return tuple(IndexChange(planned=names, instant=requested) for requested, names in plans.items())
        done = []
        with self._lock_exclusively() as exclusion:
            for requested in plans:
                started = time.perf_counter()
                built = run(functools.partial(self._locked, exclusion), requested, forget=False)
                done.append(IndexChange(built=built, seconds=time.perf_counter() - started, instant=requested))
        return tuple(done)

    def cancel(self, instant: str, *, dry_run: bool = False) -> IndexChange:
        """Take a pending build off the timeline with all that it made; errors as in `run_pending`."""
        with self._lock_exclusively() as exclusion, self._locked(exclusion, only_shown=dry_run) as (table, _):
            build = find_pending(table.timeline, instant, self.storage.uri)
            names = planned_partitions(table.storage, table.config, build) if dry_run else cancel(table, build)
        return IndexChange(dropped=names, instant=instant)

    def drop(self, name: str, *, if_exists: bool = False, dry_run: bool = False) -> IndexChange:
        """Drop an index by the name it was made with, or by that of its partition; arguments as in `create`.

        Raises:
            UsageError: there is no such index, or another one needs it.
        """
        started = time.perf_counter()
        with contextlib.ExitStack() as present:
            table, stored = present.enter_context(self._locked(only_shown=dry_run))
            known = [one for one in table.config.metadata_partitions if one != partitions.FILES]
            planned = {one: build for build in pending_builds(table.timeline) for one in _to_build(table, build)}
            try:
                dropped = partition_of(name, (*known, *planned))
            except UsageError:
                if if_exists:
                    return IndexChange()
                raise
            if dropped in planned:
                present.close()
                return self.cancel(planned[dropped].requested, dry_run=dry_run)
            names = (dropped, partitions.PARTITION_STATS) if dropped == partitions.COLUMN_STATS else (dropped,)
            settings = MetadataSettings(enabled=None, dropped=frozenset(names))
            if not dry_run:
                prepare_metadata_table(table, stored.avro_json, settings, history=history_of(stored.columns))
        return IndexChange(dropped=tuple(one for one in names if one in known), seconds=time.perf_counter() - started)

    def rebuild(self, *, dry_run: bool = False) -> IndexChange:
        """Build the metadata table again, with all partitions that it has; arguments as in `create`.

        Raises:
            UnsupportedError: it has a partition that this release does not write.
        """
        started = time.perf_counter()
        with self._locked(only_shown=dry_run) as (table, stored):
            settings = _settings(table, {})
            built = settings.enabled_partitions(table.config)
            if not dry_run:
                view = FileSystemView(self.storage, table.config, table.timeline)
                _prepare(table, stored, settings, MetadataTableState(None, "that was asked for", view))
        return IndexChange(built=built, seconds=time.perf_counter() - started)

    def _lock_exclusively(self) -> contextlib.AbstractContextManager[ExclusiveService]:
        return exclusive_service(self.storage, LOCK, "building indexes of")

    @contextlib.contextmanager
    def _locked(self, exclusion: ExclusiveService | None = None, *, only_shown: bool = False) -> Iterator[tuple[LockedTable, StoredSchema]]:
        """Hold the lock of a table that can have indexes; failed writes are rolled back, unless it is only shown what would be done.

        Whoever builds is still the only one that does.
        """
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as locked:
            if exclusion is not None:
                exclusion.check()
            table = locked if only_shown else roll_back_failed_writes(locked)
            yield table, table_schema(self.storage, table.config, table.timeline)


def _prepare(table: LockedTable, stored: StoredSchema, settings: MetadataSettings, state: MetadataTableState | None = None) -> None:
    """Make the metadata table what is wanted.

    Raises:
        UsageError: it cannot be built yet.
    """
    _, in_step = prepare_metadata_table(table, stored.avro_json, settings, state, history=history_of(stored.columns))
    if in_step is None:
        pending = ", ".join(f"{instant.action} {instant.requested}" for instant in table.timeline.pending())
        raise UsageError(
            f"the metadata table of {table.storage.uri}, a table of version {table.config.version}, is built when nothing is pending; "
            f"pending is {pending}: run or cancel it first"
        )


def _with_metadata_table(table: LockedTable, stored: StoredSchema) -> LockedTable:
    """Return the table with a metadata table that knows all that is complete; what there is of it stays as it is."""
    changed, _ = prepare_metadata_table(table, stored.avro_json, _settings(table, {}), history=history_of(stored.columns))
    return changed


def _warn_of_another(table: LockedTable, partition: str, definition: IndexDefinition | None) -> None:
    known = load_definitions(table.storage, table.config).get(partition)
    if known is not None and definition is not None and known != definition:
        columns = ", ".join(known.source_fields)
        _log.warning("table %s has another index %s, of %s: it stays as it is", table.storage.uri, partition, columns)


def _planned(table: LockedTable, partition: str, definition: IndexDefinition | None) -> Instant | None:
    """Return the pending build that makes an index, None when there is none.

    Raises:
        UsageError: it makes another one of that name.
    """
    for build in pending_builds(table.timeline):
        if partition in _to_build(table, build):
            known = load_definitions(table.storage, table.config).get(partition)
            if known is not None and definition is not None and known != definition:
                raise UsageError(
                    f"indexing {build.requested} of table {table.storage.uri} builds another index {partition}, of "
                    f"{', '.join(known.source_fields)}; roll it back first: table.services.rollback('{build.requested}')"
                )
            return build
    return None


def _to_build(table: LockedTable, build: Instant) -> tuple[str, ...]:
    return planned_partitions(table.storage, table.config, build)


def _defined(request: IndexRequest, table: LockedTable, stored: StoredSchema) -> IndexDefinition | None:
    """Return the definition of what is asked for, None for statistics or filters of all columns; errors as in `create`."""
    if not request.is_whole:
        return definition_of(request, table.config, stored.columns)
    check_whole(request, table.config)
    return None


def _with_what_it_needs(partition: str, definition: IndexDefinition | None, table: LockedTable) -> dict[str, IndexDefinition | None]:
    """Return what is to be built for an index: before it the one that it needs, where there is none."""
    if definition is None:
        needed = (partitions.COLUMN_STATS,) if partition == partitions.PARTITION_STATS else ()
        return dict.fromkeys((*(name for name in needed if name not in table.config.metadata_partitions), partition))
    if not table.config.populate_meta_fields:
        raise UnsupportedError(f"table {table.storage.uri} has no meta columns (hoodie.populate.meta.fields=false), which indexes need")
    has_records = partitions.RECORD_INDEX in (*table.config.metadata_partitions, *table.config.metadata_partitions_inflight)
    if definition.type != SECONDARY_INDEX or has_records:
        return {definition.name: definition}
    request = IndexRequest(partitions.RECORD_INDEX, ())
    return {partitions.RECORD_INDEX: definition_of(request, table.config, _NO_COLUMNS), definition.name: definition}


def _settings(table: LockedTable, created: Mapping[str, IndexDefinition | None]) -> MetadataSettings:
    """Return what is wanted: the table's metadata table as it is with the new indexes, or one with what is usual where there is none."""
    return MetadataSettings(enabled=None if table.config.metadata_partitions else True, created=created)
