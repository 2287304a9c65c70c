"""Which of two records with one key stays, stated on two records: slow and obvious.

Rules: `EventTimeRecordMerger`, `CommitTimeRecordMerger`, `BufferedRecord`. The kernels do the same on columns; a
property test holds the two equal. One difference to Hudi: an ordering value that is null is the smallest of all,
where Hudi fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.spec.table.merge_mode import MergeMode


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: its ordering values, and whether it deletes the record.

    A delete by commit time is what a DELETE statement makes: it has no ordering value and wins over all that came
    before it.
    """

    ordering: tuple[Any, ...] = ()
    deletes: bool = False
    by_commit_time: bool = False


def newer_wins(stored: Sequence[Any], incoming: Sequence[Any], mode: MergeMode) -> bool:
    """True when the incoming record replaces the stored one; equal values let it win.

    Example:
        >>> newer_wins([None], [1], MergeMode.EVENT_TIME_ORDERING), newer_wins([2], [1], MergeMode.EVENT_TIME_ORDERING)
        (True, False)
    """
    if mode is MergeMode.COMMIT_TIME_ORDERING:
        return True
    return ordered_at_least(incoming, stored)


def ordered_at_least(incoming: Sequence[Any], stored: Sequence[Any]) -> bool:
    """True when the first ordering values are not smaller than the second, compared field by field."""
    return [_rank(value) for value in incoming] >= [_rank(value) for value in stored]


def combine_versions(versions: Sequence[Version], mode: MergeMode) -> int:
    """Return the place of the version that stays of several that came in one batch, in the order in which they came.

    Raises:
        IndexError: there is no version.
    """
    best = 0
    for index in range(1, len(versions)):
        stored, incoming = versions[best], versions[index]
        commit_time = stored.by_commit_time or incoming.by_commit_time
        if commit_time or newer_wins(stored.ordering, incoming.ordering, mode):
            best = index
    return best


def merge_version(stored: Version, incoming: Version, mode: MergeMode) -> bool:
    """True when the incoming version takes effect on a stored row."""
    return incoming.by_commit_time or newer_wins(stored.ordering, incoming.ordering, mode)


def _rank(value: Any) -> tuple[int, Any, float]:
    """A value's place in Java's order: null first, then as usual, -0.0 before 0.0, then NaN."""
    if value is None:
        return (0, 0, 0)
    if isinstance(value, float):
        return (2, 0, 0) if math.isnan(value) else (1, value, math.copysign(1, value))
    return (1, value, 0)
