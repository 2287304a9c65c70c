"""Runs a planned build of indexes while writers continue.

The table's lock is held to start and to complete. start - roll back what a dead run left; inflight; begin the partitions with all their
file groups, then name them in the properties: from here on writers record what they do in them. In between the file groups get what the
table held at the start; records of writers lie on top of that. complete - the partitions are named as built, which readers go by, and the
instant is completed. A run that is killed is taken up by the next one, from the start. Rules: `RunIndexActionExecutor`;
docs/design/0077-index-builds.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyhudi.errors import ConflictError, HudiError, UnknownOutcomeError, UnsupportedError, UsageError
from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.metadata_table.format.metadata_settings import AS_IT_IS
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.index_kinds import with_kinds
from pyhudi.metadata_table.lifecycle.prepare_metadata import with_partitions
from pyhudi.metadata_table.read.instant_times import build_time
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, open_writer_table
from pyhudi.metadata_table.write.inflight import planned_partitions
from pyhudi.metadata_table.write.initialise import begin_build, complete_build, fill, lay_out
from pyhudi.read.snapshot.read_schema import StoredSchema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.indexes.index_build_plan import complete_instant, find_pending, with_definitions
from pyhudi.service.indexes.index_build_rollback import cancel, is_built, rollback_run
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import prepare_metadata_table, sources_of

#: Hands out the table under its lock, failed writes rolled back, with the schema of its rows.
Locked = Callable[[], contextlib.AbstractContextManager[tuple[LockedTable, StoredSchema]]]
#: Name of the lock that a process holds while it builds indexes of a table.
LOCK = "indexing"


@dataclass(frozen=True, slots=True)
class Started:
    """A build that is inflight: its delta commit of the metadata table, and the table as it was at the start."""

    build: Instant
    delta: Instant
    table: DataTable
    names: tuple[str, ...]


def run(locked: Locked, requested: str, *, forget: bool) -> tuple[str, ...]:
    """Run a pending build and return the partitions that it made. The caller holds the lock of builds.

    Args:
        locked: takes the table's lock.
        requested: the time of the build.
        forget: take a build that fails off the timeline; else its plan stays.

    Raises:
        UsageError: no such build is pending, or the metadata table is missing.
        UnsupportedError: the build makes an index that is not known.
        CorruptTableError: its plan is damaged.
        ConflictError: another process took the build back, or compacted what it was writing, or the lock was lost; nothing of this run is
            visible.
        UnknownOutcomeError: the storage failed in the last step without saying whether the build is complete.
    """
    try:
        with locked() as (table, stored):
            build = find_pending(table.timeline, requested, table.storage.uri)
            work = start(table, stored, build)
        stats = _write(work)
        with locked() as (table, _):
            complete(table, work, stats)
    except UnknownOutcomeError:
        raise
    except BaseException as error:
        _rollback_after_failure(locked, requested, error, forget=forget)
        raise
    return work.names


def start(table: LockedTable, stored: StoredSchema, build: Instant) -> Started:
    """Begin the partitions of a build, so that from here on writers record in them what they do."""
    table = rollback_run(table, build)
    names = planned_partitions(table.storage, table.config, build)
    if unknown := sorted(set(names).difference(with_kinds(names))):
        raise UnsupportedError(
            f"indexing {build.requested} of table {table.storage.uri} builds {', '.join(unknown)}, which this release does not know. Let"
            f" Apache Hudi run it, or roll it back: table.services.rollback('{build.requested}')."
        )
    table, in_step = prepare_metadata_table(table, stored.avro_json, AS_IT_IS, history=history_of(stored.columns))
    if in_step is None:
        raise UsageError(f"table {table.storage.uri} has no metadata table any more, in which indexing {build.requested} is to build")
    data = DataTable(in_step.view, in_step.mdt, stored.columns, in_step.settings)
    if is_built(in_step.mdt, build):
        return Started(build, in_step.mdt.timeline.find(build.requested)[0], data, names)
    table, data = _defined(table, data, names)
    missing = {name: kind for name, kind in with_kinds(names).items() if name not in table.config.metadata_partitions}
    file_ids = {name: tuple(kind.file_ids(data, name)) for name, kind in missing.items()}
    for path in data.view.partition_paths():
        data.view.latest_slices(path)  # known from here on: the files that are listed later are those of writers
    inflight = table.writer.start(Instant(build.requested, Action.INDEXING, State.REQUESTED))
    delta = begin_build(_laid_out(table, data.mdt, file_ids), build.requested)
    check_lock_held(table, inflight)
    config = table.config
    with_partitions(table.storage, config, config.metadata_partitions, sources_of(table), {*config.metadata_partitions_inflight, *missing})
    return Started(inflight, delta, data, names)


def _laid_out(table: LockedTable, mdt: MetadataWriterTable, file_ids: Mapping[str, tuple[str, ...]]) -> MetadataWriterTable:
    """Begin all file groups by a delta commit of their own, which completes: Apache Hudi's writers want to see them."""
    laid = begin_build(mdt, build_time(mdt, table.timeline))
    for name, groups in file_ids.items():
        lay_out(mdt, laid, name, groups)
    return complete_build(mdt, laid, dict.fromkeys(file_ids, ()), table.timeline)


def _defined(table: LockedTable, data: DataTable, names: tuple[str, ...]) -> tuple[LockedTable, DataTable]:
    """Define those of the partitions that need a definition and have none: the options only enable them."""
    known = load_definitions(table.storage, table.config)
    matches = {name: kind.definition(data, name) for name, kind in with_kinds(names).items() if name not in known}
    new = {name: definition for name, definition in matches.items() if definition is not None}
    if not new:
        return table, data
    table = with_definitions(table, known | new)
    return table, data.reopened(data.view.with_config(table.config), data.mdt)


def _write(work: Started) -> Mapping[str, tuple[WriteStat, ...]]:
    """Fill the file groups with what the table held at the start; nobody waits meanwhile."""
    if work.delta.is_completed:
        return {}
    missing = [name for name in work.names if name not in work.table.view.config.metadata_partitions]
    return {
        name: fill(work.table.mdt, work.delta, name, kind.initial(work.table, name), is_laid_out=True)
        for name, kind in with_kinds(missing).items()
    }


def complete(table: LockedTable, work: Started, stats: Mapping[str, tuple[WriteStat, ...]]) -> None:
    """Let readers have the partitions, and complete the build."""
    build = find_pending(table.timeline, work.build.requested, table.storage.uri)
    mdt = open_writer_table(table.storage, sources_of(table))
    if not is_built(mdt, build):
        mdt = _unharmed(table, mdt, work, stats)
        check_lock_held(table, build)
        complete_build(mdt, work.delta, stats, table.timeline)
    check_lock_held(table, build)
    config, names = table.config, set(work.names)
    with_partitions(
        table.storage,
        config,
        names | set(config.metadata_partitions),
        sources_of(table),
        set(config.metadata_partitions_inflight) - names,
    )
    complete_instant(table, build, work.names)


def _unharmed(
    table: LockedTable, mdt: MetadataWriterTable | None, work: Started, stats: Mapping[str, tuple[WriteStat, ...]]
) -> MetadataWriterTable:
    """Return the metadata table to complete the build in.

    Raises:
        ConflictError: others took the build back, built the metadata table again, or compacted one of the partitions: a base file of
        theirs,
            of what writers told since the start, would hide what was written here.
    """
    requested = work.build.requested
    if mdt is None or not mdt.timeline.find(requested) or not set(stats) <= set(table.config.metadata_partitions_inflight):
        raise _conflict(table, requested, "the metadata table was rebuilt, or this build was rolled back,")
    for name in stats:
        bases = (parse_base_file_name(status.name) for status in mdt.storage.list(name))
        if any(base is not None and base.instant != requested for base in bases):
            raise _conflict(table, requested, f"somebody compacted {name}")
    return mdt


def _conflict(table: LockedTable, requested: str, reason: str) -> ConflictError:
    return ConflictError(f"indexing {requested} of table {table.storage.uri} cannot be completed: {reason} meanwhile. Run it again.")


def _rollback_after_failure(locked: Locked, requested: str, error: BaseException, *, forget: bool) -> None:
    """Take the failed run back; when that fails too it stays inflight until the next run comes, as does one that had written everything."""
    try:
        with locked() as (table, _):
            build = find_pending(table.timeline, requested, table.storage.uri)
            if forget and not is_built(open_writer_table(table.storage, sources_of(table)), build):
                cancel(table, build)
            else:
                rollback_run(table, build)
    except (HudiError, OSError) as failure:
        error.add_note(f"What the build wrote is not read; rolling it back failed and is left to its next run: {failure}")
