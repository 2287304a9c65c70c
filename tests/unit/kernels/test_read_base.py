"""Base files as other writers left them, read as rows of the table's present schema."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.base_file.read_base import iter_base_file, read_base_file, row_count
from pyhudi.schema.evolve import evolve
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.kernels.conftest import Group, keyed, record_context_of

FILE = BaseFile("p", BaseFileName("f1-0", "0-1-2", "20260101000000000"), 0)


def stored(table: pa.Table, **options: Any) -> MemoryStorage:
    output = io.BytesIO()
    pq.write_table(table, output, store_schema=False, **options)
    storage = MemoryStorage()
    storage.create(FILE.path, output.getvalue())
    return storage


def read(storage: MemoryStorage, schema: pa.Schema, **options: Any) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = read_base_file(storage, FILE, schema, **options).to_pylist()
    return result


@pytest.mark.parametrize(
    ("physical", "table", "value"),
    [
        (pa.array([1], pa.int32()), pa.int64(), 1),
        (pa.array([1.5], pa.float32()), pa.float64(), 1.5),
        (pa.array([7], pa.int32()), pa.float64(), 7.0),
        (pa.array([1], pa.int8()), pa.int32(), 1),
        (pa.array([Decimal("1.50")], pa.decimal128(10, 2)), pa.decimal128(12, 2), Decimal("1.50")),
        (pa.array([1000], pa.timestamp("ms", "UTC")), pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (pa.array(["5"]), pa.int64(), 5),
        (pa.array([5], pa.int64()), pa.string(), "5"),
        (pa.array([b"x"]), pa.string(), "x"),
        (pa.array([{"a": 1}]), pa.struct({"a": pa.int64(), "b": pa.string()}), {"a": 1, "b": None}),
    ],
)
def test_older_types_of_a_column_are_read_as_the_table_s(physical: pa.Array, table: pa.DataType, value: Any) -> None:
    assert read(stored(pa.table({"c": physical})), pa.schema({"c": table})) == [{"c": value}]


def test_decimal_stored_as_integer_is_read_as_decimal() -> None:
    column = pa.array([Decimal("1.50")], pa.decimal128(10, 2))
    storage = stored(pa.table({"c": column}), store_decimal_as_integer=True)
    assert read(storage, pa.schema({"c": pa.decimal128(10, 2)})) == [{"c": Decimal("1.50")}]


def test_timestamp_of_twelve_bytes_is_read() -> None:
    column = pa.array([datetime(1850, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    storage = stored(pa.table({"c": column}), use_deprecated_int96_timestamps=True)
    assert read(storage, pa.schema({"c": pa.timestamp("us", "UTC")})) == [{"c": datetime(1850, 1, 1, tzinfo=UTC)}]


def test_list_of_two_levels_is_read() -> None:
    column = pa.array([[{"a": 1}], [], None])
    storage = stored(pa.table({"c": column}), use_compliant_nested_type=False)
    assert [row["c"] for row in read(storage, pa.schema({"c": column.type}))] == [[{"a": 1}], [], None]


def test_missing_column_is_null_and_unknown_column_is_left_out() -> None:
    storage = stored(pa.table({"gone": [1], "a": [2]}))
    assert read(storage, pa.schema({"a": pa.int64(), "new": pa.string()})) == [{"a": 2, "new": None}]


def test_columns_come_in_the_order_asked_for_and_meta_columns_when_named() -> None:
    storage = stored(pa.table({"_hoodie_record_key": ["k"], "a": [1], "b": [2]}))
    schema = pa.schema({"a": pa.int64(), "b": pa.int64()})
    assert list(read(storage, schema, columns=["b", "_hoodie_record_key"])[0].items()) == [("b", 2), ("_hoodie_record_key", "k")]


def test_only_missing_columns_still_have_as_many_rows() -> None:
    storage = stored(pa.table({"a": [1, 2]}))
    assert read(storage, pa.schema({"a": pa.int64(), "new": pa.string()}), columns=["new"]) == [{"new": None}] * 2


def test_filter_may_speak_of_columns_that_are_not_returned_or_not_there() -> None:
    storage = stored(pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["x", "y", "z"]}))
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "new": pa.string()})
    condition = (pc.field("a") >= 2) & pc.field("new").is_null()
    assert read(storage, schema, columns=["b"], filter=condition) == [{"b": "y"}, {"b": "z"}]


def test_filter_on_a_column_stored_as_another_type_is_answered() -> None:
    storage = stored(pa.table({"a": pa.array([1, 2], pa.int64())}))
    assert read(storage, pa.schema({"a": pa.string()}), filter=pc.field("a") == "2") == [{"a": "2"}]


def test_row_groups_that_cannot_match_are_not_read() -> None:
    rows = pa.table({"a": range(4000), "b": ["x" * 100] * 4000})
    whole = stored(rows, row_group_size=1000, use_dictionary=False, compression="none").read(FILE.path)
    last_group = pq.read_metadata(io.BytesIO(whole)).row_group(3).column(0).data_page_offset
    damaged = b"PAR1" + bytes(last_group - 4) + whole[last_group:]
    storage = MemoryStorage()
    storage.create(FILE.path, damaged)
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    assert read(storage, schema, columns=["a"], filter=pc.field("a") == 3500) == [{"a": 3500}]


def test_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(SchemaError, match=r"'zz'.*a"):
        read(stored(pa.table({"a": [1]})), pa.schema({"a": pa.int64()}), columns=["zz"])


@pytest.mark.parametrize(
    ("physical", "table"),
    [(pa.array([1.5]), pa.int64()), (pa.array(["x"]), pa.int64()), (pa.array([[1]]), pa.string()), (pa.array([2**40]), pa.int32())],
)
def test_column_that_cannot_be_read_as_the_table_s_type_names_file_and_column(physical: pa.Array, table: pa.DataType) -> None:
    with pytest.raises(CorruptTableError, match=rf"{FILE.path}.*'c'"):
        read(stored(pa.table({"c": physical})), pa.schema({"c": table}))


@pytest.mark.parametrize("cut", [0, 3, 100, -9, -1])
def test_truncated_file_is_a_corrupt_table_that_names_the_file(cut: int) -> None:
    whole = stored(pa.table({"a": list(range(100))})).read(FILE.path)
    storage = MemoryStorage()
    storage.create(FILE.path, whole[:cut])
    with pytest.raises(CorruptTableError, match=FILE.path):
        read(storage, pa.schema({"a": pa.int64()}))


def test_damaged_page_is_a_corrupt_table_that_names_the_file() -> None:
    whole = bytearray(stored(pa.table({"a": list(range(5000))}), compression="zstd").read(FILE.path))
    whole[30:400] = bytes(370)
    storage = MemoryStorage()
    storage.create(FILE.path, bytes(whole))
    with pytest.raises(CorruptTableError, match=FILE.path):
        read(storage, pa.schema({"a": pa.int64()}))


def test_file_that_is_missing_is_a_corrupt_table_that_names_the_file() -> None:
    with pytest.raises(CorruptTableError, match=FILE.path):
        read(MemoryStorage(), pa.schema({"a": pa.int64()}))


def test_row_count_comes_from_the_footer() -> None:
    assert row_count(stored(pa.table({"a": [1, 2, 3]})), FILE) == 3


def test_large_file_comes_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.kernels.base_file.file_rows._BATCH_BYTES", 1 << 16)
    storage = stored(pa.table({"a": [f"{number:01000}" for number in range(1000)]}), use_dictionary=False)
    batches = list(iter_base_file(storage, FILE, pa.schema({"a": pa.string()})))
    assert len(batches) > 10
    assert sum(batch.num_rows for batch in batches) == 1000


leaves = [
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.string(), st.text(max_size=3)),
    (pa.decimal128(10, 2), st.decimals(-9999, 9999, places=2)),
    (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    (pa.binary(), st.binary(max_size=3)),
    (pa.float64(), st.floats(allow_nan=False)),
]


def nested(inner: st.SearchStrategy[tuple[pa.DataType, Any]]) -> st.SearchStrategy[tuple[pa.DataType, Any]]:
    def struct(fields: list[tuple[pa.DataType, Any]]) -> tuple[pa.DataType, Any]:
        names = [f"f{number}" for number in range(len(fields))]
        values = {name: field[1] | st.none() for name, field in zip(names, fields, strict=True)}
        return pa.struct(dict(zip(names, (field[0] for field in fields), strict=True))), st.fixed_dictionaries(values)

    return st.one_of(
        inner.map(lambda kind: (pa.list_(kind[0]), st.lists(kind[1] | st.none(), max_size=3))),
        inner.map(
            lambda kind: (
                pa.map_(pa.string(), kind[0]),
                st.dictionaries(st.text(max_size=2), kind[1], max_size=2).map(dict.items).map(list),
            )
        ),
        st.lists(inner, min_size=1, max_size=3).map(struct),
    )


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(st.recursive(st.sampled_from(leaves), nested, max_leaves=4), min_size=1, max_size=3))
    count = draw(st.integers(0, 5))
    columns = {}
    for number, (arrow, values) in enumerate(kinds):
        rows = draw(st.lists(values | st.none(), min_size=count, max_size=count))
        columns[f"c{number}"] = pa.array(rows, arrow)
    return pa.table(columns)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_any_nested_table_is_read_as_it_was_written(table: pa.Table) -> None:
    rows = table.append_column("id", pa.array(range(table.num_rows), pa.int64()))
    group = Group(record_context_of(evolve(None, rows.schema)))
    group.write(keyed(rows))
    assert group.read() == rows.to_pylist()
    group.write(keyed(rows.slice(0, 1)))
    assert sorted(group.read(), key=lambda row: row["id"]) == rows.to_pylist()
