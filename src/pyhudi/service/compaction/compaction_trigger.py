"""Whether a compaction is due. Pure.

Rules: `ScheduleCompactionActionExecutor.needCompact`, `CompactionUtils.getDeltaCommitsSinceLatestCompaction`.
"""

from __future__ import annotations

from pyhudi.service.compaction.compaction_settings import CompactionSettings, Trigger
from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.clock import seconds_between
from pyhudi.timeline.timeline import Timeline


def compaction_is_due(timeline: Timeline, settings: CompactionSettings, now: str) -> bool:
    """Tell whether the trigger of the settings asks for a compaction; `now` is an instant time."""
    after_request = settings.trigger is Trigger.NUM_COMMITS_AFTER_LAST_REQUEST
    last = _last_compaction(timeline, requested=after_request)
    deltas = _delta_commits_since(timeline, last)
    if last is None and not deltas:
        return False
    enough = len(deltas) >= settings.max_delta_commits
    start = deltas[0] if last is None else last
    late = seconds_between(start.requested, now) >= settings.max_delta_seconds
    match settings.trigger:
        case Trigger.TIME_ELAPSED:
            return late
        case Trigger.NUM_AND_TIME:
            return enough and late
        case Trigger.NUM_OR_TIME:
            return enough or late
        case _:
            return enough


def _last_compaction(timeline: Timeline, *, requested: bool) -> Instant | None:
    """Return the newest completed compaction; with `requested`, one that is only requested comes first."""
    pending = [one for one in timeline.pending() if one.action is Action.COMPACTION] if requested else []
    done = [one for one in timeline.completed() if one.action is Action.COMMIT]
    return next(iter([*reversed(pending), *reversed(done)]), None)


def _delta_commits_since(timeline: Timeline, last: Instant | None) -> list[Instant]:
    deltas = [one for one in timeline.instants if one.action is Action.DELTA_COMMIT]
    return deltas if last is None else [one for one in deltas if one.requested > last.requested]
