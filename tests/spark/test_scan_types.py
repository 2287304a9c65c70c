"""Types and values as Spark sees them: file columns, widened and added ones, and partition values from paths."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import UnsupportedError
from pyhudi.spark.jvm.spark_types import spark_type
from tests.spark.tables import make_table, write_base_file

pytestmark = pytest.mark.spark


def load(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.format("hudi").load(str(path))


def table_of_old_files(folder: Path, held: pa.DataType, stated: pa.DataType, values: list[Any]) -> Path:
    """A table whose schema says `stated` for column `c`, over a file that holds it as `held`."""
    rows = pa.table([pa.array(range(len(values)), pa.int64()), pa.array(values, held)], names=["id", "c"])
    make_table(folder, pa.schema([("id", pa.int64()), ("c", stated)]), {"": rows})
    return folder


@pytest.mark.parametrize(
    ("held", "stated", "value", "expected"),
    [
        (pa.int32(), pa.int64(), 1, 1),
        (pa.int32(), pa.float64(), 1, 1.0),
        (pa.float32(), pa.float64(), 1.5, 1.5),
        (pa.list_(pa.int32()), pa.list_(pa.int64()), [1], [1]),
        (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), dt.datetime(1883, 1, 1), dt.datetime(1883, 1, 1)),
        (pa.decimal128(9, 2), pa.decimal128(12, 2), Decimal("1.50"), Decimal("1.50")),
    ],
    ids=str,
)
def test_file_written_before_a_column_widened_is_read(
    spark: SparkSession, tmp_path: Path, held: pa.DataType, stated: pa.DataType, value: Any, expected: Any
) -> None:
    result = load(spark, table_of_old_files(tmp_path, held, stated, [value, None])).select("c").toArrow()
    assert [_plain(one) for one in result["c"].to_pylist()] == [expected, None]


def test_file_written_before_a_column_was_added_gives_nulls(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path
    old = pa.table([[1], [{"x": 1}]], schema=pa.schema([("id", pa.int64()), ("s", pa.struct([("x", pa.int32())]))]))
    part = pa.struct([("x", pa.int32()), ("y", pa.string())])
    make_table(folder, pa.schema([("id", pa.int64()), ("s", part), ("late", pa.date32())]), {"": old})
    assert load(spark, folder).select("s", "late").toArrow().to_pylist() == [{"s": {"x": 1, "y": None}, "late": None}]


def test_widening_that_spark_cannot_read_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    folder = table_of_old_files(tmp_path, pa.int32(), pa.string(), [1])
    with pytest.raises(UnsupportedError, match=r"column \[c\] as INT32.*to_arrow"):
        load(spark, folder).collect()


@pytest.mark.parametrize("kind", [pa.time64("us"), pa.time32("ms")], ids=str)
def test_time_of_day_is_shown_as_its_number(spark: SparkSession, tmp_path: Path, kind: pa.DataType) -> None:
    rows = pa.table([pa.array([1], pa.int64()), pa.array([7], kind)], names=["id", "c"])
    assert load(spark, make_table(tmp_path, rows.schema, {"": rows})).head(1)[0]["c"] == 7


def test_type_that_spark_lacks_is_refused_with_its_column() -> None:
    with pytest.raises(UnsupportedError, match=r"'outer\.inner'.*uint64"):
        spark_type(pa.struct([("inner", pa.uint64())]), "outer")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (pa.bool_(), "true", True),
        (pa.int32(), "-5", -5),
        (pa.int64(), "9223372036854775807", 2**63 - 1),
        (pa.float32(), "-0.5", -0.5),
        (pa.float64(), "1.0E10", 1e10),
        (pa.decimal128(12, 10), "1E-10", Decimal("1E-10")),
        (pa.date32(), "2026-01-02", dt.date(2026, 1, 2)),
        (pa.string(), "a=b c%20é", "a=b c%20é"),
        (pa.string(), "2026/01/02", "2026/01/02"),
    ],
    ids=str,
)
@pytest.mark.parametrize("hive", ["true", "false"])
def test_partition_value_from_the_path_has_the_type_of_the_schema(
    spark: SparkSession, tmp_path: Path, kind: pa.DataType, text: str, expected: Any, hive: str
) -> None:
    path = f"p={text}" if hive == "true" else text
    frame = load(spark, partitioned(tmp_path, kind, {path: None, "p=__HIVE_DEFAULT_PARTITION__": None}, hive))
    ps = {row.p for row in frame.collect()}
    assert ps == {expected, None} if hive == "true" else {expected}
    assert frame.where(frame.p == expected).count() == 1


@pytest.mark.parametrize("default", ["__HIVE_DEFAULT_PARTITION__", "default"])
def test_default_partition_is_null(spark: SparkSession, tmp_path: Path, default: str) -> None:
    frame = load(spark, partitioned(tmp_path, pa.int32(), {default: None, "7": 7}))
    assert [row.p for row in frame.orderBy("p").collect()] == [None, 7]
    assert frame.where("p is null").count() == 1


def test_encoded_partition_value_is_decoded_only_when_the_table_says_so(spark: SparkSession, tmp_path: Path) -> None:
    for flag, expected in (("true", "x/y"), ("false", "x%2Fy")):
        options = {"hoodie.datasource.write.partitionpath.urlencode": flag}
        frame = load(spark, partitioned(tmp_path / flag, pa.string(), {"x%2Fy": "?"}, **options))
        assert frame.head(1)[0]["p"] == expected


@pytest.mark.parametrize("kind", [pa.timestamp("us", "UTC"), pa.timestamp("us")], ids=str)
def test_timestamp_partition_is_read_from_the_file(spark: SparkSession, tmp_path: Path, kind: pa.DataType) -> None:
    timestamp = dt.datetime(2026, 1, 2, 3, 4, 5, 678901)
    frame = load(spark, partitioned(tmp_path, kind, {"1767323045678901": timestamp}))
    assert _plain(frame.select("p").toArrow()["p"][0].as_py()) == timestamp


def test_timestamp_key_generator_shows_the_stored_value_which_the_path_only_rounds(spark: SparkSession, tmp_path: Path) -> None:
    generator = {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}
    frame = load(spark, partitioned(tmp_path, pa.int64(), {"2026/01/02": 1767323045}, **generator))
    assert frame.where("p = 1767323045").head(1)[0]["p"] == 1767323045


def test_partition_column_that_the_files_lack_comes_from_the_path(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    dropped = {"hoodie.table.partition.fields": "p", "hoodie.datasource.write.drop.partition.columns": "true"}
    frame = load(spark, make_table(tmp_path, schema, {"a": pa.table([[1]], schema=schema)}, dropped))
    assert [(row.id, row.p) for row in frame.collect()] == [(1, "a")]


def test_column_names_keep_their_case_and_odd_characters(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("Größe_1", pa.int32()), ("P", pa.string())])
    rows = pa.table([pa.array([1]), pa.array([2], pa.int32()), pa.array(["a"])], schema=schema)
    frame = load(spark, make_table(tmp_path, schema, {"a": rows}, {"hoodie.table.partition.fields": "P"}))
    assert frame.columns[-2:] == ["Größe_1", "P"]
    assert frame.where("p = 'a'").select("größe_1").head(1)[0][0] == 2


def test_path_of_the_table_may_hold_spaces_and_percent_signs(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    folder = make_table(tmp_path / "a b%20c é", schema, {"": pa.table([[1]], schema=schema)})
    assert load(spark, folder).head(1)[0]["id"] == 1


def test_file_that_no_commit_names_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    make_table(tmp_path, schema, {"": pa.table([[1]], schema=schema)})
    write_base_file(tmp_path, "", pa.table([[2]], schema=schema), "20260105000000000")
    assert [row.id for row in load(spark, tmp_path).collect()] == [1]


def partitioned(folder: Path, kind: pa.DataType, paths: dict[str, Any], hive: str = "false", **options: str) -> Path:
    """A table with one row in each partition, whose file holds the value given for the path."""
    schema = pa.schema([("id", pa.int64()), ("p", kind)])
    if hive != "true":
        paths = {path: value for path, value in paths.items() if not path.startswith("p=")}
    rows = {path: pa.table([pa.array([n]), pa.array([value], kind)], schema=schema) for n, (path, value) in enumerate(paths.items())}
    stated = {"hoodie.table.partition.fields": "p", "hoodie.datasource.write.hive_style_partitioning": hive}
    return make_table(folder, schema, rows, stated | options)


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value
