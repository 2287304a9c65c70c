"""The size of rows, also of those that a JVM sent."""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.types as pt
import pytest

from pyhudi.kernels.arrays.byte_size import byte_size

STRANGE = struct.pack("<8i", *range(1 << 30, (1 << 30) + 8))


@pytest.mark.parametrize("nested", [pa.list_(pa.list_(pa.string())), pa.list_(pa.map_(pa.string(), pa.int32()))], ids=str)
def test_a_list_without_offsets_is_not_looked_into(nested: pa.DataType) -> None:
    none = pa.py_buffer(STRANGE).slice(0, 0)  # what lies behind it would be taken for offsets
    outer = pa.Array.from_buffers(
        nested, 1, [pa.py_buffer(b"\0"), pa.py_buffer(bytes(8))], children=[_without_offsets(nested.value_type, none)]
    )
    assert outer.to_pylist() == [None]
    assert byte_size(pa.table({"v": outer})) < 1000


def _without_offsets(arrow: pa.DataType, none: pa.Buffer) -> pa.Array:
    if pt.is_string(arrow):
        return pa.Array.from_buffers(arrow, 0, [None, none, none])
    if pt.is_map(arrow) or pt.is_list(arrow):
        return pa.Array.from_buffers(arrow, 0, [None, none], children=[_without_offsets(arrow.field(0).type, none)])
    return pa.array([], arrow)


def test_a_slice_counts_its_own_rows_only() -> None:
    whole = pa.table({"v": pa.array([[["x" * 100]]] * 1000)})
    assert byte_size(whole.slice(0, 10)) < byte_size(whole) / 20
    flat = pa.table({"v": pa.array(["x" * 100] * 1000)})
    assert byte_size(flat) == flat.nbytes
