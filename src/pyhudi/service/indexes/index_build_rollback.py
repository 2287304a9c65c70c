"""Rolls back what a build of indexes left that did not come to its end. The caller holds the lock of builds and that of the table.

The plan stays requested, to be run again from the beginning; `cancel` removes it as well. Every step may be repeated: first nobody is to
write into the partitions any more, the state files go last.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.metadata_table.lifecycle.prepare_metadata import with_partitions
from pyhudi.metadata_table.read.instant_times import is_built as is_built_time
from pyhudi.metadata_table.read.writer_table import FOLDER, MetadataWriterTable, open_writer_table
from pyhudi.metadata_table.write.inflight import planned_partitions
from pyhudi.service.indexes.index_build_plan import complete_instant, with_definitions
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import sources_of


def rollback_run(table: LockedTable, build: Instant) -> LockedTable:
    """Delete what a dead run of a build wrote and return the table as it is then; a run that had written everything is left as it is."""
    mdt = open_writer_table(table.storage, sources_of(table))
    if is_built(mdt, build):
        return table
    planned = planned_partitions(table.storage, table.config, build)
    names = [name for name in planned if name not in table.config.metadata_partitions]
    begun = _begun(mdt, build, names)
    _delete_files(mdt, build, set(planned) - set(names))
    table = _without(table, names, table.config.metadata_partitions)
    _forget(mdt, begun)
    table.storage.delete(instant_path(table.config, Instant(build.requested, Action.INDEXING, State.INFLIGHT)))
    return table.reload()


def cancel(table: LockedTable, build: Instant) -> tuple[str, ...]:
    """Take a pending build off the timeline with all that it made, and return the partitions that there will not be.

    One that had written everything is completed, and its partitions are dropped: the metadata table knows its time.
    """
    built = is_built(open_writer_table(table.storage, sources_of(table)), build)
    planned = planned_partitions(table.storage, table.config, build)
    names = [name for name in planned if built or name not in table.config.metadata_partitions]
    table = rollback_run(table, build)
    table = _without(table, names, [name for name in table.config.metadata_partitions if name not in names])
    definitions = load_definitions(table.storage, table.config)
    if not definitions.keys().isdisjoint(names):
        table = with_definitions(table, {name: definition for name, definition in definitions.items() if name not in names})
    if built:
        complete_instant(table, build, planned)
    else:
        table.writer.remove(build)
    return tuple(names)


def is_built(mdt: MetadataWriterTable | None, build: Instant) -> bool:
    """Tell whether a run has written all that it was to write, and was cut off before it said so."""
    return mdt is not None and any(one.is_completed for one in mdt.timeline.find(build.requested))


def _without(table: LockedTable, names: Collection[str], retained: Collection[str]) -> LockedTable:
    inflight = [name for name in table.config.metadata_partitions_inflight if name not in names]
    if (set(retained), set(inflight)) != (set(table.config.metadata_partitions), set(table.config.metadata_partitions_inflight)):
        table = replace(table, config=with_partitions(table.storage, table.config, retained, sources_of(table), inflight))
    for name in names:
        table.storage.delete_tree(join_path(FOLDER, name))
    return table


def _delete_files(mdt: MetadataWriterTable | None, build: Instant, built_by_others: Collection[str]) -> None:
    """Delete what a run wrote into partitions that another process has built meanwhile: the instant goes that tells that nobody reads
    it.
    """
    if mdt is None:
        return
    for name in built_by_others:
        for status in mdt.storage.list(name):
            parsed = parse_base_file_name(status.name)
            if parsed is not None and parsed.instant == build.requested:
                mdt.storage.delete(join_path(name, status.name))


def _begun(mdt: MetadataWriterTable | None, build: Instant, names: Collection[str]) -> list[Instant]:
    """Return the pending delta commits of a build: that of its time, and that by which its file groups were begun."""
    if mdt is None:
        return []
    logs = (parse_log_file_name(status.name) for name in names for status in mdt.storage.list(name))
    times = {build.requested} | {log.instant for log in logs if log is not None and is_built_time(log.instant)}
    return [instant for instant in mdt.timeline.pending() if instant.requested in times]


def _forget(mdt: MetadataWriterTable | None, begun: Collection[Instant]) -> None:
    if mdt is not None:
        for instant in begun:
            mdt.writer.remove(instant)
