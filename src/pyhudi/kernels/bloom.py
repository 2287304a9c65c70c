"""The bloom filter of a base file, filled by columns of keys.

Rules: `BloomFilterFactory` (SIMPLE, DYNAMIC_V0), `InternalDynamicBloomFilter`; `pyhudi.codec.bloom` states them key
by key and is what this must equal. A filter that would answer "maybe" to more than half of all absent keys is of no
use to anybody: then all bits are set, which costs nothing, is true for every key, and is what the honest filter
nearly is (docs/design/0040-base-files.md).
"""

from __future__ import annotations

import base64
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.kernels.base_file import FOOTER_BLOOM_FILTER, FOOTER_BLOOM_TYPE, WriterSettings
from pyhudi.kernels.murmur import bit_positions
from pyhudi.kernels.parquet_input import footer_entries, open_parquet

if TYPE_CHECKING:
    from pyhudi.spec.file_group import BaseFile
    from pyhudi.storage.protocol import Storage

SIMPLE = "SIMPLE"
_OLD_FOOTER_BLOOM_FILTER = "com.uber.hoodie.bloomfilter"
_USELESS = 0.5
_LN2 = math.log(2)

Bits = npt.NDArray[np.uint8]


def sizing(entries: int, fpp: float) -> tuple[int, int]:
    bits = math.ceil(entries * (-math.log(fpp)) / (_LN2 * _LN2))
    return bits, math.ceil(_LN2 * bits / entries)


@dataclass(frozen=True, slots=True)
class FilterShape:
    """Size of a filter: bits and hashes of a row, keys per row, and up to how many keys rows are added."""

    type_code: str
    bits: int
    hashes: int
    per_row: int
    max_entries: int

    @property
    def most_rows(self) -> int:
        """How many rows the filter can have."""
        return 1 if self.type_code == SIMPLE else max(1, -(-self.max_entries // self.per_row))

    @property
    def most_keys(self) -> int:
        """With how many keys the filter still says "no" to half of the keys that are not there."""
        row_says_maybe = 1 - (1 - _USELESS) ** (1 / self.most_rows)
        bits_per_hash = -math.log(1 - row_says_maybe ** (1 / self.hashes))
        return int(self.most_rows * bits_per_hash * self.bits / self.hashes)


class KeyFilter:
    """A filter under construction.

    Keys wait until the filter is encoded, unless there are so many that all bits will be set. `knows_stored_keys` is
    False when a file is rewritten that had no filter: then the keys of its old rows must be added too.
    """

    def __init__(self, shape: FilterShape, *, knows_stored_keys: bool = True) -> None:
        self.knows_stored_keys = knows_stored_keys
        self._shape = shape
        self._rows = [self._blank()]
        self._in_last_row = 0
        self._keys = 0
        self._waiting: list[pa.ChunkedArray] = []

    @property
    def type_code(self) -> str:
        """SIMPLE or DYNAMIC_V0."""
        return self._shape.type_code

    @classmethod
    def empty(cls, settings: WriterSettings, *, knows_stored_keys: bool = True) -> KeyFilter:
        """Return a filter without keys, sized as the settings say."""
        bits, hashes = sizing(settings.bloom_entries, settings.bloom_fpp)
        shape = FilterShape(settings.bloom_type, bits, hashes, settings.bloom_entries, settings.bloom_max_entries)
        return cls(shape, knows_stored_keys=knows_stored_keys)

    @classmethod
    def of_file(cls, storage: Storage, base: BaseFile, settings: WriterSettings) -> KeyFilter:
        """Return the filter of a base file, to be added to; an empty one when the file has none that can be.

        Raises:
            CorruptTableError: the file or its filter is damaged.
        """
        with open_parquet(storage, base.path) as parquet:
            entries = footer_entries(parquet)
            rows = parquet.metadata.num_rows
        text = entries.get(FOOTER_BLOOM_FILTER) or entries.get(_OLD_FOOTER_BLOOM_FILTER)
        if text is None:
            return cls.empty(settings, knows_stored_keys=False)
        return cls.decode(text, entries.get(FOOTER_BLOOM_TYPE, SIMPLE), settings.bloom_max_entries, keys=rows)

    @classmethod
    def decode(cls, text: str, type_code: str, max_entries: int, *, keys: int) -> KeyFilter:
        """Return a filter that a base file of `keys` rows holds."""
        data = base64.b64decode(text)
        _, hashes, _, bits = struct.unpack_from(">iibi", data, 0)
        row_bytes, head = (bits + 7) // 8, 13
        if type_code == SIMPLE:
            shape, starts, in_last_row = FilterShape(SIMPLE, bits, hashes, 0, 0), [head], 0
        else:
            per_row, in_last_row, rows = struct.unpack_from(">iii", data, head)
            shape = FilterShape(type_code, bits, hashes, per_row, max_entries)
            starts = [2 * head + 12 + row * (head + row_bytes) for row in range(rows)]
        decoded = cls(shape)
        decoded._rows = [np.frombuffer(data, np.uint8, row_bytes, start) for start in starts]
        decoded._in_last_row = in_last_row
        decoded._keys = keys
        return decoded

    def add(self, keys: pa.ChunkedArray) -> None:
        """Add a column of keys."""
        self._keys += len(keys)
        if self._keys > self._shape.most_keys:
            self._waiting = []
        else:
            self._waiting.append(keys)

    def encode(self) -> str:
        """Return the filter as the footer of a base file holds it."""
        if self._keys > self._shape.most_keys:
            self._saturate()
        elif self._waiting:
            self._fill(pa.chunked_array([chunk for column in self._waiting for chunk in column.chunks], pa.string()))
        self._waiting = []
        return self._encoded()

    def _encoded(self) -> str:
        head = struct.pack(">iibi", -1, self._shape.hashes, 1, self._shape.bits)
        rows = [head + row.tobytes() for row in self._rows]
        if self.type_code == SIMPLE:
            return base64.b64encode(rows[0]).decode()
        counts = struct.pack(">iii", self._shape.per_row, self._in_last_row, len(rows))
        return base64.b64encode(head + counts + b"".join(rows)).decode()

    def _blank(self) -> Bits:
        return np.zeros((self._shape.bits + 7) // 8, np.uint8)

    def _saturate(self) -> None:
        full = np.packbits(np.ones(self._shape.bits, np.uint8), bitorder="little")
        self._rows = [full] * self._shape.most_rows
        self._in_last_row = self._shape.per_row

    def _fill(self, keys: pa.ChunkedArray) -> None:
        if self.type_code == SIMPLE:
            self._set(0, keys)
            return
        start = 0
        while start < len(keys):
            room = self._shape.per_row - self._in_last_row
            if room <= 0 and len(self._rows) == self._shape.most_rows:
                self._take_turns(keys.slice(start))
                return
            if room <= 0:
                self._rows.append(self._blank())
                self._in_last_row, room = 0, self._shape.per_row
            part = keys.slice(start, room)
            self._set(len(self._rows) - 1, part)
            self._in_last_row += len(part)
            start += len(part)

    def _take_turns(self, keys: pa.ChunkedArray) -> None:
        """Spread keys over the full rows: the first goes to row 0, then the rows take turns, row 0 first again."""
        turns = np.maximum(np.arange(len(keys)) - 1, 0) % len(self._rows)
        for row in range(len(self._rows)):
            self._set(row, keys.take(pa.array(np.flatnonzero(turns == row))))
        self._in_last_row += len(keys)

    def _set(self, row: int, keys: pa.ChunkedArray) -> None:
        shape = self._shape
        bits = np.unpackbits(self._rows[row], count=shape.bits, bitorder="little")
        for chunk in keys.chunks:
            for positions in bit_positions(chunk, shape.bits, shape.hashes):
                bits[positions] = 1
        self._rows[row] = np.packbits(bits, bitorder="little")
