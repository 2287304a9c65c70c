"""The content of any file of the timeline, by action and state.

Rules: Hudi technical specification, "Timeline"; what each file holds in each version is in the table below.
Files that hold nothing (requested commits, most inflight ones) decode to None.
"""

from __future__ import annotations

from collections.abc import Callable

from pyhudi.codec.actions.clean_codec import decode_clean_metadata, decode_clean_plan
from pyhudi.codec.actions.commit_metadata import decode_commit
from pyhudi.codec.actions.plan_codec import decode_compaction_plan, decode_indexing, decode_requested_replace, decode_savepoint
from pyhudi.codec.actions.rollback_codec import decode_restore_metadata, decode_restore_plan, decode_rollback_metadata, decode_rollback_plan
from pyhudi.errors import CorruptTableError
from pyhudi.spec.instant import Action, State

_REQUESTED, _INFLIGHT, _COMPLETED = State.REQUESTED, State.INFLIGHT, State.COMPLETED

_DECODERS: dict[tuple[Action, State], Callable[[bytes], object]] = {
    (Action.COMMIT, _INFLIGHT): decode_commit,
    (Action.COMMIT, _COMPLETED): decode_commit,
    (Action.DELTA_COMMIT, _INFLIGHT): decode_commit,
    (Action.DELTA_COMMIT, _COMPLETED): decode_commit,
    (Action.REPLACE_COMMIT, _REQUESTED): decode_requested_replace,
    (Action.REPLACE_COMMIT, _INFLIGHT): decode_commit,
    (Action.REPLACE_COMMIT, _COMPLETED): decode_commit,
    (Action.CLUSTERING, _REQUESTED): decode_requested_replace,
    (Action.COMPACTION, _REQUESTED): decode_compaction_plan,
    (Action.LOG_COMPACTION, _REQUESTED): decode_compaction_plan,
    (Action.CLEAN, _REQUESTED): decode_clean_plan,
    (Action.CLEAN, _INFLIGHT): decode_clean_plan,
    (Action.CLEAN, _COMPLETED): decode_clean_metadata,
    (Action.ROLLBACK, _REQUESTED): decode_rollback_plan,
    (Action.ROLLBACK, _COMPLETED): decode_rollback_metadata,
    (Action.RESTORE, _REQUESTED): decode_restore_plan,
    (Action.RESTORE, _COMPLETED): decode_restore_metadata,
    (Action.SAVEPOINT, _COMPLETED): decode_savepoint,
    (Action.INDEXING, _REQUESTED): decode_indexing,
    (Action.INDEXING, _COMPLETED): decode_indexing,
}
#: Their empty files mean an empty payload, unless they are completed: an empty completed file is one that was cut off.
_EMPTY_ALLOWED = frozenset({decode_commit, decode_requested_replace})


def decode(action: Action, state: State, data: bytes) -> object:
    """Return the payload of an instant's file, or None when such a file holds none.

    Raises:
        CorruptTableError: the bytes are not what such a file holds.

    Example:
        >>> decode(Action.COMMIT, State.INFLIGHT, b"").operation is None
        True
    """
    decoder = _DECODERS.get((action, state))
    if decoder is None:
        return None
    check_not_empty(action, state, data)
    if not data and decoder not in _EMPTY_ALLOWED:
        return None
    return decoder(data)


def check_not_empty(action: Action, state: State, data: bytes) -> None:
    """Refuse an empty file of a completed action: no writer leaves one, and taken for empty metadata it would hide what was done.

    Raises:
        CorruptTableError: it is empty.
    """
    if state is State.COMPLETED and not data:
        raise CorruptTableError(f"the file of a completed {action} is empty: it was cut off. Restore it from a copy.")
