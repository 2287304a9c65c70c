"""Several versions of one record become one, on columns. The rule on one key: `pyhudi.merge.merge_rules.combine_versions`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.ordering_columns import in_java_order

#: Times as many ranks as there can be rows in memory, a number still has 64 bits.
_MOST_DENSE = 1 << 31


def winners(groups: Indices, ordering: Sequence[pa.ChunkedArray], commit_time_deletes: Mask) -> Indices:
    """Return the place of the version that stays for each group, by ascending group.

    Args:
        groups: numbers without gaps, alike for versions of one key; the versions are in the order in which they came.
        ordering: the columns of the ordering fields; without any the last version stays.
        commit_time_deletes: which versions are deletes by commit time.
    """
    if not ordering:
        # The last version of a group beats all before it, deletes by commit time included.
        last = np.empty(int(groups.max()) + 1 if len(groups) else 0, np.int64)
        last[groups] = np.arange(len(groups))
        return last
    # One number that orders versions as group, generation and ordering values do: sorting by it costs a fourth of sorting by each.
    order_by = groups * 3 + generations(groups, commit_time_deletes) + 1
    for column in ordering:
        rank = ranks(column)
        order_by = _dense(order_by * (int(rank.max(initial=0)) + 1) + rank)
    order = np.argsort(order_by, kind="stable")
    last_of_group = np.flatnonzero(np.append(np.diff(groups[order]) != 0, True)) if len(groups) else order
    result: Indices = order[last_of_group]
    return result


def _dense(numbers: Indices) -> Indices:
    """Return numbers of the same order that are small enough to be multiplied again."""
    if not len(numbers) or int(numbers.max()) < _MOST_DENSE:
        return numbers
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def generations(groups: Indices, commit_time_deletes: Mask) -> Indices:
    """Say for each version whether it came before (-1), as (0) or after (1) its group's last delete by commit time.

    Such a delete beats all that came before it, and any version that comes after beats the delete. Versions of groups
    without one are 1.
    """
    if not commit_time_deletes.any():
        return np.ones(len(groups), np.int64)
    indices = np.arange(len(groups))
    last = np.full(int(groups.max()) + 1, -1)
    np.maximum.at(last, groups[commit_time_deletes], indices[commit_time_deletes])
    relative: Indices = np.sign(indices - last[groups])
    return relative


def codes(column: pa.ChunkedArray | pa.Array) -> Indices:
    """Return numbers without gaps, alike for equal values of a column without nulls."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = values if pt.is_dictionary(values.type) else values.dictionary_encode()
    numbered: Indices = encoded.indices.to_numpy().astype(np.int64)
    return numbered


def ranks(column: pa.ChunkedArray) -> Indices:
    """Return ranks of ordering values: null first, then as Java orders them, equal values alike."""
    values = in_java_order(column) if pt.is_floating(column.type) else column.combine_chunks()
    ranked: Indices = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64)
    ranked[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return ranked
