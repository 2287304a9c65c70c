"""Cells of large blocks, found all at once, are those that a loop finds: in whole blocks, in forged ones, and for each look-up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyhudi.codec.hfile.cell_arrays import cell_arrays
from pyhudi.codec.hfile.cells import KEY_TAIL, Cells, ListedCells
from pyhudi.codec.hfile.data_block import encode_cell, encode_key
from pyhudi.errors import CorruptTableError

_TEXT = st.text("ab\xff\0", max_size=3).map(lambda text: text.encode("latin-1"))
#: A tail of a key, and a whole cell, may be in a value or a row.
_PART = st.sampled_from([b"", b"\0", b"\x7f", KEY_TAIL, KEY_TAIL + b"\0", encode_cell(b"b", b""), encode_key(b"a")])
_CELLS = st.lists(st.tuples(st.one_of(_TEXT, st.tuples(_TEXT, _PART).map(b"".join)), _PART), min_size=1, max_size=20)


def block_of(cells: list[tuple[bytes, bytes]]) -> bytes:
    """Return the cells in a payload that is large enough not to be visited one by one."""
    return b"".join(encode_cell(row, value) for row, value in [*cells, (b"\xff" * 5, bytes(1 << 15))])


def contents(cells: Cells) -> list[Any]:
    starts, ends = cells.values(range(len(cells)))
    return [len(cells), list(cells.rows), list(cells.starts), list(starts), list(ends)]


@given(_CELLS)
@example([(b"a", b""), (b"c", encode_cell(b"b", b"")[:-1])])
@settings(max_examples=100)
def test_cells_found_at_once_are_those_that_a_loop_visits(cells: list[tuple[bytes, bytes]]) -> None:
    result = cell_arrays(block_of(cells), 1, "it")
    if result is not None:
        assert contents(result) == contents(ListedCells(block_of(cells), 1, "it"))


@given(_CELLS, st.integers(0, 1 << 11), st.integers(0, 255))
@settings(max_examples=100)
def test_forged_blocks_are_found_as_a_loop_visits_them_or_left_to_it(cells: list[tuple[bytes, bytes]], at: int, byte: int) -> None:
    payload = bytearray(block_of(cells))
    payload[at] = byte
    result = cell_arrays(bytes(payload), 1, "it")
    if result is not None:
        assert contents(result) == contents(ListedCells(bytes(payload), 1, "it"))


@given(st.sets(_TEXT, min_size=1), st.lists(_TEXT))
@settings(max_examples=100)
def test_look_up_at_once_finds_what_a_search_finds(rows: set[bytes], requested: list[bytes]) -> None:
    payload = block_of([(row, row * 2) for row in sorted(rows)])
    result = cell_arrays(payload, 1, "it")
    assert result is not None
    assert list(result.find(sorted(requested))) == list(ListedCells(payload, 1, "it").find(sorted(requested)))


@pytest.mark.parametrize("rows", [[b"b", b"a"], [b"bb", b"a"], [b"\xff", b"\x01"]])
def test_rows_out_of_order_are_not_looked_up_at_once(rows: list[bytes]) -> None:
    result = cell_arrays(block_of([(row, b"") for row in rows]), 1, "it")
    assert result is not None
    with pytest.raises(CorruptTableError, match="order"):
        list(result.find([b"a"]))


def test_rows_of_many_lengths_are_left_to_the_loop() -> None:
    assert cell_arrays(block_of([(b"a" * size, b"") for size in range(50)]), 1, "it") is None
    assert cell_arrays(block_of([(b"a" * size, b"") for size in range(20)]), 1, "it") is not None
