"""Statistics of files and partitions, from footers of every type."""

from __future__ import annotations

import io
import math
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.metadata_table.format.column_bound import decode_bound, encode_bound
from pyhudi.metadata_table.format.column_types import BoundType, bound_types, indexed_columns, value_type
from pyhudi.metadata_table.format.record import ColumnStats, RecordType, ValueType
from pyhudi.metadata_table.indexes.file_stats import file_stats, partition_stats
from pyhudi.metadata_table.indexes.unbounded_stats import widest_bounds
from pyhudi.storage.memory_storage import MemoryStorage


def stats_of(table: pa.Table, schema: pa.Schema | None = None, **writing) -> dict[str, ColumnStats] | None:
    """Statistics of a file with these rows, in an index of V2 of a table that has `schema` by now."""
    sink, storage = io.BytesIO(), MemoryStorage()
    pq.write_table(table, sink, **writing)
    storage.create("p/f.parquet", sink.getvalue())
    schema = schema or table.schema
    return file_stats(storage, "p/f.parquet", bound_types(schema, tuple(schema.names), 2))


EPOCH_MICROS = 1_700_000_000_000_000
MOMENT = datetime.fromtimestamp(EPOCH_MICROS / 1_000_000, UTC)
CASES = [
    (pa.bool_(), [True, None, False], ValueType.BOOLEAN, False, True),
    (pa.int32(), [5, None, -3], ValueType.INT, -3, 5),
    (pa.int64(), [1 << 40, None, -(1 << 41)], ValueType.LONG, -(1 << 41), 1 << 40),
    (pa.float32(), [1.5, None, -2.5], ValueType.FLOAT, -2.5, 1.5),
    (pa.float64(), [1.25, None, -2.0], ValueType.DOUBLE, -2.0, 1.25),
    (pa.string(), ["b", None, "äpfel"], ValueType.STRING, "b", "äpfel"),
    (pa.binary(), [b"\xff", None, b"\0"], ValueType.BYTES, b"\0", b"\xff"),
    (pa.date32(), [date(2026, 3, 7), None, date(1969, 12, 31)], ValueType.DATE, -1, 20519),
    (pa.time64("us"), [time(0, 0, 1), None, time(0, 0, 2)], ValueType.TIME_MICROS, 1_000_000, 2_000_000),
    (pa.timestamp("us", "UTC"), [MOMENT, None, MOMENT], ValueType.TIMESTAMP_MICROS, EPOCH_MICROS, EPOCH_MICROS),
    (pa.timestamp("us"), [MOMENT.replace(tzinfo=None), None, None], ValueType.LOCAL_TIMESTAMP_MICROS, EPOCH_MICROS, EPOCH_MICROS),
    (pa.decimal128(15, 2), [Decimal("5000.00"), None, Decimal("-0.01")], ValueType.DECIMAL, Decimal("-0.01"), Decimal("5000.00")),
    (pa.decimal128(38, 10), [Decimal("1e27"), None, Decimal("-1e27")], ValueType.DECIMAL, Decimal("-1e27"), Decimal("1e27")),
]


@pytest.mark.parametrize(("arrow", "values", "kind", "low", "high"), CASES, ids=[str(case[0]) for case in CASES])
def test_bounds_and_counts_of_each_type(arrow, values, kind, low, high) -> None:
    result = stats_of(pa.table({"c": pa.array(values, arrow)}))
    assert result is not None
    stats = result["c"]
    assert (stats.value_type, stats.minimum, stats.maximum) == (kind, low, high)
    assert (stats.value_count, stats.null_count) == (3, values.count(None))
    assert stats.total_size
    assert stats.total_uncompressed_size


@pytest.mark.parametrize(("arrow", "values", "kind", "low", "high"), CASES, ids=[str(case[0]) for case in CASES])
def test_bounds_survive_the_wrapper_records(arrow, values, kind, low, high) -> None:
    info = f"{arrow.precision},{arrow.scale}" if pa.types.is_decimal(arrow) else None
    for bound in (low, high):
        wrapped = encode_bound(bound, kind, info, with_type=True)
        assert decode_bound(wrapped, kind, info) == (kind, bound)


def test_row_groups_are_united() -> None:
    stats = stats_of(pa.table({"c": list(range(100))}), row_group_size=10)
    assert stats is not None
    assert (stats["c"].minimum, stats["c"].maximum, stats["c"].value_count) == (0, 99, 100)


def test_column_of_nulls_has_counts_and_no_bounds() -> None:
    stats = stats_of(pa.table({"c": pa.array([None, None], pa.string())}))
    assert stats is not None
    # Apache Hudi refuses to unite statistics of one column whose types differ.
    assert (stats["c"].value_type, stats["c"].minimum, stats["c"].null_count) == (ValueType.STRING, None, 2)


def test_file_without_rows_has_no_statistics() -> None:
    assert stats_of(pa.table({"c": pa.array([], pa.int64())})) is None


def test_column_without_statistics_in_the_footer_has_bounds_that_rule_nothing_out() -> None:
    stats = stats_of(pa.table({"c": [1, None, 2], "d": [1, 2, 3]}), write_statistics=["d"])
    assert stats is not None
    assert (stats["c"].minimum, stats["c"].maximum) == (-(2**63), 2**63 - 1)
    assert (stats["c"].value_count, stats["c"].null_count) == (3, 1)
    assert (stats["d"].minimum, stats["d"].maximum) == (1, 3)


def test_text_beyond_what_a_footer_holds_has_bounds_that_rule_nothing_out() -> None:
    stats = stats_of(pa.table({"c": ["a", "z" * 5000, None]}))
    assert stats is not None
    assert stats["c"].minimum == ""
    assert stats["c"].maximum > "z" * 5000  # type: ignore[operator]
    assert stats["c"].null_count == 1


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1.5, None, math.nan], 1.5, math.inf),
        ([math.nan, None], -math.inf, math.inf),
        ([math.inf, math.nan], -math.inf, math.inf),
        ([None, 2.5, -1.0], -1.0, 2.5),
        ([None, None], None, None),
    ],
)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
def test_reals_of_which_the_footer_does_not_tell_are_read(kind, values, low, high) -> None:
    stats = stats_of(pa.table({"c": pa.array(values, kind)}), write_statistics=False)
    assert stats is not None
    assert (stats["c"].minimum, stats["c"].maximum) == (low, high)
    assert (stats["c"].value_count, stats["c"].null_count) == (len(values), values.count(None))


@pytest.mark.parametrize(
    ("stored", "now", "low"),
    [
        (pa.array([1, 2], pa.int32()), pa.int64(), 1),
        (pa.array([1.5, 2.5], pa.float32()), pa.float64(), 1.5),
        (pa.array([0.1, 2.5], pa.float32()), pa.float64(), 0.1),
        (pa.array([0.1, math.nan], pa.float32()), pa.float64(), 0.1),
        (pa.array([1, 2], pa.int32()), pa.float64(), 1.0),
        (pa.array([1_000, 2_000], pa.timestamp("ms", "UTC")), pa.timestamp("us", "UTC"), 1_000_000),
    ],
    ids=["int to long", "float to double", "digits of a float", "float with NaN", "int to double", "milliseconds to microseconds"],
)
def test_widened_column_has_bounds_of_the_new_type(stored, now, low) -> None:
    stats = stats_of(pa.table({"c": stored}), pa.schema({"c": now}))
    assert stats is not None
    assert stats["c"].minimum == low
    assert type(stats["c"].minimum) is type(low)


@pytest.mark.parametrize(
    ("stored", "now"),
    [
        (pa.array([0.1, math.nan], pa.float32()), pa.string()),
        (pa.array([Decimal("1.5")], pa.decimal128(10, 2)), pa.string()),
        (pa.array([1, 2], pa.int64()), pa.string()),
        (pa.array(["1"]), pa.int64()),
        (pa.array([1], pa.int64()), pa.timestamp("us", "UTC")),
    ],
    ids=["real to text", "decimal to text", "number to text", "text to number", "number to moment"],
)
def test_column_that_became_another_type_has_bounds_that_rule_nothing_out(stored, now) -> None:
    stats = stats_of(pa.table({"c": stored}), pa.schema({"c": now}))
    assert stats is not None
    kind = value_type(now, 2)
    assert kind is not None
    assert (stats["c"].value_type, stats["c"].minimum, stats["c"].maximum) == (kind, *widest_bounds(kind, None))


LONGS = {"c": BoundType(ValueType.LONG)}


def test_columns_with_statistics_are_the_first_of_a_fitting_type() -> None:
    fields = [pa.field("list", pa.list_(pa.int32())), *(pa.field(f"c{number}", pa.int32()) for number in range(40))]
    columns = indexed_columns(pa.schema(fields), 2)
    assert columns == ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key", *(f"c{number}" for number in range(32)))


@given(st.lists(st.lists(st.none() | st.integers(-9, 9), min_size=1, max_size=4), min_size=1, max_size=4))
def test_statistics_of_a_partition_are_those_of_all_its_rows(files) -> None:
    result = [stats_of(pa.table({"c": pa.array(rows, pa.int64())})) for rows in files]
    (stats,) = partition_stats("p", [one for one in result if one is not None], LONGS)
    rows = [value for part in files for value in part]
    present = [value for value in rows if value is not None]
    assert (stats.minimum, stats.maximum) == (min(present, default=None), max(present, default=None))
    assert (stats.value_count, stats.null_count) == (len(rows), len(rows) - len(present))
    assert (stats.type, stats.file_name, stats.is_tight_bound) == (RecordType.PARTITION_STATS, "p", True)


def test_partition_with_a_file_that_does_not_tell_has_bounds_that_rule_nothing_out() -> None:
    known = ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.LONG, 1, 2, 2, 0)
    (stats,) = partition_stats("", [{"c": known}, {}], LONGS)
    assert (stats.minimum, stats.maximum, stats.is_tight_bound, stats.is_deleted, stats.file_name) == (
        -(2**63),
        2**63 - 1,
        True,  # in place of what was known, which may have been of another type
        False,
        ".",
    )
    assert 0 < (stats.null_count or 0) < (stats.value_count or 0)


def test_partition_without_rows_has_a_tombstone() -> None:
    (stats,) = partition_stats("p", [], LONGS)
    assert stats.is_deleted


@pytest.mark.parametrize("kind", [kind for kind in ValueType if kind not in (ValueType.V1, ValueType.NULL)])
def test_bounds_that_rule_nothing_out_can_be_stored(kind) -> None:
    (stats,) = partition_stats("p", [{}], {"c": BoundType(kind, "10,2" if kind is ValueType.DECIMAL else None)})
    for bound in (stats.minimum, stats.maximum):
        encoded = encode_bound(bound, kind, stats.type_info, with_type=True)
        assert repr(decode_bound(encoded, kind, stats.type_info)) == repr((kind, bound))


def test_fields_of_structs_have_statistics_when_they_are_named() -> None:
    schema = pa.schema({"spot": pa.struct({"x": pa.int32(), "tags": pa.list_(pa.string())}), "v": pa.int64()})
    assert indexed_columns(schema, 2)[3:] == ("v",)
    assert indexed_columns(schema, 2, named=("spot.x", "spot.tags", "spot.y", "v"))[3:] == ("spot.x", "v")
    rows = pa.Table.from_pylist([{"spot": {"x": 3}, "v": 1}, {"spot": None, "v": 2}, {"spot": {"x": 7}, "v": 3}], schema=schema)
    sink, storage = io.BytesIO(), MemoryStorage()
    pq.write_table(rows, sink)
    storage.create("f.parquet", sink.getvalue())
    result = file_stats(storage, "f.parquet", bound_types(schema, ("spot.x",), 2))
    assert result is not None
    assert (result["spot.x"].minimum, result["spot.x"].maximum, result["spot.x"].null_count) == (3, 7, 1)
