"""The bloom filter of a base file, filled by columns of keys.

Rules: `BloomFilterFactory`, `InternalDynamicBloomFilter`; `pyhudi.codec.bloom_codec` states them key by key and is what this
must equal. A filter that would answer "maybe" to more than half of all absent keys is of no use to anybody: then all
bits are set, which costs nothing, is true for every key, and is what the honest filter nearly is
(docs/design/0040-base-files.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pyhudi.codec.bloom_codec import BloomFilter, BloomType, StoredFilter
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.murmur_columns import bit_positions
from pyhudi.kernels.base_file.base_file import (
    FOOTER_BLOOM_FILTER,
    FOOTER_BLOOM_TYPE,
    OLD_FOOTER_BLOOM_FILTER,
    RecordContext,
    WriterSettings,
)
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.spec.files.bootstrap_source import is_skeleton

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

#: Share of absent keys to which a useful filter says "no" at least.
_USEFUL = 0.5
#: Keys that the least filter is sized for: 4 kB in the footer at the default share of false answers.
_LEAST_ENTRIES = 512
#: More keys than any filter is useful for.
_COUNTLESS = 1 << 62
#: A stored filter of that many times the fitting size is rebuilt, although no key is added.
_FAR_TOO_LARGE = 16


class KeyFilter:
    """A filter under construction.

    Keys wait until the filter is encoded, unless there are so many that all bits will be set. The keys of the old rows of a file that is
    rewritten are in its filter already; they are used where that filter is rebuilt with another size, or where the file had none.
    """

    def __init__(
        self,
        bloom: BloomFilter | StoredFilter,
        *,
        keys: int = 0,
        knows_stored_keys: bool = True,
        fits_to: WriterSettings | None = None,
        full: BloomFilter | None = None,
    ) -> None:
        self._start = bloom
        self._fits_to = fits_to
        self._full = full
        self._keys = keys
        self._waiting: list[pa.Array] = []
        self._stored: list[pa.Array] = []
        self._unread: list[Callable[[], pa.ChunkedArray]] = []
        self._knows_stored_keys = knows_stored_keys
        # A filter that fits its keys grows to what the settings say before it is full.
        most = bloom if fits_to is None else _empty(fits_to, fits_to.bloom_entries)
        self._most_rows = 1 if most.row_entries is None else max(1, -(-most.max_entries // most.row_entries))
        self._most_keys = _most_keys(most.bits, most.hashes, self._most_rows)

    @property
    def type_code(self) -> BloomType:
        """The kind of the filter."""
        return BloomType.SIMPLE if self._start.row_entries is None else BloomType.DYNAMIC_V0

    @property
    def is_full(self) -> bool:
        """Whether all bits will be set, whatever keys are added."""
        return self._keys > self._most_keys

    def add_later(self, count: int, read: Callable[[], pa.ChunkedArray]) -> None:
        """Add so many keys that have not been read: they are, when the filter is encoded, unless it is full by then."""
        self._keys += count
        self._unread.append(read)
        if self.is_full:
            self._unread = []

    @classmethod
    def empty(cls, settings: WriterSettings, *, knows_stored_keys: bool = True) -> KeyFilter:
        """Return a filter without keys, sized as the settings say."""
        fits = settings.bloom_fits and settings.bloom_type == BloomType.DYNAMIC_V0
        bloom = _empty(settings, settings.bloom_entries)
        full = _full_filter(settings) if fits else None
        return cls(bloom, knows_stored_keys=knows_stored_keys, fits_to=settings if fits else None, full=full)

    @classmethod
    def saturated(cls, settings: WriterSettings) -> KeyFilter:
        """Return the least filter with all bits set, whatever keys are added."""
        full = _full_filter(settings)
        return cls(full, keys=_COUNTLESS, full=full)

    @classmethod
    def of_file(cls, storage: Storage, base: BaseFile, settings: WriterSettings) -> KeyFilter:
        """Return the filter of a base file, to be added to; an empty one when it has none, or is a skeleton, whose filter may be saturated.

        Raises:
            CorruptTableError: the file or its filter is damaged.
        """
        if is_skeleton(base.name.instant):
            return cls.empty(settings, knows_stored_keys=False)
        with open_parquet(storage, base.path) as parquet:
            entries = footer_entries(parquet, storage, base.path)
            rows = parquet.metadata.num_rows
        text = entries.get(FOOTER_BLOOM_FILTER) or entries.get(OLD_FOOTER_BLOOM_FILTER)
        if text is None:
            return cls.empty(settings, knows_stored_keys=False)
        code = entries.get(FOOTER_BLOOM_TYPE, BloomType.SIMPLE)
        if code not in set(BloomType):
            raise CorruptTableError(
                f"file '{base.path}' of table {storage.uri} has a bloom filter of the unknown type '{code}': restore the file from a copy"
            )
        kind = BloomType(code)
        try:
            stored = StoredFilter.of(text, kind, max_entries=settings.bloom_max_entries)
        except CorruptTableError as error:
            raise CorruptTableError(f"file '{base.path}' of table {storage.uri}: {error}; restore the file from a copy") from error
        fits = settings.bloom_fits and kind is BloomType.DYNAMIC_V0
        fits_to = settings if fits and rows <= settings.bloom_entries else None  # or the keys of all rows would be kept
        return cls(stored, keys=rows, fits_to=fits_to, full=_full_filter(settings) if fits else None)

    @classmethod
    def for_rows_after(cls, storage: Storage, base: BaseFile | None, context: RecordContext, settings: WriterSettings) -> KeyFilter | None:
        """Return the filter of the file that takes the place of a base file, or of a new one; None where files have none.

        Raises:
            CorruptTableError: the file before or its filter is damaged.
        """
        if not settings.bloom_enabled or context.virtual_key is not None:
            return None
        return cls.empty(settings) if base is None else cls.of_file(storage, base, settings)

    @property
    def needs_stored_keys(self) -> bool:
        """True when the keys of the file before may have to be added: it has no filter, or one that may begin again in another size."""
        return self._fits_to is not None or not self._knows_stored_keys

    def add(self, keys: pa.ChunkedArray, *, stored: bool = False) -> None:
        """Add a column of keys, none of them null; `stored` ones are of rows that the file before had."""
        if stored and self._knows_stored_keys:
            self._stored.extend(keys.chunks if self._fits_to is not None else ())
            return
        self._keys += len(keys)
        if self.is_full:
            self._waiting = []
        else:
            self._waiting.extend(keys.chunks)

    def encode(self) -> str:
        """Return the filter as the footer of a base file holds it: that of the file before when there are no new keys."""
        unread, self._unread = self._unread, []
        if not self.is_full:
            self._waiting.extend(chunk for read in unread for chunk in read().chunks)
        self._fit()
        start, is_full = self._start, self.is_full
        if isinstance(start, StoredFilter) and not is_full and not any(map(len, self._waiting)):
            return start.text
        if is_full and self._full is not None:
            return self._full.encode()
        bloom = start.decode() if isinstance(start, StoredFilter) else start
        if is_full:
            self._saturate(bloom)
        else:
            self._fill(bloom, pa.chunked_array(self._waiting, pa.string()))
        self._start, self._waiting = bloom, []
        return bloom.encode()

    def _fit(self) -> None:
        """Begin again with a filter of another size where that of the file before has no room, or far too much, for the keys."""
        settings, self._fits_to = self._fits_to, None
        if settings is None:
            return
        new, stored = sum(map(len, self._waiting)), sum(map(len, self._stored))
        is_full = self.is_full
        entries = settings.bloom_entries if is_full else _fitting_entries(new + stored, settings)
        if not is_full and isinstance(self._start, StoredFilter) and not _is_misfit(self._start, new, entries, settings):
            return
        self._start = _empty(settings, entries)
        if not is_full:
            self._waiting = [*self._stored, *self._waiting]
        self._stored = []

    def _saturate(self, bloom: BloomFilter) -> None:
        bloom.rows = [_ones(bloom) for _ in range(self._most_rows)]
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


def _empty(settings: WriterSettings, entries: int) -> BloomFilter:
    kind = BloomType(settings.bloom_type)
    return BloomFilter.empty(kind, entries=entries, fpp=settings.bloom_fpp, max_entries=settings.bloom_max_entries)


def _full_filter(settings: WriterSettings) -> BloomFilter:
    """Return the least filter with all bits set; it says of each key what a larger one says, and costs each file less."""
    bloom = _empty(settings, _LEAST_ENTRIES)
    bloom.rows = [_ones(bloom)]
    bloom.last_row_entries = bloom.row_entries or 0
    return bloom


def _ones(bloom: BloomFilter) -> bytearray:
    return bytearray(np.packbits(np.ones(bloom.bits, np.uint8), bitorder="little").tobytes())


def _fitting_entries(keys: int, settings: WriterSettings) -> int:
    """Return the keys that a filter is sized for: twice the existing ones, so that the next rewrites add to it, and no odd numbers."""
    return min(settings.bloom_entries, max(_LEAST_ENTRIES, 1 << (2 * keys - 1).bit_length() if keys else 0))


def _is_misfit(stored: StoredFilter, new: int, entries: int, settings: WriterSettings) -> bool:
    """Tell whether a filter is rebuilt: it has no room for the new keys and is not of the greatest size, or is far too large.

    Growing by rows, as a full one does, would cost each lookup the hashes of each row.
    """
    row_entries = stored.row_entries or 0
    is_small = row_entries < settings.bloom_entries and stored.last_row_entries + new > row_entries
    return is_small or row_entries >= _FAR_TOO_LARGE * entries


def _take_turns(bloom: BloomFilter, keys: pa.ChunkedArray) -> None:
    """Spread keys over the full rows: the first goes to row 0, then the rows take turns, row 0 first again."""
    turns = np.maximum(np.arange(len(keys)) - 1, 0) % len(bloom.rows)
    for number, row in enumerate(bloom.rows):
        _set_bits(bloom, row, keys.take(pa.array(np.flatnonzero(turns == number))))
    bloom.last_row_entries += len(keys)


def _set_bits(bloom: BloomFilter, row: bytearray, keys: pa.ChunkedArray) -> None:
    """Set the keys' bits. They are laid out one to a byte meanwhile: that is what numpy scatters into fast, by indexes of its own type."""
    bits = np.unpackbits(np.frombuffer(row, np.uint8), count=bloom.bits, bitorder="little")
    for chunk in keys.chunks:
        for positions in bit_positions(chunk, bloom.bits, bloom.hashes):
            bits[positions.astype(np.intp)] = 1
    row[:] = np.packbits(bits, bitorder="little").tobytes()


def _most_keys(bits: int, hashes: int, rows: int) -> int:
    """With how many keys a filter still says "no" to the useful share of absent keys."""
    row_says_maybe = 1 - _USEFUL ** (1 / rows)
    hashes_per_bit = -math.log(1 - row_says_maybe ** (1 / hashes))
    return int(rows * hashes_per_bit * bits / hashes)
