"""HFiles for the tests: those of HBase among the fixtures, and ones made here."""

from __future__ import annotations

import io
from collections.abc import Iterable

from pyhudi.codec.hfile import HFileReader, HFileWriter
from pyhudi.codec.hfile.block import Codec
from tests.tables import FIXTURES

FOLDER = FIXTURES / "hudi" / "hfile"
DEEP = "hudi_1_0_hbase_2_4_13_1KB_GZ_10000_large_keys_deep_index"
TWO_LEVELS = "hudi_1_0_hbase_2_4_13_1KB_GZ_20000_large_keys"
FAKE_KEYS = "hudi_1_0_hbase_2_4_13_16KB_GZ_20000_fake_first_key"
REPEATED = "hudi_1_0_hbase_2_4_9_16KB_GZ_200_20_non_unique"
NOT_COMPRESSED = "hudi_1_0_hbase_2_4_9_16KB_NONE_5000"
EMPTY = "hudi_1_0_hbase_2_4_9_no_entry"
UNIQUE = (DEEP, TWO_LEVELS, FAKE_KEYS, NOT_COMPRESSED)


class CountingSource(io.BytesIO):
    """A file that counts the bytes read from it."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.read_bytes += len(data)
        return data


def fixture(name: str) -> bytes:
    return (FOLDER / f"{name}.hfile").read_bytes()


def open_hfile(data: bytes) -> HFileReader:
    return HFileReader(io.BytesIO(data), len(data), "f.hfile")


def made(cells: Iterable[tuple[bytes, bytes]], codec: Codec = Codec.GZ, block_bytes: int = 1 << 20, **rest: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=1_700_000_000_000, codec=codec, block_bytes=block_bytes)
    for row, value in cells:
        writer.append(row, value)
    writer.finish(**rest)
    return sink.getvalue()
