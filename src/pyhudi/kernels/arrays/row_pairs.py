"""The pairs of an equi-join: which rows of one side have the values of which rows of the other, by their numbers alone.

A join of Arrow hashes and copies whole tables, and starts threads; the sides of a merge have one or two key columns, of few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices, Numbers

_NONE = -1


def row_pairs(left: Sequence[pa.ChunkedArray], right: Sequence[pa.ChunkedArray], most: int | None = None) -> tuple[Indices, Indices] | None:
    """Return the numbers of the rows that have the same value in each column, in the order of the left side, then of the right.

    A null equals nothing. None where there are more pairs than `most`; they are not made then.

    Args:
        left: columns of one side, at least one.
        right: as many columns of the other, each of the type of its counterpart.
        most: how many pairs there may be; None for any number.

    Example:
        >>> row_pairs([pa.chunked_array([[2, 1, None]])], [pa.chunked_array([[1, 2, 2]])])
        (array([0, 0, 1]), array([1, 2, 0]))
    """
    ours, theirs = _numbers(left[0], right[0])
    for one, other in zip(left[1:], right[1:], strict=True):
        ours, theirs = _both((ours, theirs), _numbers(one, other))
    present = np.flatnonzero(theirs != _NONE)
    order = present[np.argsort(theirs[present], kind="stable")]
    in_order = theirs[order]
    first, last = np.searchsorted(in_order, ours, "left"), np.searchsorted(in_order, ours, "right")
    counts = last - first
    total = int(counts.sum())
    if most is not None and total > most:
        return None
    before = np.cumsum(counts) - counts
    at = np.arange(total) - np.repeat(before - first, counts)
    return np.repeat(np.arange(len(ours)), counts), order[at]


def _numbers(left: pa.ChunkedArray, right: pa.ChunkedArray) -> tuple[Numbers, Numbers]:
    """Return a number for each value of the left side, and for those of the right the same, or `_NONE`; also for nulls."""
    values = pc.unique(left.drop_null())
    ours, theirs = (pc.fill_null(pc.index_in(side, value_set=values), _NONE).to_numpy().astype(np.int64) for side in (left, right))
    return ours, theirs


def _both(first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Return numbers of pairs of numbers, as `_numbers` does."""
    factor = int(second[0].max(initial=0)) + 1
    ours, theirs = (np.where((one == _NONE) | (two == _NONE), _NONE, one * factor + two) for one, two in zip(first, second, strict=True))
    distinct = np.unique(ours[ours != _NONE])  # numbers stay below the number of rows, however many columns there are
    return _renumbered(ours, distinct), _renumbered(theirs, distinct)


def _renumbered(numbers: Numbers, distinct: Numbers) -> Numbers:
    """Return the position of each number among some in ascending order, `_NONE` where it is not there."""
    if not len(distinct):
        return np.full(len(numbers), _NONE, np.int64)
    at = np.minimum(np.searchsorted(distinct, numbers), len(distinct) - 1)
    return np.where(distinct[at] == numbers, at, _NONE)
