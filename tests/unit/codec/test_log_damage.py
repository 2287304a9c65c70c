"""Damaged and forged log files: what is whole is read, what is not is told, and neither costs time or memory."""

from __future__ import annotations

import io
import struct
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from pyhudi.codec.log import log_file
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.codec.log.log_writer import encode_block, rollback_block
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from tests.unit.codec.log_files import INSTANT, SCHEMA, avro_block, scan

MIB = 1 << 20
ONE = avro_block()
TWO = rollback_block("2", "1")
SIZES = [0, -1, 7, 8, 31, 2**31, 2**63 - 1, -(2**63)]


def kinds(data: bytes) -> list[tuple[str, int, int]]:
    return [(block.type.name, block.offset, block.size) for block in scan(data)]


def long(value: int) -> bytes:
    return struct.pack(">q", value)


@pytest.mark.parametrize("length", range(6, len(TWO)))
def test_block_that_is_cut_off_is_damaged_to_the_end(length: int) -> None:
    assert kinds(ONE + TWO[:length]) == [("AVRO", 0, len(ONE)), ("CORRUPT", len(ONE), length)]


@pytest.mark.parametrize("length", range(6))
def test_rest_shorter_than_a_magic_is_passed_over(length: int) -> None:
    assert kinds(ONE + TWO[:length]) == [("AVRO", 0, len(ONE))]
    assert kinds(ONE + bytes(length)) == [("AVRO", 0, len(ONE))]


@pytest.mark.parametrize("garbage", [b"garbage", bytes(1000), b"#HUDX" * 9, b"x" * (3 * MIB)], ids=["text", "zeros", "almost", "long"])
def test_garbage_between_blocks_takes_the_block_before_with_it(garbage: bytes) -> None:
    """As in Hudi: a block that nothing follows but a magic or the end is not known to be whole."""
    damaged = len(ONE) + len(garbage)
    assert kinds(ONE + garbage + TWO) == [("CORRUPT", 0, damaged), ("COMMAND", damaged, len(TWO))]


def test_block_that_was_begun_and_written_again_is_found_behind_the_damage() -> None:
    cut = ONE[:50]
    assert kinds(TWO + cut + ONE) == [
        ("COMMAND", 0, len(TWO)),
        ("CORRUPT", len(TWO), 50),
        ("AVRO", len(TWO) + 50, len(ONE)),
    ]


def test_block_that_ends_where_a_commit_does_is_whole_whatever_follows() -> None:
    data = ONE + TWO + bytes(100)
    whole = [("AVRO", 0, len(ONE)), ("COMMAND", len(ONE), len(TWO)), ("CORRUPT", len(ONE + TWO), 100)]
    blocks = scan_blocks(io.BytesIO(data), "f", len(data), len(ONE + TWO))
    assert [(block.type.name, block.offset, block.size) for block in blocks] == whole
    assert kinds(data)[1:] == [("CORRUPT", len(ONE), len(TWO) + 100)]


class Zeros(io.BytesIO):
    """Blocks, and zeros that take no memory; counts what is read."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        at = self.tell()
        data = super().read(size)
        self.seek(at + size)
        self.read_bytes += size
        return data + bytes(size - len(data))


def test_search_for_a_block_ends_where_none_can_begin(monkeypatch) -> None:
    monkeypatch.setattr(log_file, "MOST_BLOCK_BYTES", 3 * MIB)
    source = Zeros(ONE)
    with pytest.raises(CorruptTableError, match=r"f has 21474836480 bytes, but no block from byte 0 on"):
        list(scan_blocks(source, "f", 20 << 30))
    assert source.read_bytes < 5 * MIB
    cut = len(ONE) + 2 * MIB
    assert [block.type.name for block in scan_blocks(Zeros(ONE), "f", cut, len(ONE))] == ["AVRO", "CORRUPT"]


def test_several_cut_blocks_in_a_row_are_one_stretch() -> None:
    assert kinds(ONE[:50] * 3 + TWO) == [("CORRUPT", 0, 150), ("COMMAND", 150, len(TWO))]


@pytest.mark.parametrize("distance", [0, 1, *range(16_360, 16_390), *range(MIB + 16_340, MIB + 16_390)])
def test_magic_is_found_where_two_searched_stretches_meet(distance: int) -> None:
    data = b"#HUDI#" + b"y" * distance + TWO
    assert kinds(data) == [("CORRUPT", 0, 6 + distance), ("COMMAND", 6 + distance, len(TWO))]


def test_block_written_twice_is_read_twice() -> None:
    assert kinds(ONE + ONE) == [("AVRO", 0, len(ONE)), ("AVRO", len(ONE), len(ONE))]


@pytest.mark.parametrize("size", [*SIZES, len(ONE) - 14 + 1, len(ONE) - 14 - 1])
def test_forged_block_size_is_damage(size: int) -> None:
    assert kinds(ONE[:6] + long(size) + ONE[14:] + TWO) == [("CORRUPT", 0, len(ONE)), ("COMMAND", len(ONE), len(TWO))]


@pytest.mark.parametrize("length", [*SIZES, len(ONE), len(ONE) - 14])
def test_forged_trailing_length_is_damage(length: int) -> None:
    assert kinds(ONE[:-8] + long(length) + TWO) == [("CORRUPT", 0, len(ONE)), ("COMMAND", len(ONE), len(TWO))]


def content_size_at(block: LogBlock) -> int:
    return block.content_offset - 8


@pytest.mark.parametrize("size", [*SIZES[:2], *SIZES[5:], 12, 14])
def test_forged_content_size_is_an_error_that_names_file_and_offset(size: int) -> None:
    (block,) = scan(ONE)
    assert block.content_size == 13
    at = content_size_at(block)
    forged = ONE[:at] + long(size) + ONE[at + 8 :]
    with pytest.raises(CorruptTableError, match=rf"p/\.f.*: the block at {len(TWO)} has"):
        scan(TWO + forged)


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 64 << 20, len(SCHEMA) + 1, len(SCHEMA) - 1])
def test_forged_header_length_is_an_error(length: int) -> None:
    at = ONE.index(SCHEMA.encode()) - 4
    with pytest.raises(CorruptTableError, match="the block at 0 has"):
        scan(ONE[:at] + struct.pack(">i", length) + ONE[at + 4 :])


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 65, 2**31 - 1])
def test_forged_header_count_is_an_error(count: int) -> None:
    with pytest.raises((CorruptTableError, UnsupportedError), match="the block at 0 has"):
        scan(ONE[:22] + struct.pack(">i", count) + ONE[26:])


def with_ordinals(version: int, kind: int) -> bytes:
    return ONE[:14] + struct.pack(">ii", version, kind) + ONE[22:]


@pytest.mark.parametrize("version", [0, 2, -1])
def test_other_format_version_is_refused_with_file_and_offset(version: int) -> None:
    with pytest.raises(UnsupportedError, match=rf"p/\.f.*: the block at {len(TWO)} has the format version {version}"):
        scan(TWO + with_ordinals(version, 3))


@pytest.mark.parametrize("kind", [7, 8, 2**31 - 1])
def test_block_type_of_a_newer_release_is_refused(kind: int) -> None:
    with pytest.raises(UnsupportedError, match=f"the block at 0 has the type {kind}"):
        scan(with_ordinals(1, kind))


@pytest.mark.parametrize("kind", [2, -1])
def test_block_type_that_nobody_writes_is_damage(kind: int) -> None:
    with pytest.raises(CorruptTableError, match=f"the block at 0 has the type {kind}"):
        scan(with_ordinals(1, kind))


def test_header_entry_of_a_newer_release_is_refused() -> None:
    at = ONE.index(struct.pack(">ii", 2, len(SCHEMA)))
    with pytest.raises(UnsupportedError, match="header entry 9"):
        scan(ONE[:at] + struct.pack(">i", 9) + ONE[at + 4 :])


def test_header_entry_that_comes_twice_is_damage() -> None:
    at = ONE.index(struct.pack(">ii", 2, len(SCHEMA)))
    with pytest.raises(CorruptTableError, match="header entry 0 twice"):
        scan(ONE[:at] + struct.pack(">i", 0) + ONE[at + 4 :])


def test_header_text_that_is_not_utf8_is_damage() -> None:
    with pytest.raises(CorruptTableError, match="not UTF-8"):
        scan(ONE.replace(b'"r"', b'"\xff"'))


@pytest.mark.parametrize(
    ("kind", "header", "message"),
    [
        (BlockType.AVRO, BlockHeader(schema_json=SCHEMA), "no instant"),
        (BlockType.DELETE, BlockHeader(), "no instant"),
        (BlockType.AVRO, BlockHeader(instant=INSTANT), "no schema"),
        (BlockType.CDC, BlockHeader(instant=INSTANT), "no schema"),
        (BlockType.COMMAND, BlockHeader(instant=INSTANT, command="0"), "no target instant"),
    ],
)
def test_header_without_what_its_block_needs_is_damage(kind: BlockType, header: BlockHeader, message: str) -> None:
    with pytest.raises(CorruptTableError, match=f"the block at 0 has {message}"):
        scan(encode_block(kind, header, b""))


@pytest.mark.parametrize("command", ["1", "", "ROLLBACK"])
def test_unknown_command_is_refused(command: str) -> None:
    header = BlockHeader(instant=INSTANT, target_instant="1", command=command)
    with pytest.raises(UnsupportedError, match=f"the block at 0 has the command '{command}'"):
        scan(encode_block(BlockType.COMMAND, header, b""))


def test_footer_with_entries_is_passed_over_and_one_that_is_too_long_is_damage() -> None:
    footer = struct.pack(">iii", 1, 0, 2) + b"ab"
    (block,) = scan(ONE)
    body = ONE[14:-12] + footer

    def framed(inner: bytes) -> bytes:
        return ONE[:6] + long(len(inner) + 8) + inner + long(len(inner) + 14)

    assert scan(framed(body))[0].content_size == block.content_size
    with pytest.raises(CorruptTableError, match="1 bytes behind its footer"):
        scan(framed(body + b"x"))


def test_file_that_became_shorter_is_damage() -> None:
    data = ONE + TWO
    with pytest.raises(CorruptTableError, match=r"p ends at byte \d+, expected"):
        list(scan_blocks(io.BytesIO(data), "p", len(data) + 40))
    (block, _) = scan(data)
    with pytest.raises(CorruptTableError, match="before the content"):
        read_content(io.BytesIO(data[: block.content_offset + 5]), block)


def hostile(size: int) -> dict[str, bytes]:
    """Files of about `size` bytes that make a careless reader slow or large."""
    # A frame that points to the end, where only the trailing length is wrong.
    far = b"#HUDI#" + long(size - 100)
    tiny = ONE[:6] + long(8) + long(14)
    return {
        "magics": b"#HUDI#" * (size // 6),
        "far sizes": far * (size // len(far)),
        "blocks and magics": (TWO + b"#HUDI#") * (size // (len(TWO) + 6)),
        "small blocks": TWO * (size // len(TWO)),
        "frames without inside": tiny * (size // len(tiny)),
        "nearly magics": b"#HUDI#" + b"#HUDI" * (size // 5),
        "zeros": b"#HUDI#" + bytes(size),
    }


def scan_file(path: Path) -> None:
    with path.open("rb") as source:
        try:
            for _ in scan_blocks(source, "log", path.stat().st_size):
                pass
        except CorruptTableError:
            assert path.name == "frames without inside"


@pytest.mark.parametrize("name", hostile(1000))
def test_hostile_file_takes_less_than_a_second_per_megabyte(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(hostile(MIB)[name])
    # The measurement of coverage traces each line, which costs several times the scan.
    traced = sys.gettrace()
    sys.settrace(None)
    try:
        begin = time.process_time()
        scan_file(tmp_path / name)
        seconds = time.process_time() - begin
    finally:
        sys.settrace(traced)
    assert seconds < 1


@pytest.mark.parametrize("name", hostile(1000))
def test_hostile_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(hostile(MIB // 4)[name])
    tracemalloc.start()
    scan_file(tmp_path / name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MIB


def test_time_grows_with_the_file_also_when_it_is_full_of_magics() -> None:
    def seconds(size: int) -> float:
        data = hostile(size)["magics"]
        begin = time.process_time()
        scan(data)
        return time.process_time() - begin

    assert seconds(2 * MIB) < 16 * min(seconds(MIB // 2) for _ in range(3))
