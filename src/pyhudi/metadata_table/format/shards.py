"""Which file group holds each of a column of keys; `keys.shard` states the rule for one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.key_bytes import equal_length_blocks
from pyhudi.metadata_table.format.metadata_keys import shard

_FACTOR = np.uint32(31)


def shards(hashed: pa.StringArray, count: int) -> Indices:
    """Return the number of the file group, of `count` sorted by file id, for each of the strings, none of which is null."""
    if count == 1:
        return np.zeros(len(hashed), np.int64)
    numbers = np.empty(len(hashed), np.int64)
    ascii_only = pc.string_is_ascii(hashed).to_numpy(zero_copy_only=False)
    if not ascii_only.all():
        for index in np.flatnonzero(~ascii_only):
            numbers[index] = shard(hashed[int(index)].as_py(), count)
        numbers[ascii_only] = _of_ascii(hashed.filter(pa.array(ascii_only)), count)
        return numbers
    return _of_ascii(hashed, count)


def _of_ascii(keys: pa.StringArray, count: int) -> Indices:
    """Java's hash of strings whose UTF-16 units are their bytes, in 32 bits, and its remainder as Java takes it."""
    numbers = np.empty(len(keys), np.int64)
    for indices, block in equal_length_blocks(keys):
        code = np.zeros(len(block), np.uint32)
        for unit in np.ascontiguousarray(block.T):
            code *= _FACTOR
            code += unit
        # The absolute value of the least number is itself in Java, and its remainder is made positive afterwards: the same number.
        numbers[indices] = np.abs(code.view(np.int32).astype(np.int64)) % count
    return numbers
