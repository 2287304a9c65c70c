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

from pyhudi.merge.partial_update import Record
from pyhudi.spec.table.merge_mode import MergeMode


@dataclass(frozen=True, slots=True)
class RecordVersion:
    """A version of a record: its columns, its ordering values, and whether it deletes the record.

    A delete by commit time is what a DELETE statement makes: it has no ordering value and wins over all that came before it.
    `present_columns` are the columns that the version brings, when it does not bring all; an ordering value that it does not bring is
    `pyhudi.merge.apply_rule.ABSENT`.
    """

    record: Record
    ordering: tuple[Any, ...] = ()
    deletes: bool = False
    by_commit_time: bool = False
    present_columns: frozenset[str] | None = None


def incoming_wins(stored: RecordVersion, incoming: RecordVersion, mode: MergeMode) -> bool:
    """True when a later version takes effect on an earlier one: what wins, in files, logs and batches alike.

    A delete by commit time wins over what came before it, and gives way to whatever comes after it.
    """
    return stored.by_commit_time or incoming.by_commit_time or newer_wins(stored.ordering, incoming.ordering, mode)


def newer_wins(stored: Sequence[Any], incoming: Sequence[Any], mode: MergeMode) -> bool:
    """True when the incoming record replaces the stored one; equal values let it win.

    Example:
        >>> newer_wins([None], [1], MergeMode.EVENT_TIME_ORDERING), newer_wins([2], [1], MergeMode.EVENT_TIME_ORDERING)
        (True, False)
    """
    if mode is MergeMode.COMMIT_TIME_ORDERING:
        return True
    return [_rank(value) for value in incoming] >= [_rank(value) for value in stored]


def combine_versions(versions: Sequence[RecordVersion], mode: MergeMode) -> int:
    """Return the place of the version that stays of several that came in one batch, in the order in which they came.

    Raises:
        IndexError: there is no version.
    """
    best = 0
    for index in range(1, len(versions)):
        if incoming_wins(versions[best], versions[index], mode):
            best = index
    return best


def _rank(value: Any) -> tuple[int, Any, float]:
    """A value's place in Java's order: null first, then as usual, -0.0 before 0.0, then NaN."""
    if value is None:
        return (0, 0, 0)
    if isinstance(value, float):
        return (2, 0, 0) if math.isnan(value) else (1, value, math.copysign(1, value))
    return (1, value, 0)
