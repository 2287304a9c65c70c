"""Damaged and forged HFiles give typed errors, at once and without much memory."""

from __future__ import annotations

import contextlib
import io
import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.hfile import HFileReader
from pyhudi.codec.hfile.block import HEADER, Codec, Magic, pack_block
from pyhudi.codec.hfile.data_block import encode_cell
from pyhudi.codec.hfile.trailer import Trailer, parse_trailer, render_trailer
from pyhudi.errors import CorruptTableError, UnsupportedError
from tests.unit.codec.hfiles import DEEP, NOT_COMPRESSED, fixture, made, open_hfile

CELLS = [(f"row-{number:03}".encode(), f"value-{number}".encode()) for number in range(100)]
SMALL = made(CELLS, block_bytes=800, info={"schema": b"{}"}, meta_blocks={"bloomFilter": b"x" * 50})
PLAIN = made(CELLS, Codec.NONE, block_bytes=800)


def read_everything(data: bytes) -> list[tuple[bytes, bytes]]:
    reader = open_hfile(data)
    reader.meta_block("bloomFilter")
    list(reader.get_many(row for row, _ in CELLS))
    list(reader.scan(b"row-04"))
    return list(reader.entries())


@pytest.mark.parametrize("data", [SMALL, PLAIN], ids=["gz", "none"])
def test_every_cut_is_refused(data: bytes) -> None:
    for end in range(len(data)):
        with pytest.raises(CorruptTableError):
            read_everything(data[:end])


def test_every_changed_byte_of_a_compressed_file_gives_the_same_rows_or_a_typed_error() -> None:
    for at in {*range(len(SMALL) - 4096 + 150), len(SMALL) - 1}:
        data = bytearray(SMALL)
        data[at] ^= 0x41
        with contextlib.suppress(CorruptTableError, UnsupportedError):
            assert read_everything(bytes(data)) == CELLS


@given(st.integers(0, len(PLAIN) - 1), st.integers(0, 255))
@settings(max_examples=500)
def test_changed_byte_of_a_plain_file_gives_rows_or_a_typed_error(at: int, byte: int) -> None:
    data = bytearray(PLAIN)
    data[at] = byte
    with contextlib.suppress(CorruptTableError, UnsupportedError):
        read_everything(bytes(data))


@pytest.mark.parametrize("at", [40, 5000, 16500, 100_000])
def test_changed_byte_below_a_checksum_is_noticed(at: int) -> None:
    data = bytearray(fixture(NOT_COMPRESSED))
    data[at] ^= 1
    with pytest.raises(CorruptTableError, match=r"checksum|no block|claims|kind"):
        list(open_hfile(bytes(data)).entries())


@given(st.binary(max_size=300))
def test_any_bytes_in_front_of_a_trailer_give_a_typed_error_or_no_rows(body: bytes) -> None:
    with contextlib.suppress(CorruptTableError, UnsupportedError):
        read_everything(body + SMALL[-4096:])


def with_trailer(data: bytes, **changes: int) -> bytes:
    trailer = parse_trailer(data[-4096:], len(data), "it")
    values = {name: getattr(trailer, name) for name in Trailer.__slots__}
    return data[:-4096] + render_trailer(Trailer(**values | changes))


@pytest.mark.parametrize("name", ["file_info_offset", "load_on_open_offset", "data_index_count", "meta_index_count", "index_levels"])
@pytest.mark.parametrize("value", [-1, 1 << 31, (1 << 62) + 1, 2])
def test_forged_trailer_is_refused(name: str, value: int) -> None:
    data = made(CELLS)
    with pytest.raises(CorruptTableError):
        read_everything(with_trailer(data, **{name: value}))


def test_forged_trailer_whose_offset_wraps_around_is_refused() -> None:
    with pytest.raises(CorruptTableError):
        read_everything(with_trailer(SMALL, load_on_open_offset=(1 << 64) - 1))


@pytest.mark.parametrize("codec", [Codec.LZO, Codec.SNAPPY, Codec.LZ4, Codec.BZIP2, Codec.ZSTD])
def test_other_compression_is_refused_by_name(codec: Codec) -> None:
    with pytest.raises(UnsupportedError, match=codec.name):
        open_hfile(with_trailer(SMALL, codec=codec))


def test_other_version_is_refused_by_number() -> None:
    with pytest.raises(UnsupportedError, match="version 2"):
        open_hfile(SMALL[:-1] + b"\2")


def test_encrypted_file_is_refused() -> None:
    trailer = bytearray(SMALL[-4096:])
    size = trailer[8]
    trailer[9 + size : 9 + size + 4] = b"\x6a\x02ab"  # field 13, two bytes
    trailer[8] = size + 4
    with pytest.raises(UnsupportedError, match="encrypted"):
        open_hfile(SMALL[:-4096] + bytes(trailer))


@pytest.mark.parametrize("name", ["hfile.MAX_TAGS_LEN", "MAX_MEMSTORE_TS_KEY"])
def test_cells_with_tags_or_versions_are_refused(name: str) -> None:
    data = made(CELLS, Codec.NONE, info={"hfile.MAX_TAGS_LEN": struct.pack(">i", int(name == "hfile.MAX_TAGS_LEN"))})
    if name == "MAX_MEMSTORE_TS_KEY":
        at = data.index(name.encode()) + len(name) + 2
        data = data[: at + 7] + b"\1" + data[at + 8 :]
    with pytest.raises(UnsupportedError, match=r"tags|versions"):
        open_hfile(data)


def bomb(unpacked: int) -> bytes:
    """A file whose data block says 100 bytes and unpacks to many."""
    data = bytearray(made([(b"a", b"v" * 78)]))
    stream = zlib.compressobj(wbits=31)
    packed = b"".join([stream.compress(bytes(1 << 20)) for _ in range(unpacked >> 20)]) + stream.flush()
    block = bytearray(pack_block(Magic.DATA, b"", Codec.NONE, -1))
    head = HEADER.unpack_from(block)
    words = 4 * -(-(len(packed) + 33) // 16384)
    header = HEADER.pack(head[0], len(packed) + words, 100, -1, 0, 16384, len(packed) + 33)
    return bytes(header + packed + bytes(words)) + bytes(data)


def test_block_that_unpacks_to_more_than_it_says_is_refused_without_the_memory() -> None:
    data = bomb(200 << 20)
    body = len(data) - len(made([(b"a", b"v" * 78)]))
    source = made([(b"a", b"v" * 78)], Codec.GZ)
    trailer = parse_trailer(source[-4096:], len(source), "it")
    index = struct.pack(">qi", 0, body) + bytes([15]) + b"\0\1a\0" + b"\x7f" + b"\xff" * 7 + b"\4" + b"\0\0"
    root = pack_block(Magic.ROOT_INDEX, index, Codec.GZ, -1)
    meta = pack_block(Magic.ROOT_INDEX, b"", Codec.GZ, -1)
    info = source[trailer.file_info_offset : -4096]
    forged = data[:body] + root + meta + info
    values = {name: getattr(trailer, name) for name in Trailer.__slots__}
    values |= {"load_on_open_offset": body, "file_info_offset": body + len(root) + len(meta)}
    forged += render_trailer(Trailer(**values))
    tracemalloc.start()
    with pytest.raises(CorruptTableError, match="does not unpack"):
        list(open_hfile(forged).entries())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_forged_block_size_is_refused_without_the_memory() -> None:
    data = bytearray(SMALL)
    struct.pack_into(">iiqBii", data, 8, 0x7FFFFFF0, 0x7FFFFFF0, -1, 0, 16384, 0x7FFFFFF0)
    tracemalloc.start()
    with pytest.raises(CorruptTableError, match="claims"):
        list(open_hfile(bytes(data)).entries())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_index_that_leads_in_circles_is_refused() -> None:
    """An intermediate node whose entries all point back to itself must not be walked for ever."""
    data = fixture(DEEP)
    trailer = parse_trailer(data[-4096:], len(data), "it")
    at = 239268  # the first intermediate node
    size = 314
    key = b"\0\1a\0" + b"\x7f" + b"\xff" * 7 + b"\4"
    index = b"".join(struct.pack(">qi", at, size) + bytes([len(key)]) + key for _ in range(2))
    root = pack_block(Magic.ROOT_INDEX, index, Codec.GZ, -1)
    tail = data[trailer.load_on_open_offset + 189 : -4096]  # meta index and file info stay
    offset = trailer.load_on_open_offset + len(root)
    values = {name: getattr(trailer, name) for name in Trailer.__slots__} | {
        "data_index_count": 2,
        "index_levels": 9,
        "file_info_offset": offset + trailer.file_info_offset - trailer.load_on_open_offset - 189,
    }
    forged = data[: trailer.load_on_open_offset] + root + tail + render_trailer(Trailer(**values))
    with pytest.raises(CorruptTableError, match=r"order|kind|twice"):
        list(open_hfile(forged).entries())


def test_rows_out_of_order_are_not_looked_up_but_still_listed() -> None:
    ordered = made([(b"aa", b"1"), (b"bb", b"2")], Codec.NONE)
    swapped = ordered.replace(encode_cell(b"aa", b"1") + encode_cell(b"bb", b"2"), encode_cell(b"bb", b"2") + encode_cell(b"aa", b"1"), 1)
    assert [row for row, _ in open_hfile(swapped).entries()] == [b"bb", b"aa"]
    with pytest.raises(CorruptTableError, match="order"):
        open_hfile(swapped).get(b"aa")


def test_file_shorter_than_said_is_refused() -> None:
    with pytest.raises(CorruptTableError, match="ends at byte"):
        HFileReader(io.BytesIO(SMALL), len(SMALL) + 10)
