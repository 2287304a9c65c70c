"""Cells of many keys and few values as blocks of an HFile, made column by column.

An index of records has millions of keys, and as many values as the table has files: a cell is put together from a head of ten bytes,
the key, and one of a few tails. Rules: docs/format/hfile.md#cells; `pyhudi.codec.hfile.cells` states them cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.codec.hfile import CellBlock
from pyhudi.codec.hfile.cells import CELL_END, KEY_TAIL
from pyhudi.codec.hfile.data_block import MAX_ROW_BYTES
from pyhudi.errors import UsageError
from pyhudi.kernels.arrays.array_types import Indices

#: Bytes of a block: a look-up of one key unpacks one. Apache Hudi's own blocks have 1 MiB.
BLOCK_BYTES = 1 << 17
#: Cells that are put together at once: far below the 2 GiB that one column of bytes can hold.
_AT_ONCE = 1 << 18
#: Values of cells: a column of them where they are as many as keys.
Values: TypeAlias = "Sequence[bytes] | pa.LargeBinaryArray"
_HEAD = np.dtype([("key", ">u4"), ("value", ">u4"), ("row", ">u2")])


@dataclass(frozen=True, slots=True)
class CellColumns:
    """The cells of a file group: rows that ascend, and of each the number of its value."""

    rows: pa.StringArray
    values: Values
    which: Indices

    def blocks(self) -> Iterator[CellBlock]:
        """Yield the cells as blocks.

        Raises:
            UsageError: a key is longer than a cell can hold.
        """
        for start in range(0, len(self.rows), _AT_ONCE):
            part, which = self.rows.slice(start, _AT_ONCE), self.which[start : start + _AT_ONCE]
            yield from _blocks(part.cast(pa.binary()), *_sizes_and_tails(self.values, which))


def cell_columns(rows: pa.StringArray, values: Values, which: Indices) -> CellColumns:
    """Return cells in the order of their rows; of equal rows the one with the greatest number of a value stays."""
    if len(which) and (np.diff(which) < 0).any():
        by_value = np.argsort(which, kind="stable")
        rows, which = rows.take(pa.array(by_value)), which[by_value]
    ordered = pc.array_sort_indices(rows.cast(pa.binary()))  # stable, so that values ascend among equal rows
    rows, which = rows.take(ordered), which[ordered.to_numpy()]
    if len(rows) > 1:
        lasts = pc.not_equal(rows[:-1], rows[1:]).to_numpy(zero_copy_only=False)
        if not lasts.all():
            lasts = np.append(lasts, True)
            rows, which = rows.filter(pa.array(lasts)), which[lasts]
    return CellColumns(rows, values, which)


def _sizes_and_tails(values: Values, which: Indices) -> tuple[Indices, pa.BinaryArray]:
    """Return of each cell how long its value is, and all that comes after its row."""
    if isinstance(values, pa.LargeBinaryArray):
        taken = values.take(pa.array(which)).cast(pa.binary())
        return pc.binary_length(taken).to_numpy().astype(np.int64), pc.binary_join_element_wise(KEY_TAIL, taken, CELL_END, b"")
    used, numbers = np.unique(which, return_inverse=True)  # values may be as many as keys
    few = [values[number] for number in used.tolist()]
    sizes = np.array([len(value) for value in few], np.int64)
    tails = pa.array([KEY_TAIL + value + CELL_END for value in few], pa.binary())
    return sizes[numbers], tails.take(pa.array(numbers))


def _blocks(rows: pa.BinaryArray, value_sizes: Indices, tails: pa.BinaryArray) -> Iterator[CellBlock]:
    row_sizes = pc.binary_length(rows).to_numpy().astype(np.int64)
    if len(row_sizes) and int(row_sizes.max()) > MAX_ROW_BYTES:
        raise UsageError(f"a key of {row_sizes.max()} bytes does not fit into an HFile, {MAX_ROW_BYTES} are allowed")
    heads = np.empty(len(rows), _HEAD)
    heads["key"], heads["value"], heads["row"] = row_sizes + 2 + len(KEY_TAIL), value_sizes, row_sizes
    fixed = pa.Array.from_buffers(pa.binary(_HEAD.itemsize), len(rows), [None, pa.py_buffer(heads.tobytes())])
    cells = pc.binary_join_element_wise(fixed.cast(pa.binary()), rows, tails, b"")
    ends = np.frombuffer(cells.buffers()[1], np.int32)[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)
    data = memoryview(cells.buffers()[2])
    for first, last in pairwise(borders(ends)):
        yield CellBlock(
            payload=bytes(data[ends[first] : ends[last]]),
            starts=(ends[first:last] - ends[first]).tolist(),
            row_bytes=int(row_sizes[first:last].sum()),
            value_bytes=int(value_sizes[first:last].sum()),
        )


def borders(ends: Indices) -> list[int]:
    """Return at which cells blocks begin and end, so that each takes as much as it can hold, one cell at least.

    `ends` are the bytes at which the cells begin, and at which the last one ends.
    """
    result, count = [0], len(ends) - 1
    while result[-1] < count:
        at = result[-1]
        fitting = int(np.searchsorted(ends, ends[at] + BLOCK_BYTES, side="right")) - 1
        result.append(max(at + 1, fitting))
    return result
