"""Rows to Avro datums and back."""

from __future__ import annotations

import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.log.log_content import encode_avro_content
from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.avro_rows import decode, encode
from pyhudi.schema.avro_arrow import arrow_to_avro

FLAT = pa.schema(
    {
        "flag": pa.bool_(),
        "small": pa.int32(),
        "large": pa.int64(),
        "single": pa.float32(),
        "double": pa.float64(),
        "text": pa.string(),
        "raw": pa.binary(),
        "day": pa.date32(),
        "moment": pa.timestamp("us", "UTC"),
        "local": pa.timestamp("us"),
        "amount": pa.decimal128(20, 3),
    }
)
NESTED = pa.schema(
    {
        "id": pa.int64(),
        "list": pa.list_(pa.field("element", pa.int32())),
        "map": pa.map_(pa.string(), pa.field("value", pa.float64())),
        "struct": pa.struct({"a": pa.string(), "b": pa.decimal128(9, 2)}),
        "day": pa.date32(),
    }
)
moments = st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2200, 1, 1))
rows = st.fixed_dictionaries(
    {
        "flag": st.none() | st.booleans(),
        "small": st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
        "large": st.none() | st.integers(-(1 << 63), (1 << 63) - 1),
        "single": st.none() | st.floats(width=32, allow_nan=False),
        "double": st.none() | st.floats(allow_nan=False),
        "text": st.none() | st.text(max_size=40),
        "raw": st.none() | st.binary(max_size=40),
        "day": st.none() | st.dates(dt.date(1500, 1, 1)),
        "moment": st.none() | moments.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
        "local": st.none() | moments,
        "amount": st.none() | st.decimals(-(10**15), 10**15, places=3),
    }
)


def decoded(table: pa.Table, avro: str, columns: list[str] | None = None) -> pa.Table:
    file_slices = list(decode(encode_avro_content(encode(table, avro)), avro, columns or table.column_names))
    return pa.concat_tables(file_slices)


@given(st.lists(rows, min_size=1, max_size=20))
def test_rows_come_back_as_they_were(entries: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(entries, schema=FLAT)
    assert decoded(table, arrow_to_avro(FLAT, "t")).equals(table)


def test_columns_that_nobody_asked_for_are_passed_over() -> None:
    table = pa.Table.from_pylist([{"text": "a" * 20, "small": 5, "double": 0.5}, {"text": None, "raw": b"x"}], schema=FLAT)
    result = decoded(table, arrow_to_avro(FLAT, "t"), ["raw", "small", "unknown"])
    assert result.to_pydict() == {"small": [5, None], "raw": [None, b"x"]}


def test_nested_columns_come_back_as_they_were() -> None:
    first = {"id": 1, "list": [1, None], "map": [("a", 0.5)], "struct": {"a": "x", "b": Decimal("1.25")}, "day": dt.date(2026, 1, 2)}
    table = pa.Table.from_pylist([first, dict.fromkeys(NESTED.names)], schema=NESTED)
    assert decoded(table, arrow_to_avro(NESTED, "t")).equals(table)


def test_a_union_may_have_its_null_last_and_fields_no_union_at_all() -> None:
    fields = [{"name": "a", "type": ["string", "null"]}, {"name": "b", "type": "long"}, {"name": "c", "type": ["null", "int"]}]
    avro = json.dumps({"type": "record", "name": "r", "fields": fields})
    entries = [{"a": "x", "b": 1, "c": None}, {"a": None, "b": -2, "c": 3}]
    datums = []
    for entry in entries:
        sink = io.BytesIO()
        fastavro.schemaless_writer(sink, json.loads(avro), entry)
        datums.append(sink.getvalue())
    result = list(decode(encode_avro_content(datums), avro, ["a", "b", "c"]))
    assert result[0].to_pylist() == entries


def test_more_rows_than_are_decoded_at_once_come_in_pieces() -> None:
    table = pa.table({"n": pa.array(range(40_000), pa.int64())})
    avro = arrow_to_avro(table.schema, "t")
    file_slices = list(decode(encode_avro_content(encode(table, avro)), avro, ["n"]))
    assert (len(file_slices), pa.concat_tables(file_slices).equals(table)) == (3, True)


def test_a_value_that_does_not_fit_its_column_is_refused() -> None:
    avro = '{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}'
    with pytest.raises(SchemaError, match="Row 1"):
        encode(pa.table({"n": pa.array([1, None], pa.int64())}), avro)


@pytest.mark.parametrize("schema", [FLAT, NESTED], ids=["flat", "nested"])
@settings(max_examples=200)
@given(damage=st.lists(st.tuples(st.integers(8, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_records_give_rows_or_a_typed_error(schema: pa.Schema, damage: list[tuple[int, int]]) -> None:
    table = pa.Table.from_pylist([{"text": "a" * 30, "large": 1 << 40, "list": [1, 2]}, {"id": 7, "amount": Decimal(-5)}], schema=schema)
    avro = arrow_to_avro(schema, "t")
    content = bytearray(encode_avro_content(encode(table, avro)))
    for index, byte in damage:
        content[8 + (index - 8) % (len(content) - 8)] = byte
    try:
        result = list(decode(bytes(content), avro, schema.names))
    except CorruptTableError:
        return
    assert sum(file_slice.num_rows for file_slice in result) == table.num_rows
    for file_slice in result:
        file_slice.validate(full=True)
