"""Orders rows by several columns: one after the other, or along a curve through all of them, which keeps rows near that are near in each.

Each column is replaced by the ranks of its values, stretched to the same number of bits, so that columns of any type and range weigh the
same; a curve over raw values is bent towards the widest of them. Rules: `SpaceCurveSortingHelper`, `RangeSample`. Curves:
G. M. Morton (1966); J. Skilling, "Programming the Hilbert curve" (2004).
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Words: TypeAlias = npt.NDArray[np.uint64]
_WORD_BITS = 64
#: A column is cut into 65,536 ranges at the most: files and row groups are fewer by far.
_MOST_BITS = 16
_ONE = np.uint64(1)


class Layout(enum.StrEnum):
    """How rows are ordered by several columns."""

    LINEAR = "LINEAR"
    ZORDER = "ZORDER"
    HILBERT = "HILBERT"

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Return the layout of a name in any case, also with Hudi's hyphen.

        Raises:
            ValueError: there is none of that name.

        Example:
            >>> Layout.parse("z-order").value
            'ZORDER'
        """
        return cls(text.strip().upper().replace("-", ""))


def row_order(columns: pa.Table, layout: Layout) -> npt.NDArray[np.int64]:
    """Return the indices of the rows in their new order; rows that are equal keep theirs. One column is ordered by its values.

    Example:
        >>> row_order(pa.table({"a": [1, 0, 1, 0], "b": [1, 1, 0, 0]}), Layout.ZORDER).tolist()
        [3, 1, 2, 0]
    """
    if layout is Layout.LINEAR or columns.num_columns == 1:
        return _sorted(columns)
    bits = min(_MOST_BITS, _WORD_BITS // columns.num_columns)
    coordinates = [_coordinates(column, bits) for column in columns.columns]
    if layout is Layout.HILBERT:
        coordinates = _hilbert_axes(coordinates, bits)
    return np.argsort(_interleave(coordinates, bits), kind="stable")


def _sorted(columns: pa.Table) -> npt.NDArray[np.int64]:
    """Return the order by one column after the other; nulls come first, NaN last, as Spark has them."""
    keys: list[pa.ChunkedArray] = []
    for column in columns.columns:
        keys += [pc.is_valid(column), column] if column.null_count else [column]
    names = [str(number) for number in range(len(keys))]
    table = pa.table(keys, names=names)
    order: npt.NDArray[np.int64] = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names]).to_numpy().astype(np.int64)
    return order


def _coordinates(column: pa.ChunkedArray, bits: int) -> Words:
    """Return the ranks of values, stretched over as many bits; equal values have one rank."""
    ranks: Words = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.uint64) - _ONE
    greatest = int(ranks.max(initial=0))
    span = (1 << bits) - 1
    if not greatest:
        return ranks
    stretched: Words = (ranks * np.uint64(span // greatest)) if greatest <= span else (ranks >> np.uint64(greatest.bit_length() - bits))
    return stretched


def _interleave(coordinates: Sequence[Words], bits: int) -> Words:
    """Return one word for each row: the highest bits of all columns, in their order, then the next ones."""
    code = np.zeros(len(coordinates[0]), np.uint64)
    for bit in range(bits - 1, -1, -1):
        for column in coordinates:
            code = (code << _ONE) | ((column >> np.uint64(bit)) & _ONE)
    return code


def _hilbert_axes(coordinates: Sequence[Words], bits: int) -> list[Words]:
    """Return the transposed Hilbert indices: interleaved, they count along the curve."""
    axes = [column.copy() for column in coordinates]
    for bit in range(bits - 1, 0, -1):
        _undo_excess_work(axes, np.uint64(1 << bit))
    for index in range(1, len(axes)):
        axes[index] ^= axes[index - 1]
    turn = np.zeros_like(axes[0])
    for bit in range(bits - 1, 0, -1):
        mask = np.uint64(1 << bit)
        turn ^= np.where(axes[-1] & mask, mask - _ONE, np.uint64(0))
    return [axis ^ turn for axis in axes]


def _undo_excess_work(axes: list[Words], mask: np.uint64) -> None:
    """Invert or exchange the lower bits of the first axis, by one bit of each axis."""
    lower = mask - _ONE
    for index, axis in enumerate(axes):
        is_set = (axis & mask) != 0
        exchanged = np.where(is_set, np.uint64(0), (axes[0] ^ axis) & lower)
        axes[0] = np.where(is_set, axes[0] ^ lower, axes[0] ^ exchanged)
        if index:
            axes[index] = axis ^ exchanged
