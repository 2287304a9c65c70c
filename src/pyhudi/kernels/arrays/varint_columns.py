"""Avro's whole numbers, many at a time. Rules: Avro 1.11 specification, variable-length zig-zag coding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyhudi.codec.varint import MAX_BYTES
from pyhudi.kernels.arrays.array_types import Numbers


def read_varints(data: npt.NDArray[np.uint8], at: Numbers) -> tuple[Numbers, Numbers]:
    """Return the numbers that begin at the places `at`, and how many bytes each takes.

    Args:
        data: the bytes, with ten to spare behind the last place.
        at: where the numbers begin.

    Raises:
        ValueError: a number has more bytes than any can have.
    """
    first = data[at].astype(np.int64)
    value = first & 0x7F
    more = np.flatnonzero(first > 0x7F)
    sizes = np.ones(len(at), np.int64)
    shift = 7
    while len(more):
        if shift == 7 * MAX_BYTES:
            raise ValueError("it has an overlong number")
        byte = data[at[more] + shift // 7].astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        sizes[more] += 1
        more = more[byte > 0x7F]
        shift += 7
    decoded: Numbers = (value.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(value & 1)
    return decoded, sizes


def write_varints(values: Numbers) -> tuple[Numbers, npt.NDArray[np.uint8]]:
    """Return the lengths and bytes of numbers: seven bits a byte, the lowest first, the sign in the lowest bit."""
    rest = ((values << 1) ^ (values >> 63)).view(np.uint64)
    columns: list[npt.NDArray[np.uint8]] = []
    lengths = np.ones(len(values), np.int64)
    while True:
        low = (rest & np.uint64(0x7F)).astype(np.uint8)
        rest = rest >> np.uint64(7)
        more = rest > 0
        columns.append(low | np.where(more, np.uint8(0x80), np.uint8(0)))
        if not more.any():
            break
        lengths += more
    matrix = np.stack(columns, axis=1)
    return lengths, matrix[np.arange(len(columns)) < lengths[:, None]]
