"""Least and greatest record key of a base file, in the order in which Apache Hudi compares them.

Rule: `HoodieBloomFilterWriteSupport` and `BloomIndexFileInfo.isKeyInRange` compare with Java's `String.compareTo`, by
UTF-16 unit. Arrow compares bytes of UTF-8. The orders differ for characters beyond U+FFFF only; a range in the wrong
order would hide such keys, and others next to them, from the bloom index, which then inserts them again.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: First byte of the UTF-8 form of characters beyond U+FFFF.
_FOUR_BYTES = 0xF0
#: Keys that are looked at first: where they are not sorted, the rest is not compared.
_SAMPLE = 1024


class KeyRange:
    """The range of the keys seen so far; both bounds are None before the first key.

    Example:
        >>> keys = KeyRange()
        >>> keys.extend(pa.chunked_array([["b", "a"]]))
        >>> keys.least, keys.greatest
        ('a', 'b')
    """

    def __init__(self) -> None:
        self.least: str | None = None
        self.greatest: str | None = None

    def extend(self, keys: pa.ChunkedArray) -> None:
        """Take keys in; nulls do not count."""
        for chunk in keys.chunks:
            for key in _bounds(chunk):
                self._add(key)

    def include(self, *bounds: str) -> None:
        """Take least and greatest key of another range in."""
        for key in bounds:
            self._add(key)

    def _add(self, key: str | None) -> None:
        if key is None:
            return
        if self.least is None or _java_order(key) < _java_order(self.least):
            self.least = key
        if self.greatest is None or _java_order(key) > _java_order(self.greatest):
            self.greatest = key


def _bounds(keys: pa.StringArray) -> tuple[str | None, str | None]:
    if _has_long_characters(keys):
        return _bounds_beyond_bmp(keys)
    if _is_ascending(keys.slice(0, _SAMPLE)) and _is_ascending(keys):
        return keys[0].as_py(), keys[-1].as_py()
    bounds = pc.min_max(keys).as_py()
    return bounds["min"], bounds["max"]


def _is_ascending(keys: pa.StringArray) -> bool:
    """Tell whether keys are sorted, none of them null: a comparison of neighbours takes an eighth of the time of Arrow's least and greatest
    value, which copies each new one.
    """
    if not len(keys) or keys.null_count:
        return False
    return bool(pc.all(pc.less_equal(keys.slice(0, len(keys) - 1), keys.slice(1))).as_py())


def _has_long_characters(keys: pa.StringArray) -> bool:
    """True when a key may hold a character beyond U+FFFF: looks at the bytes, not at the keys one by one."""
    _, ends, data = keys.buffers()
    if not len(keys) or data is None:
        return False
    # A slice shares the buffers of the whole; its own bytes alone are looked at.
    first, last = np.frombuffer(ends, np.int32)[[keys.offset, keys.offset + len(keys)]]
    return bool(np.frombuffer(data, np.uint8)[first:last].max(initial=0) >= _FOUR_BYTES)


def _bounds_beyond_bmp(keys: pa.StringArray) -> tuple[str | None, str | None]:
    present = keys.drop_null().to_pylist()
    return min(present, key=_java_order, default=None), max(present, key=_java_order, default=None)


def _java_order(key: str) -> bytes:
    return key.encode("utf-16-be")
