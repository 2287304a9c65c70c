"""Instants: one action on the timeline in one of three states, and the names of its files.

Rules: Hudi technical specification, "Timeline"; `HoodieInstant`, `InstantFileNameGeneratorV1/V2`. Layout 1 (table
version 6) keeps instants in `.hoodie/`, layout 2 (8 and later) in `.hoodie/timeline/` with the completion time in
the completed name.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import lru_cache

from pyhudi.errors import UnsupportedError


class Action(enum.StrEnum):
    """What an instant does. The value is the text in the file name."""

    COMMIT = "commit"
    DELTA_COMMIT = "deltacommit"
    REPLACE_COMMIT = "replacecommit"
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    CLUSTERING = "clustering"
    CLEAN = "clean"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    SAVEPOINT = "savepoint"
    INDEXING = "indexing"
    SCHEMA_COMMIT = "schemacommit"

    __hash__ = str.__hash__  # that of enumerations runs in Python, and the actions of whole timelines are looked up

    @property
    def writes_data(self) -> bool:
        """True for the actions whose completed instant makes data files visible."""
        return self in DATA_ACTIONS


#: The actions whose completed instants make data files visible.
DATA_ACTIONS = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})


class State(enum.IntEnum):
    """States in the order in which an instant passes through them."""

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2

    __hash__ = int.__hash__  # as for actions


#: The name a pending action has once it is completed; actions not listed keep theirs.
COMPLETED_ACTION = {
    Action.COMPACTION: Action.COMMIT,
    Action.LOG_COMPACTION: Action.DELTA_COMMIT,
    Action.CLUSTERING: Action.REPLACE_COMMIT,
}

_NAME_V1 = re.compile(r"(\d+)\.(\w+)(?:\.(\w+))?")
_NAME_V2 = re.compile(r"(\d+)(?:_(\d+))?\.(\w+)(?:\.(\w+))?")
_PENDING_STATES = {"requested": State.REQUESTED, "inflight": State.INFLIGHT}


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """One action at its requested time.

    `requested` and `completed` are instant strings (`yyyyMMddHHmmssSSS`; 14 digits in very old tables). `completed`
    is None while the instant is pending, and for layout 1, whose file names do not hold it.
    """

    requested: str
    action: Action
    state: State
    completed: str | None = None

    @property
    def is_completed(self) -> bool:
        """True when the action is done and visible."""
        return self.state is State.COMPLETED

    @property
    def comparable_action(self) -> Action:
        """The action under which all states of one instant meet (a compaction completes as a commit)."""
        return COMPLETED_ACTION.get(self.action, self.action)

    def file_name(self, layout: int) -> str:
        """Return the name of this state's file in timeline layout 1 or 2.

        Example:
            >>> Instant("20260101000000000", Action.COMMIT, State.INFLIGHT).file_name(2)
            '20260101000000000.inflight'
        """
        if self.is_completed:
            if layout == 1 or self.completed is None:  # an upgrade leaves such names in layout 2 as well
                return f"{self.requested}.{self.action}"
            return f"{self.requested}_{self.completed}.{self.action}"
        if self.action is Action.COMMIT and self.state is State.INFLIGHT:
            return f"{self.requested}.inflight"
        action = Action.REPLACE_COMMIT if layout == 1 and self.action is Action.CLUSTERING else self.action
        return f"{self.requested}.{action}.{self.state.name.lower()}"


@lru_cache(maxsize=1 << 16)
def parse_instant(name: str, layout: int) -> Instant | None:
    """Return the instant whose state file has this name, or None when it is no instant file.

    Raises:
        UnsupportedError: the name has the shape of an instant, with an action unknown to Hudi's table versions 6 to 9.
    """
    match = (_NAME_V1 if layout == 1 else _NAME_V2).fullmatch(name)
    if match is None:
        return None
    requested, completed = match[1], None if layout == 1 else match[2]
    action_text, suffix = match.groups()[-2:]
    if action_text == "inflight" and suffix is None:
        return Instant(requested, Action.COMMIT, State.INFLIGHT)
    if suffix is not None and suffix not in _PENDING_STATES:
        return None
    try:
        action = Action(action_text)
    except ValueError:
        served = ", ".join(Action)
        raise UnsupportedError(f"timeline file '{name}' names the unknown action '{action_text}'; known are {served}") from None
    state = State.COMPLETED if suffix is None else _PENDING_STATES[suffix]
    return Instant(requested, action, state, completed)
