"""Avro's whole numbers, many at a time. Rules: Avro 1.11 specification, variable-length zig-zag coding."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int64]

_MOST_BYTES: Final = 10


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
        if shift == 7 * _MOST_BYTES:
            raise ValueError("it has an overlong number")
        byte = data[at[more] + shift // 7].astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        sizes[more] += 1
        more = more[byte > 0x7F]
        shift += 7
    decoded: Numbers = (value.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(value & 1)
    return decoded, sizes
