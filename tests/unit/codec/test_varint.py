"""Whole numbers of variable length: one at a time and by columns, which agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.varint import MAX_BYTES, read_unsigned, read_varint, write_unsigned, write_varint
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.varint_columns import read_varints, write_varints

LONGS = st.integers(-(1 << 63), (1 << 63) - 1)


@pytest.mark.parametrize(("value", "written"), [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (-(1 << 63), "ff" * 9 + "01")])
def test_numbers_are_written_as_avro_does(value: int, written: str) -> None:
    assert write_varint(value).hex() == written
    assert read_varint(bytes.fromhex(written), 0) == (value, len(written) // 2)


@pytest.mark.parametrize(("value", "written"), [(0, "00"), (127, "7f"), (300, "ac02"), (-1, "ff" * 9 + "01")])
def test_plain_numbers_are_written_as_protocol_buffers_does(value: int, written: str) -> None:
    assert write_unsigned(value).hex() == written
    assert read_unsigned(bytes.fromhex(written), 0) == (value % (1 << 64), len(written) // 2)


@given(st.lists(LONGS, min_size=1))
def test_columns_agree_with_single_numbers(values: list[int]) -> None:
    lengths, data = write_varints(np.array(values, np.int64))
    written = [write_varint(value) for value in values]
    assert data.tobytes() == b"".join(written)
    assert lengths.tolist() == list(map(len, written))
    at = np.cumsum([0, *lengths[:-1]])
    decoded, sizes = read_varints(np.concatenate([data, np.zeros(MAX_BYTES, np.uint8)]), at)
    assert decoded.tolist() == values
    assert sizes.tolist() == lengths.tolist()


@pytest.mark.parametrize("read", [Cursor.read_varint, Cursor.read_unsigned])
def test_a_number_that_is_cut_or_overlong_is_damage(read) -> None:
    with pytest.raises(CorruptTableError, match="the header ends within a number at 0"):
        read(Cursor(b"\xff\xff", "the header"))
    with pytest.raises(CorruptTableError, match="the header holds an overlong number before byte 10"):
        read(Cursor(b"\xff" * 12, "the header"))
