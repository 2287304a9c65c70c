"""Completion times for instants of timeline layout 1, which does not keep any.

Apache Hudi takes the time of the last change of each file, which a copy of the table, or a restore from a backup, changes. Layout 1 orders
writes by their requested times, so the times given here never contradict that order: what was read as of a time before an upgrade is read
as of that time afterwards, and incremental reads see the same writes in the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.clock import following, format_instant, preceding, zone_of


def completion_times(completed: Iterable[tuple[Instant, str | None]]) -> Mapping[tuple[str, Action], str]:
    """Return a completion time for each completed instant, by requested time and action.

    A write completes after it was requested and before the next write was; the known time is taken where it lies between.

    Args:
        completed: completed instants, each with the time at which it is known to have completed.

    Example:
        >>> from pyhudi.spec.instant import State
        >>> first, second = (Instant(f"2026010{day}000000000", Action.COMMIT, State.COMPLETED) for day in (1, 2))
        >>> times = completion_times([(first, "20260105000000000"), (second, "20260105000000000")])
        >>> times[first.requested, Action.COMMIT], times[second.requested, Action.COMMIT]
        ('20260101235959999', '20260105000000000')
    """
    ordered = sorted(completed, key=lambda one: one[0])
    writes = [instant.requested for instant, _ in ordered if instant.action.writes_data]
    next_write = dict(itertools.pairwise(writes))
    times = {}
    for instant, known in ordered:
        earliest = following(instant.requested)
        time = max(known or earliest, earliest)
        bound = next_write.get(instant.requested) if instant.action.writes_data else None
        if bound is not None and time >= bound:
            time = max(earliest, preceding(bound))
        times[instant.requested, instant.action] = time
    return times


def time_of_file(modified_ms: int, zone: str) -> str:
    """Return the time of a file's last change as an instant text; `zone` is that of the timeline."""
    return format_instant(datetime.fromtimestamp(modified_ms / 1000, UTC), zone_of(zone))
