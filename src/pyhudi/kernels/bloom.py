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

_USELESS = 0.5
_LN2 = math.log(2)


def sizing(entries: int, fpp: float) -> tuple[int, int]:
    bits = math.ceil(entries * (-math.log(fpp)) / (_LN2 * _LN2))
    return bits, math.ceil(_LN2 * bits / entries)


class KeyFilter:
    """A filter under construction.

    Keys wait until the filter is encoded, unless there are so many that all bits will be set.
    """

    def __init__(self, type_code: str, bits: int, hashes: int, per_row: int, max_entries: int) -> None:
        self.type_code = type_code
        self._bits = bits
        self._hashes = hashes
        self._per_row = per_row
        self._max_entries = max_entries
        self._rows: list[npt.NDArray[np.uint8]] = [self._blank()]
        self._in_last_row = 0
        self._known = 0
        self._waiting: list[pa.ChunkedArray] = []
        self._waiting_count = 0
        self._most = self._most_keys()
        self._rotations = -1

    @classmethod
    def empty(cls, settings: WriterSettings) -> KeyFilter:
        bits, hashes = sizing(settings.bloom_entries, settings.bloom_fpp)
        return cls(settings.bloom_type, bits, hashes, settings.bloom_entries, settings.bloom_max_entries)

    @classmethod
    def of_file(cls, storage: Storage, base: BaseFile, settings: WriterSettings) -> KeyFilter:
        with open_parquet(storage, base.path) as parquet:
            entries = footer_entries(parquet)
            known = parquet.metadata.num_rows
        filt = cls.decode(
            entries[FOOTER_BLOOM_FILTER], entries.get(FOOTER_BLOOM_TYPE, "SIMPLE"), settings.bloom_max_entries
        )
        filt._known = known
        return filt

    @classmethod
    def decode(cls, text: str, type_code: str, max_entries: int) -> KeyFilter:
        data = base64.b64decode(text)
        _, hashes, _, bits = struct.unpack_from(">iibi", data, 0)
        if type_code == "SIMPLE":
            f = cls(type_code, bits, hashes, 0, 0)
            f._rows = [np.frombuffer(data, np.uint8, offset=13).copy()]
            return f
        per_row, in_last, rows = struct.unpack_from(">iii", data, 13)
        f = cls(type_code, bits, hashes, per_row, max_entries)
        size = (bits + 7) // 8
        f._rows = [np.frombuffer(data, np.uint8, size, 25 + n * (13 + size) + 13).copy() for n in range(rows)]
        f._in_last_row = in_last
        return f

    def add(self, keys: pa.ChunkedArray) -> None:
        """Add a column of keys."""
        self._waiting_count += len(keys)
        if self._known + self._waiting_count > self._most:
            self._waiting = []
        else:
            self._waiting.append(keys)

    def encode(self) -> str:
        """Return the filter as base files hold it."""
        if self._known + self._waiting_count > self._most:
            self._saturate()
        else:
            for column in self._waiting:
                for keys in column.chunks:
                    self._fill(keys)
        self._waiting = []
        head = struct.pack(">iibi", -1, self._hashes, 1, self._bits)
        rows = [head + row.tobytes() for row in self._rows]
        if self.type_code == "SIMPLE":
            return base64.b64encode(rows[0]).decode()
        counts = struct.pack(">iii", self._per_row, self._in_last_row, len(rows))
        return base64.b64encode(head + counts + b"".join(rows)).decode()

    def _blank(self) -> npt.NDArray[np.uint8]:
        return np.zeros((self._bits + 7) // 8, np.uint8)

    def _row_limit(self) -> int:
        return 1 if self.type_code == "SIMPLE" else max(1, -(-self._max_entries // self._per_row))

    def _most_keys(self) -> int:
        rows = self._row_limit()
        per_row = 1 - (1 - _USELESS) ** (1 / rows)
        ratio = -math.log(1 - per_row ** (1 / self._hashes))
        return int(rows * ratio * self._bits / self._hashes)

    def _saturate(self) -> None:
        full = np.packbits(np.ones(self._bits, np.uint8), bitorder="little")
        rows = self._row_limit()
        self._rows = [full] * rows
        self._in_last_row = min(self._per_row, self._known + self._waiting_count)

    def _fill(self, keys: pa.Array) -> None:
        if self.type_code == "SIMPLE":
            self._set(0, keys)
            return
        start = 0
        while start < len(keys):
            room = self._per_row - self._in_last_row
            if self._rotations >= 0 or room <= 0:
                if len(self._rows) * self._per_row < self._max_entries and self._rotations < 0:
                    self._rows.append(self._blank())
                    self._in_last_row = 0
                    continue
                self._rotate(keys.slice(start))
                return
            part = keys.slice(start, room)
            self._set(len(self._rows) - 1, part)
            self._in_last_row += len(part)
            start += len(part)

    def _rotate(self, keys: pa.Array) -> None:
        count = len(self._rows)
        places = np.arange(len(keys)) + self._rotations
        places[places < 0] = 0
        self._rotations += len(keys)
        self._in_last_row += len(keys)
        for row in range(count):
            self._set(row, keys.take(pa.array(np.flatnonzero(places % count == row))))

    def _set(self, row: int, keys: pa.Array) -> None:
        bits = np.unpackbits(self._rows[row], count=self._bits, bitorder="little")
        for positions in bit_positions(keys, self._bits, self._hashes):
            bits[positions] = 1
        self._rows[row] = np.packbits(bits, bitorder="little")
