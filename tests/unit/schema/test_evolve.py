"""What a table's schema becomes, and which data it refuses."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaError
from pyhudi.schema.evolve import evolve

TABLE = pa.schema({"id": pa.int32(), "name": pa.string()})


def one(arrow: pa.DataType) -> pa.Schema:
    return pa.schema({"c": arrow})


def one_named(name: str, arrow: pa.DataType) -> pa.Schema:
    return pa.schema({name: arrow})


def test_new_column_is_appended_nullable() -> None:
    data = pa.schema([pa.field("id", pa.int32()), pa.field("more", pa.int64(), nullable=False)])
    assert evolve(TABLE, data) == pa.schema({"id": pa.int32(), "name": pa.string(), "more": pa.int64()})


def test_names_are_matched_regardless_of_case_and_keep_the_table_s() -> None:
    assert evolve(TABLE, pa.schema({"NAME": pa.string(), "Id": pa.int32()})) == TABLE


def test_meta_columns_of_the_data_are_dropped() -> None:
    assert evolve(TABLE, pa.schema({"_hoodie_commit_time": pa.string(), "id": pa.int32()})) == TABLE


@pytest.mark.parametrize(
    ("table", "data", "result"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int64(), pa.int32(), pa.int64()),
        (pa.int32(), pa.float64(), pa.float64()),
        (pa.float64(), pa.int64(), pa.float64()),
        (pa.int32(), pa.int8(), pa.int32()),
        (pa.string(), pa.dictionary(pa.int8(), pa.large_string()), pa.string()),
        (pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("us", "UTC")),
        (pa.decimal128(10, 2), pa.decimal128(5, 1), pa.decimal128(10, 2)),
        (pa.decimal128(20, 2), pa.int32(), pa.decimal128(20, 2)),
        (pa.string(), pa.null(), pa.string()),
        (pa.list_(pa.int64()), pa.large_list(pa.int32()), pa.list_(pa.field("element", pa.int64()))),
        (pa.struct({"a": pa.int32()}), pa.struct({"b": pa.string()}), pa.struct({"a": pa.int32(), "b": pa.string()})),
        (pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64())),
        (pa.int64(), pa.float64(), pa.float64()),
        (pa.int64(), pa.float32(), pa.float32()),
        (pa.float32(), pa.int64(), pa.float32()),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.float64(), pa.string(), pa.string()),
        (pa.string(), pa.date32(), pa.string()),
        (pa.date32(), pa.string(), pa.date32()),
        (pa.string(), pa.binary(), pa.string()),
        (pa.binary(), pa.string(), pa.binary()),
        (pa.decimal128(10, 2), pa.decimal128(12, 3), pa.decimal128(12, 3)),
        (pa.decimal128(10, 2), pa.string(), pa.decimal128(10, 2)),
        (pa.decimal128(10, 2), pa.int64(), pa.decimal128(10, 2)),
        (pa.list_(pa.int32()), pa.list_(pa.int64()), pa.list_(pa.int64())),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.string()), pa.map_(pa.string(), pa.string())),
        (pa.struct({"a": pa.float32()}), pa.struct({"a": pa.float64()}), pa.struct({"a": pa.float64()})),
    ],
)
def test_types_are_joined(table: pa.DataType, data: pa.DataType, result: pa.DataType) -> None:
    assert evolve(one(table), one(data)).field("c").type == result


@pytest.mark.parametrize(
    ("table", "data"),
    [
        (pa.date32(), pa.timestamp("us")),
        (pa.date32(), pa.int32()),
        (pa.int32(), pa.date32()),
        (pa.int64(), pa.timestamp("us", "UTC")),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.timestamp("us"), pa.string()),
        (pa.string(), pa.timestamp("us")),
        (pa.int32(), pa.decimal128(10, 2)),
        (pa.decimal128(10, 2), pa.decimal128(10, 3)),
        (pa.binary(), pa.int32()),
        (pa.bool_(), pa.string()),
        (pa.string(), pa.bool_()),
        (pa.struct({"a": pa.int32()}), pa.struct({"A": pa.int32()})),
        (pa.list_(pa.int32()), pa.int32()),
        (pa.list_(pa.bool_()), pa.list_(pa.int64())),
    ],
)
def test_types_that_apache_hudi_does_not_join_are_refused_with_column_and_types(table: pa.DataType, data: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r"Column 'c[.\w]*'"):
        evolve(one(table), one(data))


@pytest.mark.parametrize(
    "arrow",
    [
        pa.uint64(),
        pa.time64("us"),
        pa.duration("us"),
        pa.month_day_nano_interval(),
        pa.struct([]),
        pa.map_(pa.int32(), pa.string()),
        pa.decimal256(50, 2),
        pa.decimal128(5, -2),
        pa.dense_union([pa.field("a", pa.int32())]),
        pa.uuid(),
    ],
    ids=str,
)
def test_types_that_a_table_cannot_hold_are_refused_by_name(arrow: pa.DataType) -> None:
    with pytest.raises(SchemaError, match="Column 'c'"):
        evolve(None, one(arrow))


@pytest.mark.parametrize(
    ("arrow", "stored"),
    [
        (pa.int16(), pa.int32()),
        (pa.uint8(), pa.int32()),
        (pa.uint32(), pa.int64()),
        (pa.float16(), pa.float32()),
        (pa.date64(), pa.date32()),
        (pa.timestamp("s"), pa.timestamp("us")),
        (pa.timestamp("ns", "Europe/Paris"), pa.timestamp("us", "UTC")),
        (pa.binary(4), pa.binary()),
        (pa.large_binary(), pa.binary()),
        (pa.string_view(), pa.string()),
        (pa.list_(pa.int8(), 3), pa.list_(pa.field("element", pa.int32()))),
        (pa.decimal32(5, 2), pa.decimal128(5, 2)),
    ],
    ids=str,
)
def test_encodings_of_arrow_become_plain_types(arrow: pa.DataType, stored: pa.DataType) -> None:
    assert evolve(None, one(arrow)).field("c").type == stored


def test_column_of_nothing_but_nulls_cannot_begin_a_column() -> None:
    with pytest.raises(SchemaError, match="only nulls"):
        evolve(None, one(pa.list_(pa.null())))


def test_columns_that_differ_in_case_alone_are_refused() -> None:
    with pytest.raises(SchemaError, match="'a' and 'A'"):
        evolve(None, pa.schema({"a": pa.int32(), "A": pa.int32()}))


def test_duplicate_column_is_refused() -> None:
    with pytest.raises(SchemaError, match="two columns"):
        evolve(None, pa.schema([pa.field("a", pa.int32()), pa.field("a", pa.int32())]))


def test_data_without_columns_makes_no_table() -> None:
    with pytest.raises(SchemaError, match="no columns"):
        evolve(None, pa.schema([]))


def test_missing_column_that_allows_no_nulls_is_refused() -> None:
    table = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("a", pa.int32())])
    with pytest.raises(SchemaError, match="Column 'id' is missing"):
        evolve(table, pa.schema({"a": pa.int32()}))


def test_key_of_integers_does_not_become_one_of_doubles() -> None:
    with pytest.raises(SchemaError, match="Column 'id' is part of the record key"):
        evolve(TABLE, pa.schema({"ID": pa.float64()}), key_fields=["Id"])


@pytest.mark.parametrize("wide", [pa.int64(), pa.string()], ids=str)
def test_key_of_integers_may_become_one_with_the_same_strings(wide: pa.DataType) -> None:
    assert evolve(TABLE, one_named("id", wide), key_fields=["id"]).field("id").type == wide


def test_partition_field_does_not_become_text() -> None:
    with pytest.raises(SchemaError, match="Column 'id' is a partition field"):
        evolve(TABLE, one_named("id", pa.string()), partition_fields=["id"])


def test_ordering_field_does_not_become_text() -> None:
    with pytest.raises(SchemaError, match=r"Column 'id' is an ordering field .* another order"):
        evolve(TABLE, one_named("id", pa.string()), ordering_fields=["id"])
    assert evolve(TABLE, one_named("id", pa.float64()), ordering_fields=["id"]).field("id").type == pa.float64()


def test_field_of_a_struct_that_is_a_key_is_checked_alone() -> None:
    table, data = ({"k": pa.struct({"id": kind, "n": kind})} for kind in (pa.int32(), pa.float64()))
    with pytest.raises(SchemaError, match=r"Column 'k\.id' is part of the record key"):
        evolve(pa.schema(table), pa.schema(data), key_fields=["k.id"])
    widened = pa.schema({"k": pa.struct({"id": pa.int32(), "n": pa.float64()})})
    assert evolve(pa.schema(table), widened, key_fields=["k.id"]) == widened
