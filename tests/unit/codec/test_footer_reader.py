"""Footers of files that are alike: what is decoded once is what decoding each gives, and damage is told."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.codec.parquet import footer_reader
from pyhudi.codec.parquet.compact_protocol import read_struct
from pyhudi.codec.parquet.footer_reader import FooterReader
from pyhudi.codec.parquet.page_files import footer_length
from pyhudi.errors import CorruptTableError

NARROW = pa.table({"a": [1, 2, 3]})
SHAPES = [
    NARROW,
    NARROW.slice(0, 1),
    NARROW.slice(0, 0),
    NARROW.rename_columns(["b"]),
    NARROW.append_column("c", pa.array(["x", "y", None])),
]


def footer_of(rows: pa.Table, entries: Sequence[str]) -> bytes:
    output = io.BytesIO()
    with pq.ParquetWriter(output, rows.schema, store_schema=False) as writer:
        writer.write_table(rows, row_group_size=2)
        if entries:
            writer.add_key_value_metadata({name: name * 100 for name in entries})
    data = output.getvalue()
    return data[-8 - footer_length(data[-8:], "a file") : -8]


FOOTERS = [footer_of(rows, entries) for rows, entries in product(SHAPES, [(), ("k",), ("k", "l")])]


@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_each_footer_is_read_as_it_is_alone(kind: type[bytes]) -> None:
    footers = FooterReader()
    for one, other in product(FOOTERS, FOOTERS):
        assert footers.read(kind(one), "one") == read_struct(one, "one")[0]
        assert footers.read(kind(other), "other") == read_struct(other, "other")[0]


def test_files_of_one_schema_and_library_are_identical() -> None:
    footers = FooterReader()
    identities = [footers.identity(footer, "a footer") for footer in FOOTERS]
    assert [identities.index(one) for one in identities] == [0] * 9 + [9] * 3 + [12] * 3
    assert identities == [FooterReader().identity(footer, "a footer") for footer in FOOTERS]
    of_other = FOOTERS[1].replace(b"parquet-cpp", b"parquet-xpp")
    assert footers.identity(of_other, "a footer") != footers.identity(FOOTERS[1], "a footer")


def test_a_schema_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begins: list[int] = []

    def count(data: bytes, what: str, at: int = 0, *, after: int = 0) -> object:
        begins.append(at)
        return read_struct(data, what, at, after=after)

    monkeypatch.setattr(footer_reader, "read_struct", count)
    footers = FooterReader()
    with_entries = [FOOTERS[number] for number in (1, 2, 4, 5, 7, 8)]
    for footer in with_entries:
        footers.read(footer, "a footer")
        footers.identity(footer, "a footer")
    assert len(begins) == len(with_entries)
    assert begins.count(0) == 1


def test_a_footer_that_is_cut_is_an_error() -> None:
    footers = FooterReader()
    footers.read(FOOTERS[0], "the first")
    for end in range(len(FOOTERS[0]) - 1):
        with pytest.raises(CorruptTableError, match="a cut one"):
            footers.read(FOOTERS[0][:end], "a cut one")
