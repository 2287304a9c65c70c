"""Asks the bloom filter of a base file for columns of keys.

Rules: `HoodieKeyLookupHandle`, `BloomFilterUtils`; `pyhudi.codec.bloom_codec` states them key by key. Asking costs more for a key than
reading one: it is left out where more is asked than there is to read.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.kernels.arrays.murmur_columns import positions_by_key
from pyhudi.kernels.base_file.base_file import FOOTER_BLOOM_FILTER, FOOTER_BLOOM_TYPE, OLD_FOOTER_BLOOM_FILTER

#: How many stored keys are read in the time that one wanted key is hashed and looked up.
_READ_MEANWHILE = 10
#: A filter without a zero in its first bytes is full: it says maybe to everything.
_SAMPLE_BYTES = 4096


def may_hold_keys(footer: Mapping[str, str], keys: pa.StringArray, rows: int) -> bool:
    """Tell whether a base file of so many rows may hold any of the keys, as far as it pays to ask.

    Raises:
        CorruptTableError: the filter is damaged.
    """
    text = footer.get(FOOTER_BLOOM_FILTER) or footer.get(OLD_FOOTER_BLOOM_FILTER)
    kind = footer.get(FOOTER_BLOOM_TYPE, BloomType.SIMPLE)
    if not len(keys) or text is None or kind not in set(BloomType) or len(keys) * _READ_MEANWHILE > rows:
        return bool(len(keys))
    bloom = BloomFilter.decode(text, BloomType(kind))
    return bool(might_contain(bloom, keys).any())


def might_contain(bloom: BloomFilter, keys: pa.StringArray) -> Mask:
    """Return which of the keys a filter does not rule out."""
    rows = [np.frombuffer(row, np.uint8) for row in bloom.rows]
    if any(len(row) > _SAMPLE_BYTES and (row[:_SAMPLE_BYTES] == 0xFF).all() for row in rows):
        return np.ones(len(keys), bool)
    possible = np.zeros(len(keys), bool)
    for indices, positions in positions_by_key(keys, bloom.bits, bloom.hashes):
        open_rows = [np.ones(len(possible[indices]), bool) for _ in rows]
        for at in positions:
            for maybe, row in zip(open_rows, rows, strict=True):
                np.logical_and(maybe, row[at >> 3] >> (at & 7).astype(np.uint8) & 1, out=maybe)
            if not any(maybe.any() for maybe in open_rows):
                break
        possible[indices] = np.logical_or.reduce(open_rows)
    return possible
