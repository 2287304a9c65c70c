"""The bloom filter of a base file, filled by columns of keys.

Rules: `BloomFilterFactory`, `InternalDynamicBloomFilter`; `pyhudi.codec.bloom` states them key by key and is what this
must equal. A filter that would answer "maybe" to more than half of all absent keys is of no use to anybody: then all
bits are set, which costs nothing, is true for every key, and is what the honest filter nearly is
(docs/design/0040-base-files.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pyhudi.codec.bloom import BloomFilter, BloomType, StoredFilter
from pyhudi.kernels.base_file import FOOTER_BLOOM_FILTER, FOOTER_BLOOM_TYPE, OLD_FOOTER_BLOOM_FILTER, TableShape, WriterSettings
from pyhudi.kernels.murmur import bit_positions
from pyhudi.kernels.parquet_input import footer_entries, open_parquet

if TYPE_CHECKING:
    from pyhudi.spec.file_group import BaseFile
    from pyhudi.storage.protocol import Storage

#: Share of absent keys to which a useful filter says "no" at least.
_USEFUL = 0.5


class KeyFilter:
    """A filter under construction.

    Keys wait until the filter is encoded, unless there are so many that all bits will be set. `knows_stored_keys` is
    False when a file is rewritten that had no filter: then the keys of its old rows must be added too.
    """

    def __init__(self, bloom: BloomFilter | StoredFilter, *, keys: int = 0, knows_stored_keys: bool = True) -> None:
        self.knows_stored_keys = knows_stored_keys
        self._start = bloom
        self._keys = keys
        self._waiting: list[pa.Array] = []
        self._most_rows = 1 if bloom.row_entries is None else max(1, -(-bloom.max_entries // bloom.row_entries))
        self._most_keys = _most_keys(bloom.bits, bloom.hashes, self._most_rows)

    @property
    def type_code(self) -> BloomType:
        """The kind of the filter."""
        return BloomType.SIMPLE if self._start.row_entries is None else BloomType.DYNAMIC_V0

    @classmethod
    def empty(cls, settings: WriterSettings, *, knows_stored_keys: bool = True) -> KeyFilter:
        """Return a filter without keys, sized as the settings say."""
        bloom = BloomFilter.empty(
            BloomType(settings.bloom_type),
            entries=settings.bloom_entries,
            fpp=settings.bloom_fpp,
            max_entries=settings.bloom_max_entries,
        )
        return cls(bloom, knows_stored_keys=knows_stored_keys)

    @classmethod
    def of_file(cls, storage: Storage, base: BaseFile, settings: WriterSettings) -> KeyFilter:
        """Return the filter of a base file, to be added to; an empty one when the file has none.

        Raises:
            CorruptTableError: the file or its filter is damaged.
        """
        with open_parquet(storage, base.path) as parquet:
            entries = footer_entries(parquet)
            rows = parquet.metadata.num_rows
        text = entries.get(FOOTER_BLOOM_FILTER) or entries.get(OLD_FOOTER_BLOOM_FILTER)
        if text is None:
            return cls.empty(settings, knows_stored_keys=False)
        kind = BloomType(entries.get(FOOTER_BLOOM_TYPE, BloomType.SIMPLE))
        return cls(StoredFilter.of(text, kind, max_entries=settings.bloom_max_entries), keys=rows)

    @classmethod
    def for_rows_after(cls, storage: Storage, base: BaseFile | None, shape: TableShape, settings: WriterSettings) -> KeyFilter | None:
        """Return the filter of the file that takes the place of a base file, or of a new one; None where files have none.

        Raises:
            CorruptTableError: the file before or its filter is damaged.
        """
        if not settings.bloom_enabled or shape.virtual_key is not None:
            return None
        return cls.empty(settings) if base is None else cls.of_file(storage, base, settings)

    def add(self, keys: pa.ChunkedArray) -> None:
        """Add a column of keys, none of them null."""
        self._keys += len(keys)
        if self._keys > self._most_keys:
            self._waiting = []
        else:
            self._waiting.extend(keys.chunks)

    def encode(self) -> str:
        """Return the filter as the footer of a base file holds it: that of the file before when there are no new keys."""
        start, is_full = self._start, self._keys > self._most_keys
        if isinstance(start, StoredFilter) and not is_full and not any(map(len, self._waiting)):
            return start.text
        bloom = start.decode() if isinstance(start, StoredFilter) else start
        if is_full:
            self._saturate(bloom)
        else:
            self._fill(bloom, pa.chunked_array(self._waiting, pa.string()))
        self._start, self._waiting = bloom, []
        return bloom.encode()

    def _saturate(self, bloom: BloomFilter) -> None:
        full = np.packbits(np.ones(bloom.bits, np.uint8), bitorder="little").tobytes()
        bloom.rows = [bytearray(full) for _ in range(self._most_rows)]
        bloom.last_row_entries = bloom.row_entries or 0

    def _fill(self, bloom: BloomFilter, keys: pa.ChunkedArray) -> None:
        if bloom.row_entries is None:
            _set_bits(bloom, bloom.rows[0], keys)
            return
        start = 0
        while start < len(keys):
            room = bloom.row_entries - bloom.last_row_entries
            if room <= 0 and len(bloom.rows) >= self._most_rows:
                _take_turns(bloom, keys.slice(start))
                return
            if room <= 0:
                bloom.rows.append(bytearray(len(bloom.rows[0])))
                bloom.last_row_entries, room = 0, bloom.row_entries
            part = keys.slice(start, room)
            _set_bits(bloom, bloom.rows[-1], part)
            bloom.last_row_entries += len(part)
            start += len(part)


def _take_turns(bloom: BloomFilter, keys: pa.ChunkedArray) -> None:
    """Spread keys over the full rows: the first goes to row 0, then the rows take turns, row 0 first again."""
    turns = np.maximum(np.arange(len(keys)) - 1, 0) % len(bloom.rows)
    for number, row in enumerate(bloom.rows):
        _set_bits(bloom, row, keys.take(pa.array(np.flatnonzero(turns == number))))
    bloom.last_row_entries += len(keys)


def _set_bits(bloom: BloomFilter, row: bytearray, keys: pa.ChunkedArray) -> None:
    """Set the keys' bits. They are laid out one to a byte meanwhile: that is what numpy scatters into fast."""
    bits = np.unpackbits(np.frombuffer(row, np.uint8), count=bloom.bits, bitorder="little")
    for chunk in keys.chunks:
        for positions in bit_positions(chunk, bloom.bits, bloom.hashes):
            bits[positions] = 1
    row[:] = np.packbits(bits, bitorder="little").tobytes()


def _most_keys(bits: int, hashes: int, rows: int) -> int:
    """With how many keys a filter still says "no" to the useful share of absent keys."""
    row_says_maybe = 1 - _USEFUL ** (1 / rows)
    hashes_per_bit = -math.log(1 - row_says_maybe ** (1 / hashes))
    return int(rows * hashes_per_bit * bits / hashes)
