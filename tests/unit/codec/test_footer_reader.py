"""Footers of files that are alike: what is decoded once is what decoding each gives, and damage is told."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.codec.parquet import footer_reader
from pyhudi.codec.parquet.compact_protocol import BINARY, LIST, STRUCT, ThriftList, ThriftStruct, Value, read_struct, write_struct
from pyhudi.codec.parquet.footer_reader import Footer, FooterReader
from pyhudi.codec.parquet.page_files import footer_length
from pyhudi.codec.parquet.thrift_fields import read_until
from pyhudi.errors import CorruptTableError

NARROW = pa.table({"a": [1, 2, 3]})
SHAPES = [
    NARROW,
    NARROW.slice(0, 1),
    NARROW.slice(0, 0),
    NARROW.rename_columns(["b"]),
    NARROW.append_column("c", pa.array(["x", "y", None])),
]


def file_of(rows: pa.Table, entries: Sequence[str]) -> bytes:
    output = io.BytesIO()
    with pq.ParquetWriter(output, rows.schema, store_schema=False) as writer:
        writer.write_table(rows, row_group_size=2)
        if entries:
            writer.add_key_value_metadata({name: name * 100 for name in entries})
    return output.getvalue()


def footer_of(data: bytes) -> bytes:
    return data[-8 - footer_length(data[-8:], "a file") : -8]


FILES = [file_of(rows, entries) for rows, entries in product(SHAPES, [(), ("k",), ("k", "l")])]
FOOTERS = [*map(footer_of, FILES)]


def decoded(footer: Footer) -> ThriftStruct:
    """Return a footer as decoding all of it gives it."""
    groups: list[Value] = [
        {**group.fields, 1: (LIST, ThriftList(STRUCT, [chunk.shifted(0) + write_struct(chunk.rest, after=3) for chunk in group.chunks]))}
        for group in footer.groups
    ]
    pairs: list[Value] = [{1: (BINARY, bytes(key)), 2: (BINARY, bytes(value))} for key, value in footer.entries]
    whole = write_struct({**footer.fields, 4: (LIST, ThriftList(STRUCT, groups)), 5: (LIST, ThriftList(STRUCT, pairs))})
    fields, _ = read_struct(whole, "a footer")
    return fields if pairs else {number: value for number, value in fields.items() if number != 5}


def identity_of(footers: FooterReader, data: bytes) -> bytes:
    return footers.identity(lambda offset, length: data[offset : offset + length], len(data), "a file")


@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_each_footer_is_read_as_it_is_alone(kind: type[bytes]) -> None:
    footers = FooterReader()
    for one, other in product(FOOTERS, FOOTERS):
        assert decoded(footers.read(kind(one), "one")) == read_struct(one, "one")[0]
        assert decoded(footers.read(kind(other), "other")) == read_struct(other, "other")[0]


def test_files_of_one_schema_and_library_are_identical() -> None:
    footers = FooterReader()
    identities = [identity_of(footers, data) for data in FILES]
    assert [identities.index(one) for one in identities] == [0] * 9 + [9] * 3 + [12] * 3
    assert identities == [identity_of(FooterReader(), data) for data in FILES]
    of_other = FILES[1].replace(b"parquet-cpp", b"parquet-xpp")
    assert identity_of(footers, of_other) != identity_of(footers, FILES[1])


def test_of_a_file_that_is_like_another_only_begin_and_end_of_the_footer_are_read() -> None:
    footers = FooterReader()
    first, second = FILES[1], FILES[4]
    identity = identity_of(footers, first)
    read: list[int] = []

    def count(offset: int, length: int) -> bytes:
        read.append(length)
        return second[offset : offset + length]

    assert footers.identity(count, len(second), "a file") == identity
    assert sum(read) < len(footer_of(second)) / 2


def test_a_schema_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begins: list[int] = []

    def count(data: bytes, at: int, *arguments: Any) -> object:
        begins.append(at)
        return read_until(data, at, *arguments)

    monkeypatch.setattr(footer_reader, "read_until", count)
    footers = FooterReader()
    with_entries = [FOOTERS[number] for number in (1, 2, 4, 5, 7, 8)]
    for footer in with_entries:
        footers.read(footer, "a footer")
    assert len(begins) == len(with_entries)
    assert begins.count(0) == 1


def test_a_footer_that_is_cut_is_an_error() -> None:
    footers = FooterReader()
    footers.read(FOOTERS[0], "the first")
    for end in range(len(FOOTERS[0]) - 1):
        with pytest.raises(CorruptTableError, match="a cut one"):
            footers.read(FOOTERS[0][:end], "a cut one")
