"""Which instants of the metadata table count, given the timeline of the table that it describes.

Rules: `HoodieTableMetadataUtil.getValidInstantTimestamps`; docs/format/metadata-table.md#rules-for-readers. The metadata table completes
an instant before the data table does; until the data table follows, a reader must not see it.
"""

from __future__ import annotations

from dataclasses import replace

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.instant_times import FIRST_BUILD, is_built, is_metadata_only
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.timeline import Timeline


def visible_timeline(metadata: Timeline, data: Timeline) -> Timeline:
    """Return the metadata table's timeline with those delta commits pending that are pending in the data table.

    Compactions of the metadata table have instants of their own and are not concerned.
    """
    # What is built concurrently with writers is read when the properties name it, which is before its indexing action completes.
    pending = {instant.requested for instant in data.pending() if instant.action is not Action.INDEXING}
    pending -= {instant.requested for instant in data.completed()}
    return replace(metadata, instants=tuple(_held_back(instant, pending) for instant in metadata.instants))


def _held_back(instant: Instant, pending: set[str]) -> Instant:
    if instant.is_completed and instant.action is Action.DELTA_COMMIT and instant.requested in pending:
        return replace(instant, state=State.INFLIGHT, completed=None)
    return instant


def missing_instants(metadata: Timeline, data: Timeline) -> tuple[str, ...]:
    """Return the completed writes of the data table that the metadata table does not know of.

    It knows of those that were complete when it was built, of those among its own completed instants, and of those
    older than its active timeline. That of version 6 begins with the build, whose time follows on the last one's before it.
    A build comes first in its archive, too, and may be there while commits that it found are active in the data table.
    """
    known, start = {instant.requested for instant in metadata.completed()}, metadata.archive_boundary or ""
    unknown = [one.requested for one in data.data_instants() if one.requested not in known and one.requested >= start]
    if not unknown:
        return ()
    built = _built(metadata)
    return tuple(requested for requested in unknown if (data.completion_time(requested) or "") > built)


def _built(metadata: Timeline) -> str:
    """Return when the metadata table was built; `""` when nobody can tell."""
    builds = [instant.completed or "" for instant in metadata.completed() if is_built(instant.requested)]
    if builds:
        return min(builds)
    try:
        return metadata.completion_time(FIRST_BUILD) or ""
    except CorruptTableError:  # of its own archive, which goes when the next write builds it again: no row depends on that
        return ""


def is_rebuilt(metadata: Timeline, data: Timeline) -> bool:
    """True when the metadata table was built after a write that the data table's timeline has: it does not say which ones it found."""
    known = {instant.requested for instant in metadata.completed()}
    return any(instant.requested not in known for instant in data.data_instants())


def unknown_instants(metadata: Timeline, data: Timeline) -> tuple[str, ...]:
    """Return the writes that the metadata table shows and that the data table's timeline, read before or ended earlier, lacks.

    A build of indexes is none, and no log compaction of the metadata table.
    """
    known = {instant.requested for instant in data.instants if instant.is_completed or instant.action is Action.INDEXING}
    start = data.archive_boundary or ""
    return tuple(
        instant.requested
        for instant in metadata.completed()
        if instant.action is Action.DELTA_COMMIT
        and not is_metadata_only(instant.requested)
        and instant.requested >= start
        and instant.requested not in known
        and instant.requested not in metadata.log_compactions
    )
