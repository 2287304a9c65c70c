"""The transition table of instants: which states an action has, and which may follow which.

Rules: Hudi technical specification, "Timeline"; docs/format/timeline.md#instant-file-names. Every state is a file of its own, created once;
earlier ones stay.
"""

from __future__ import annotations

from pyhudi.errors import UnsupportedError
from pyhudi.spec.instant import COMPLETED_ACTION, Action, Instant, State

#: Actions that start inflight, because there is nothing to plan.
_WITHOUT_REQUEST = frozenset({Action.SAVEPOINT})
#: Actions of layout 2 that layout 1 files under another name.
_NOT_IN_LAYOUT_1 = frozenset({Action.CLUSTERING})


def first_state(action: Action) -> State:
    """Return the state in which instants of an action begin."""
    return State.INFLIGHT if action in _WITHOUT_REQUEST else State.REQUESTED


def next_instant(instant: Instant, completed: str | None = None) -> Instant:
    """Return the instant one state further; `completed` is the completion time, needed for the last step only.

    Raises:
        ValueError: the instant is completed, or the completion time is missing, superfluous or not after the request.
    """
    if instant.is_completed:
        raise ValueError(f"instant {instant.requested} is completed; nothing follows")
    following = State(instant.state + 1)
    if following is State.COMPLETED:
        if completed is None or completed <= instant.requested:
            raise ValueError(f"instant {instant.requested} cannot complete at {completed}: it must be later")
        return Instant(instant.requested, COMPLETED_ACTION.get(instant.action, instant.action), following, completed)
    if completed is not None:
        raise ValueError(f"instant {instant.requested} becomes {following.name.lower()}, which has no completion time")
    return Instant(instant.requested, instant.action, following)


def check_layout(action: Action, layout: int) -> None:
    """Raise `UnsupportedError` when a timeline layout has no files for an action."""
    if layout == 1 and action in _NOT_IN_LAYOUT_1:
        raise UnsupportedError(f"timeline layout 1 has no {action} instants; upgrade the table to version 8 or later")
