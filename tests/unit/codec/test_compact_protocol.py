"""Structs of Thrift's compact protocol: what Arrow writes is read and written again byte for byte, and damage is told."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.parquet import compact_protocol as compact
from pyhudi.codec.parquet.compact_protocol import ThriftList, ThriftMap, read_struct, write_struct
from pyhudi.codec.parquet.page_files import flat_columns, footer_length, read_pages
from pyhudi.errors import CorruptTableError

WHOLE = st.integers(-(2**63), 2**63 - 1)


def values(kind: int) -> st.SearchStrategy[Any]:
    return {compact.I64: WHOLE, compact.BINARY: st.binary(max_size=20), compact.TRUE: st.booleans(), compact.I8: st.integers(-128, 127)}[
        kind
    ]


def list_field(kind: int, items: list[Any]) -> tuple[int, Any]:
    return compact.LIST, ThriftList(kind, items)


def map_field(entries: Any) -> tuple[int, Any]:
    return compact.MAP, ThriftMap(compact.BINARY, compact.I64, entries)


Field = st.SearchStrategy[tuple[int, Any]]
KINDS = st.sampled_from([compact.I64, compact.BINARY, compact.TRUE, compact.I8])
LEAVES: Field = KINDS.flatmap(lambda kind: st.tuples(st.just(kind), values(kind)))
LISTS: Field = KINDS.flatmap(lambda kind: st.lists(values(kind), max_size=20).map(lambda items: list_field(kind, items)))
MAPS: Field = st.lists(st.tuples(st.binary(max_size=3), WHOLE), min_size=1, max_size=3).map(map_field)
FLOATS: Field = st.floats(allow_nan=False).map(lambda value: (compact.DOUBLE, value))


def struct_field(fields: dict[int, Any]) -> tuple[int, Any]:
    return compact.STRUCT, fields


def structs(fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[int, Any]]:
    return st.dictionaries(st.integers(-(2**15), 2**15 - 1), fields, max_size=5)


STRUCTS = structs(st.recursive(st.one_of(LEAVES, LISTS, MAPS, FLOATS), lambda inner: structs(inner).map(struct_field), max_leaves=8))


def footer_of(data: bytes) -> bytes:
    length = footer_length(data[-8:], "a file")
    return data[-8 - length : -8]


def file_of(table: pa.Table, **options: Any) -> bytes:
    output = io.BytesIO()
    pq.write_table(table, output, **options)
    return output.getvalue()


@given(STRUCTS)
def test_what_is_written_is_read_again(fields: dict[int, Any]) -> None:
    data = write_struct(fields)
    assert read_struct(data + b"more", "a struct") == (fields, len(data))


def test_footers_of_arrow_are_written_byte_for_byte() -> None:
    entries = pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int32()))
    table = pa.table({"a": range(40), "b": [{"c": [1.5, None], "d": "x"}] * 40, "e": entries})
    for options in ({"row_group_size": 2}, {"write_page_index": True, "sorting_columns": [pq.SortingColumn(0)]}, {"store_schema": False}):
        footer = footer_of(file_of(table, **options))
        fields, length = read_struct(footer, "a footer")
        assert length == len(footer)
        assert write_struct(fields) == footer
        assert [*flat_columns(fields)] == ["a"]


@given(st.binary(max_size=60))
def test_any_bytes_are_a_struct_or_an_error_that_names_them(data: bytes) -> None:
    try:
        fields, length = read_struct(data, "those bytes")
    except CorruptTableError as error:
        assert "those bytes" in str(error)  # noqa: PT017 - other bytes are no error
    else:
        assert length <= len(data)
        assert read_struct(write_struct(fields), "again")[0].keys() == fields.keys()


def test_a_footer_that_is_cut_is_an_error() -> None:
    footer = footer_of(file_of(pa.table({"a": [1, 2, 3]})))
    for end in range(len(footer) - 1):
        with pytest.raises(CorruptTableError, match="a footer"):
            read_struct(footer[:end], "a footer")


def test_structs_without_end_are_an_error() -> None:
    with pytest.raises(CorruptTableError, match="levels deep"):
        read_struct(bytes([0x1C]) * 100, "a footer")


def test_an_offset_index_names_pages_one_after_the_other() -> None:
    page = {1: (compact.I64, 4), 2: (compact.I32, 10), 3: (compact.I64, 0)}
    other = {1: (compact.I64, 14), 2: (compact.I32, 10), 3: (compact.I64, 7)}

    def index(*pages: Any) -> bytes:
        return write_struct({1: (compact.LIST, ThriftList(compact.STRUCT, [*pages]))})

    assert [one.first_row for one in read_pages(index(page, other), "an index")] == [0, 7]
    for damaged in (index(), index(other), index(page, page), index({**page, 2: (compact.I32, -1)}), write_struct({1: (compact.I64, 1)})):
        with pytest.raises(CorruptTableError):
            read_pages(damaged, "an index")
