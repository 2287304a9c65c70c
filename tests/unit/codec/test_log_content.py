"""Records of Avro blocks and lists of delete blocks, against real bytes and against fastavro."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.log.log_content import avro_records, decode_deletes, encode_avro_content, encode_deletes
from pyhudi.codec.log.log_file import read_content
from pyhudi.errors import CorruptTableError, SchemaError, UnsupportedError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys, OrderingType
from pyhudi.spec.files.log_block import BlockType
from tests.unit.codec.log_files import real_logs, scan

# The content of a delete block that Hudi 1.1 wrote, and that of an empty one.
ONE_DELETE = bytes.fromhex("00000003 00000018 02 02 0e") + b"TXN-002" + bytes.fromhex("02 12") + b"region=us" + bytes.fromhex("04 00 00")
NO_DELETES = bytes.fromhex("00000003 00000001 00")


def contents(kind: BlockType) -> list[bytes]:
    result = [read_content(io.BytesIO(data), block) for data in real_logs().values() for block in scan(data) if block.type is kind]
    assert result
    return result


def test_real_avro_blocks_are_cut_into_records_and_put_together_again() -> None:
    for content in contents(BlockType.AVRO):
        records = avro_records(content)
        assert len(records) == int.from_bytes(content[4:8], "big") > 0
        assert encode_avro_content([bytes(record) for record in records]) == content


@given(st.lists(st.binary(min_size=1, max_size=300)))
def test_records_survive_writing_and_reading(records: list[bytes]) -> None:
    cut = avro_records(encode_avro_content(records))
    assert [bytes(record) for record in cut] == records
    assert [bytes(cut[index]) for index in range(len(cut))] == records
    assert [bytes(record) for record in cut[1:]] == records[1:]


@pytest.mark.parametrize("version", [0, 4, -1])
def test_avro_content_of_another_version_is_refused(version: int) -> None:
    with pytest.raises(UnsupportedError, match=f"version {version} of an Avro block"):
        avro_records(version.to_bytes(4, "big", signed=True) + encode_avro_content([b"a"])[4:])


@pytest.mark.parametrize("length", [0, -1, 4, 2**31 - 1])
def test_forged_record_length_is_damage(length: int) -> None:
    content = encode_avro_content([b"abc", b"def"])
    with pytest.raises(CorruptTableError, match="bytes"):
        avro_records(content[:15] + length.to_bytes(4, "big", signed=True) + content[19:])


@pytest.mark.parametrize("count", [0, 1, 3, -1, 2**31 - 1])
def test_forged_record_count_is_damage(count: int) -> None:
    content = encode_avro_content([b"abc", b"def"])
    with pytest.raises(CorruptTableError, match=f"{count} records"):
        avro_records(content[:4] + count.to_bytes(4, "big", signed=True) + content[8:])


def encodings(deleted: DeletedKeys) -> Iterator[bytes]:
    """The deletes in all types that their ordering values can have."""
    fields = max((len(value) if isinstance(value, tuple) else 1 for value in deleted.ordering), default=1)
    for types in product(OrderingType, repeat=fields):
        with suppress(SchemaError):
            yield encode_deletes(deleted, types)


def test_real_deletes_are_read_and_written_byte_by_byte() -> None:
    for content in contents(BlockType.DELETE):
        assert content in list(encodings(decode_deletes(content)))


def test_delete_of_the_specification_is_read_and_written() -> None:
    deleted = DeletedKeys(("TXN-002",), ("region=us",), (COMMIT_TIME_DELETE,))
    assert decode_deletes(ONE_DELETE) == deleted
    assert decode_deletes(ONE_DELETE).ordering[0] is COMMIT_TIME_DELETE
    assert encode_deletes(deleted) == ONE_DELETE


def test_empty_list_of_deletes_is_read_and_written() -> None:
    assert decode_deletes(NO_DELETES) == DeletedKeys((), (), ())
    assert encode_deletes(DeletedKeys((), (), ())) == NO_DELETES
