"""Blocks of log files: those that Apache Hudi wrote, and those of the specification's examples."""

from __future__ import annotations

import io
from collections import Counter

import pytest

from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.codec.log.log_writer import encode_block, rollback_block
from pyhudi.errors import CorruptTableError
from pyhudi.spec.files.log_block import ROLLBACK_COMMAND, BlockHeader, BlockType
from tests.unit.codec.log_files import INSTANT, SCHEMA, avro_block, real_logs, scan

# A whole rollback block that Hudi 0.15 wrote.
ROLLBACK = bytes.fromhex(
    "23485544 4923 000000000000005b 00000001 00000000 00000003"
    "00000000 00000011 3230323530313236303430393336353738 00000003 00000001 30"
    "00000001 00000011 3230323530313236303430383236383738 0000000000000000 00000000 0000000000000061"
)


def test_blocks_of_real_files_follow_each_other_without_a_gap() -> None:
    assert real_logs()
    for path, data in real_logs().items():
        at = 0
        for block in scan(data, path):
            assert (block.path, block.offset) == (path, at)
            at += block.size
        assert at == len(data)


def test_real_files_hold_each_kind_of_block_that_apache_hudi_writes() -> None:
    kinds = Counter(block.type for data in real_logs().values() for block in scan(data))
    assert set(kinds) >= {BlockType.AVRO, BlockType.PARQUET, BlockType.DELETE, BlockType.COMMAND}
    assert BlockType.CORRUPT not in kinds


def test_real_blocks_are_written_back_byte_by_byte_but_for_the_order_of_header_entries() -> None:
    identical = 0
    for data in real_logs().values():
        for block in scan(data):
            written = encode_block(block.type, block.header, read_content(io.BytesIO(data), block))
            original = data[block.offset : block.offset + block.size]
            assert len(written) == len(original)
            # The header is what precedes the content, whose place is the same.
            begin = block.content_offset - block.offset
            assert written[begin:] == original[begin:]
            assert sorted(written[:begin]) == sorted(original[:begin])
            identical += written == original
    assert identical > 0


def test_contents_of_parquet_blocks_are_whole_parquet_files() -> None:
    for data in real_logs().values():
        for block in scan(data):
            if block.type is BlockType.PARQUET:
                content = read_content(io.BytesIO(data), block)
                assert (content[:4], content[-4:]) == (b"PAR1", b"PAR1")


def test_rollback_block_of_apache_hudi_is_read() -> None:
    (block,) = scan(ROLLBACK)
    assert (block.type, block.size, block.content_size) == (BlockType.COMMAND, 105, 0)
    assert block.header == BlockHeader(instant="20250126040936578", target_instant="20250126040826878", command=ROLLBACK_COMMAND)


def test_rollback_block_is_written_as_apache_hudi_does() -> None:
    written = rollback_block("20250126040936578", "20250126040826878")
    assert len(written) == len(ROLLBACK)
    assert scan(written) == scan(ROLLBACK)
    assert (written[:26], written[-20:]) == (ROLLBACK[:26], ROLLBACK[-20:])


def test_every_header_entry_survives_writing_and_reading() -> None:
    header = BlockHeader(
        instant=INSTANT,
        target_instant="2",
        schema_json='{"doc":"größer"}',
        command="0",
        replaces=("3", "4"),
        positions="AQAA",
        positions_of="5",
        attempt="0,1",
        is_partial=True,
    )
    (block,) = scan(encode_block(BlockType.AVRO, header, b"x"))
    assert block.header == header


def test_headers_longer_than_one_read_are_read() -> None:
    schema = '{"doc":"' + "x" * 300_000 + '"}'
    data = encode_block(BlockType.AVRO, BlockHeader(instant=INSTANT, schema_json=schema), b"abc") + avro_block()
    first, second = scan(data)
    assert first.header.schema_json == schema
    assert read_content(io.BytesIO(data), first) == b"abc"
    assert second.header.schema_json == SCHEMA


def test_contents_are_passed_over_unread() -> None:
    class Counting(io.BytesIO):
        bytes_read = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.bytes_read += len(data)
            return data

    data = avro_block(bytes(10 << 20)) * 3
    source = Counting(data)
    assert len(list(scan_blocks(source, "p", len(data)))) == 3
    assert source.bytes_read < 200_000


def test_source_that_answers_in_small_pieces_is_read() -> None:
    class Dribbling(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 7))

    data = avro_block() + ROLLBACK
    blocks = list(scan_blocks(Dribbling(data), "p", len(data)))
    assert blocks == scan(data, "p")
    assert read_content(Dribbling(data), blocks[0]) == read_content(io.BytesIO(data), blocks[0])


def test_empty_file_has_no_blocks() -> None:
    assert scan(b"") == []


def test_file_that_does_not_start_with_the_magic_is_refused_by_name() -> None:
    with pytest.raises(CorruptTableError, match="p/x is not a log file"):
        scan(b"PAR1" + ROLLBACK, "p/x")
