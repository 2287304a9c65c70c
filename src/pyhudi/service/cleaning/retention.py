"""From which instant on the states of a table stay readable: the earliest commit to retain.

Rules: `CleanerUtils.getEarliestCommitToRetain`, `CleanPlanner`; docs/format/services.md. Everything goes by requested times, as in Apache
Hudi; what completed out of that order is looked at when files are chosen (`pyhudi.service.cleaning.obsolete_files`).
"""

from __future__ import annotations

from datetime import datetime

from pyhudi.service.cleaning.clean_settings import CleanPolicy, CleanSettings
from pyhudi.spec.instant import Instant
from pyhudi.timeline.clock import format_instant, time_before, zone_of
from pyhudi.timeline.timeline import Timeline


def earliest_to_retain(timeline: Timeline, settings: CleanSettings, now: datetime, zone: str, previous: str = "") -> Instant | None:
    """Return the earliest commit whose state stays readable; None when no commit bounds what is cleaned.

    Args:
        timeline: the table's active timeline.
        settings: what options say.
        now: the present.
        zone: of the timeline's times (`UTC` or `LOCAL`).
        previous: the earliest commit that the last clean retained, `""` when it tells none.

    Example:
        >>> from pyhudi.spec.instant import Action, State
        >>> days = [f"2026010{day}000000000" for day in range(1, 6)]
        >>> timeline = Timeline(tuple(Instant(day, Action.COMMIT, State.COMPLETED, day) for day in days), layout=2)
        >>> earliest_to_retain(timeline, CleanSettings(commits=2), datetime(2026, 1, 6), "UTC").requested
        '20260104000000000'
    """
    match settings.policy:
        case CleanPolicy.KEEP_LATEST_COMMITS:
            retained = _by_commits(timeline, settings.commits)
        case CleanPolicy.KEEP_LATEST_BY_HOURS:
            bound = format_instant(time_before(now, seconds=settings.hours * 3600), zone_of(zone))
            retained = next((one for one in timeline.data_instants() if one.requested >= bound), None)
        case CleanPolicy.KEEP_LATEST_FILE_VERSIONS:
            return None
    return None if retained is None else _capped(timeline, retained, settings.most_commits, previous)


def _by_commits(timeline: Timeline, count: int) -> Instant | None:
    """Return the commit with so many, itself included, up to the last one; a pending action retains what was completed before it."""
    commits = timeline.data_instants()
    if len(commits) <= count:
        return None
    retained = commits[-count]
    pending = next((one for one in timeline.pending() if one.comparable_action.writes_data), None)
    if pending is None or pending.requested > retained.requested:
        return retained
    return next((one for one in reversed(commits) if one.requested < pending.requested), None)


def _capped(timeline: Timeline, retained: Instant, most: int, previous: str) -> Instant:
    """Return the commit that is at most so many later than the one that the last clean retained."""
    between = [one for one in timeline.data_instants() if previous <= one.requested < retained.requested]
    return between[most] if len(between) > most else retained
