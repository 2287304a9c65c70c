"""Builds of indexes on the timeline: `indexing` instants, and what they are to build.

Rules: `ScheduleIndexActionExecutor`, `HoodieIndexPlan`; docs/design/0077-index-builds.md. The caller holds the table's lock.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import replace

from pyhudi.codec.actions.plan_codec import encode_indexing_done, encode_indexing_plan
from pyhudi.errors import UsageError
from pyhudi.metadata_table.format.index_definitions import PATH, PATH_PROPERTY, IndexDefinition, load_definitions, render_definitions
from pyhudi.metadata_table.write.inflight import pending_builds
from pyhudi.spec.actions.indexing import IndexedPartition, Indexing
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import time_of_service


def schedule(table: LockedTable, definitions: Mapping[str, IndexDefinition | None]) -> Instant:
    """Define indexes and put their build on the timeline; partitions without a definition need none, or get it when they are built."""
    defined = {name: definition for name, definition in definitions.items() if definition is not None}
    if defined:
        table = with_definitions(table, load_definitions(table.storage, table.config) | defined)
    content = encode_indexing_plan(indexed(definitions, _base(table.timeline)), sync=table.ids.sync_marker())
    return table.writer.request(Action.INDEXING, time_of_service(table), content)


def indexed(partitions: Collection[str], upto: str) -> Indexing:
    """Return the content of an indexing action: its partitions, and the instant up to which they are built."""
    return Indexing(tuple(IndexedPartition(name, upto) for name in partitions))


def complete_instant(table: LockedTable, build: Instant, partitions: Collection[str]) -> None:
    """Complete an inflight build."""
    last = table.timeline.last_completed()
    content = encode_indexing_done(indexed(partitions, "" if last is None else last.requested), sync=table.ids.sync_marker())
    table.writer.complete(build, table.times.next(), content, functools.partial(check_lock_held, table, build))


def with_definitions(table: LockedTable, definitions: Mapping[str, IndexDefinition]) -> LockedTable:
    """Write the definitions of a table's indexes, and return the table as it is then."""
    table.storage.replace(PATH, render_definitions(definitions))
    properties = store_properties(table.storage, {PATH_PROPERTY: PATH}, table.clock.now())
    return replace(table, config=replace(table.config, properties=properties))


def find_pending(timeline: Timeline, requested: str, uri: str) -> Instant:
    """Return the pending build of a requested time.

    Raises:
        UsageError: there is none.
    """
    match = next((instant for instant in pending_builds(timeline) if instant.requested == requested), None)
    if match is None:
        raise UsageError(f"table {uri} has no pending build of indexes {requested}; look at table.history()")
    return match


def is_pending_build(storage: Storage, requested: str) -> bool:
    """Tell whether an instant of a table is a pending build of indexes."""
    timeline = load_timeline(storage, TableConfig(load_properties(storage)))
    return any(build.requested == requested for build in pending_builds(timeline))


def _base(timeline: Timeline) -> str:
    """Return the last write before all that are pending: from there on a build by Apache Hudi looks at what came meanwhile."""
    pending = min((instant.requested for instant in timeline.pending() if instant.comparable_action.writes_data), default="")
    done = [instant.requested for instant in timeline.data_instants()]
    return max((time for time in done if not pending or time < pending), default=min(done))
