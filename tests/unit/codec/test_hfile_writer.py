"""Written HFiles are read back, and have the layout that Hudi's readers ask for."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.hfile import DataBlock, HFileWriter
from pyhudi.codec.hfile.block import HEADER, Codec, Magic
from pyhudi.codec.hfile.crc32c import crc32c
from pyhudi.codec.hfile.data_block import encode_cell
from pyhudi.codec.hfile.index import write_hadoop_int
from pyhudi.codec.hfile.trailer import parse_trailer
from pyhudi.errors import CorruptTableError, UsageError
from tests.unit.codec.hfiles import DEEP, FAKE_KEYS, fixture, made, open_hfile

ROWS = st.one_of(st.binary(max_size=6), st.binary(min_size=120, max_size=140), st.text(max_size=4).map(str.encode))
BLOCK_BYTES = [1, 100, 1000, 1 << 20]
CELLS = st.dictionaries(ROWS, st.binary(max_size=300), max_size=60).map(lambda cells: sorted(cells.items()))


@given(CELLS, st.sampled_from([Codec.GZ, Codec.NONE]), st.sampled_from(BLOCK_BYTES), st.lists(ROWS, max_size=9))
def test_what_was_written_is_read_by_every_way(
    cells: list[tuple[bytes, bytes]], codec: Codec, block_bytes: int, others: list[bytes]
) -> None:
    reader = open_hfile(made(cells, codec, block_bytes))
    assert len(reader) == len(cells)
    assert list(reader.entries()) == cells
    requested = [row for row, _ in cells] + others
    assert list(reader.get_many(requested)) == cells_of(cells, set(requested))
    for row in requested[:20]:
        assert list(reader.scan(row[:3])) == [cell for cell in cells if cell[0].startswith(row[:3])]


def cells_of(cells: list[tuple[bytes, bytes]], rows: set[bytes]) -> list[tuple[bytes, bytes]]:
    return [cell for cell in cells if cell[0] in rows]


def test_info_and_meta_blocks_are_read_back() -> None:
    reader = open_hfile(made([(b"a", b"1")], info={"schema": b"{}", "minRecordKey": b"a"}, meta_blocks={"bloomFilter": b"xyz", "a": b""}))
    assert (reader.info["schema"], reader.info["minRecordKey"]) == (b"{}", b"a")
    assert (reader.meta_block("bloomFilter"), reader.meta_block("a")) == (b"xyz", b"")


def test_blocks_name_the_block_before_them() -> None:
    data = made([(bytes([row]), b"v" * 50) for row in range(5)], block_bytes=60)
    assert_linked(data, 5)
    copied = HFileWriter(sink := io.BytesIO(), created_ms=0)
    for block in open_hfile(data).stored_blocks():
        copied.append_stored(block)
    copied.finish()
    assert_linked(sink.getvalue(), 5)


def assert_linked(data: bytes, count: int) -> None:
    offsets, previous, at = [], [], 0
    while data[at:].startswith(Magic.DATA):
        _, size, _, before, *_ = HEADER.unpack_from(data, at)
        offsets.append(at)
        previous.append(before)
        at += HEADER.size + size
    assert len(offsets) == count
    assert previous == [-1, *offsets[:-1]]


def test_checksums_have_their_room_and_are_zero() -> None:
    data = made([(b"a", bytes(40_000))], Codec.NONE)
    _, size, _, _, kind, per_checksum, data_size = HEADER.unpack_from(data)
    assert (kind, per_checksum, data_size) == (0, 16384, 33 + 40_022)
    assert data[data_size : HEADER.size + size] == bytes(4 * 3)


def test_trailer_of_an_empty_file_says_so() -> None:
    data = made([])
    trailer = parse_trailer(data[-4096:], len(data), "it")
    assert (trailer.entry_count, trailer.data_index_count, trailer.first_data_offset) == (0, 0, -1)
    assert open_hfile(data).info["hfile.LASTKEY"] == b""


def test_last_key_is_a_whole_cell_key() -> None:
    assert open_hfile(made([(b"a", b""), (b"bc", b"")])).info["hfile.LASTKEY"].hex() == "0002" + b"bc".hex() + "007fffffffffffffff04"


def test_small_cell_does_not_end_a_block_with_many_checksums() -> None:
    # 100 KB on disk take 7 checksum words: Java's reader would skip a last cell of up to 28 bytes.
    cells = [(b"a", bytes(100_000)), (b"b", b""), (b"c", b"1")]
    data = made(cells, Codec.NONE)
    _, _, unpacked, *_ = HEADER.unpack_from(data)
    assert unpacked == 100_022
    assert list(open_hfile(data).entries()) == cells


@pytest.mark.parametrize("row", [b"b", b"a", b""])
def test_row_out_of_order_is_refused(row: bytes) -> None:
    with pytest.raises(UsageError, match="ascend"):
        made([(b"b", b""), (row, b"")])


def test_row_of_32767_bytes_is_written_and_a_longer_one_refused() -> None:
    cells = [(b"k" * 32767, b"v")]
    assert list(open_hfile(made(cells)).entries()) == cells
    with pytest.raises(UsageError, match="32768 bytes"):
        made([(b"k" * 32768, b"v")])


@pytest.mark.parametrize(("value", "text"), [(0, "00"), (127, "7f"), (128, "8f80"), (131, "8f83"), (256, "8e0100"), (32779, "8e800b")])
def test_lengths_are_encoded_as_hadoop_does(value: int, text: str) -> None:
    assert write_hadoop_int(value).hex() == text


@given(st.binary(max_size=100))
@settings(max_examples=50)
def test_crc32c_equals_the_plain_definition(data: bytes) -> None:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    assert crc32c(data) == crc ^ 0xFFFFFFFF


def test_index_key_lengths_of_the_first_native_releases_are_read() -> None:
    """Hudi 1.1 wrote lengths from 126 bytes on as Protocol Buffers do."""
    row = b"r" * 150
    data = made([(row, b"v")], Codec.NONE)
    ours = write_hadoop_int(162) + struct.pack(">H", 150)
    theirs = bytes([162 & 0x7F | 0x80, 1]) + struct.pack(">H", 150)
    assert data.count(ours) == 1
    assert open_hfile(data.replace(ours, theirs)).get(row) == b"v"


@pytest.mark.parametrize("name", [DEEP, FAKE_KEYS])
def test_blocks_of_other_writers_are_copied_as_they_are_stored(name) -> None:
    """Index keys that are no rows, several levels, and checksums, which are left out."""
    theirs = open_hfile(fixture(name))
    *stored, last = theirs.stored_blocks()
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=0)
    for block in stored:
        writer.append_stored(block)
    ending = DataBlock(b"".join(encode_cell(*cell) for cell in last.load().cells()), 1, "the last block")
    writer.append_block(ending.whole())
    writer.count_stored(len(theirs) - len(ending), 0, 0)
    writer.finish()
    ours = open_hfile(sink.getvalue())
    cells = list(theirs.entries())
    assert list(ours.entries()) == cells
    assert list(ours.get_many([row for row, _ in cells])) == cells


def test_stored_blocks_must_ascend_and_be_packed_alike() -> None:
    (block,) = open_hfile(made([(b"b", b"1")])).stored_blocks()
    (unpacked,) = open_hfile(made([(b"c", b"1")], Codec.NONE)).stored_blocks()
    writer = HFileWriter(io.BytesIO(), created_ms=0)
    writer.append_stored(block)
    with pytest.raises(UsageError, match="must ascend"):
        writer.append_stored(block)
    with pytest.raises(UsageError, match="packed with NONE has no place in an HFile of GZ"):
        writer.append_stored(unpacked)


def test_checksum_of_a_stored_block_is_verified_before_it_goes() -> None:
    data = bytearray(fixture(FAKE_KEYS))
    data[HEADER.size + 20] ^= 1
    block = next(iter(open_hfile(bytes(data)).stored_blocks()))
    with pytest.raises(CorruptTableError, match="does not match its checksum"):
        HFileWriter(io.BytesIO(), created_ms=0).append_stored(block)
