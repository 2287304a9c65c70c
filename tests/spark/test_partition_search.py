"""Partitions are found with as few listings as their values allow, and none of them is lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import CorruptTableError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.scan.scan import scan
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.testing.call_log import RecordingStorage
from tests.spark.tables import make_table

pytestmark = pytest.mark.spark

COMPLEX = "org.apache.hudi.keygen.ComplexKeyGenerator"
TEXT = pa.string()
HIVE = {"hoodie.datasource.write.hive_style_partitioning": "true"}


class Recorded:
    """A scan, and the folders of the table that were listed for it (the timeline's aside)."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._storage = RecordingStorage(LocalStorage(str(folder)))
        self.frame: DataFrame = scan(spark, open_snapshot(self._storage, SnapshotQuery()))

    def listed(self) -> list[str]:
        calls = [call.path for call in self._storage.calls if call.method == "list"]
        return sorted(path for path in calls if not path.startswith(".hoodie"))

    def ids(self, condition: str) -> list[int]:
        return sorted(row.id for row in self.frame.where(condition).select("id").collect())


def table(folder: Path, values: list[str], kind: pa.DataType = TEXT, **more: str) -> Path:
    """A table partitioned by `p`, with one row in the partition of each path."""
    schema = pa.schema([("id", pa.int64()), ("p", kind)])
    hive = more.get("hoodie.datasource.write.hive_style_partitioning") == "true"
    partitions = {
        f"p={value}" if hive else value: pa.table([[n], pa.array([value]).cast(kind)], schema=schema) for n, value in enumerate(values)
    }
    return make_table(folder, schema, partitions, {"hoodie.table.partition.fields": "p", **more})


def test_filter_on_one_of_a_thousand_partitions_lists_that_one(spark: SparkSession, tmp_path: Path) -> None:
    scanned = Recorded(spark, table(tmp_path, [f"{n:04}" for n in range(1000)], **HIVE))
    assert scanned.ids("p = '0007'") == [7]
    assert scanned.listed() == ["", "p=0007"]


@pytest.mark.parametrize(("values", "kind", "listed"), [(["a", "b"], TEXT, [""]), (["1", "2"], pa.int32(), [])])
def test_building_a_scan_lists_no_partition(
    spark: SparkSession, tmp_path: Path, values: list[str], kind: pa.DataType, listed: list[str]
) -> None:
    """Folders above the partitions say whether a text has a default partition, which changes the plan."""
    scanned = Recorded(spark, table(tmp_path, values, kind))
    assert scanned.frame.where(f"p = '{values[0]}'").columns
    assert scanned.listed() == listed


def test_only_the_default_partition_is_scanned_for_what_its_files_hold(spark: SparkSession, tmp_path: Path) -> None:
    scanned = Recorded(spark, table(tmp_path, ["a", "__HIVE_DEFAULT_PARTITION__", "c"]))
    assert scanned.ids("p = 'a'") == [0]
    assert scanned.listed() == ["", "__HIVE_DEFAULT_PARTITION__", "a"]


@pytest.mark.parametrize(
    ("condition", "ids", "listed"),
    [
        ("p in ('a', 'c')", [0, 2], ["a", "c"]),
        ("p >= 'c'", [2, 3], ["c", "d"]),
        ("p < 'b'", [0], ["a"]),
        ("p = 'b' or p = 'd'", [1, 3], ["b", "d"]),
        ("p like 'a%'", [0], ["a"]),
        ("p is null", [], []),
    ],
)
def test_filter_on_plain_text_lists_only_partitions_that_pass(
    spark: SparkSession, tmp_path: Path, condition: str, ids: list[int], listed: list[str]
) -> None:
    scanned = Recorded(spark, table(tmp_path, ["a", "b", "c", "d"]))
    assert scanned.ids(condition) == ids
    assert scanned.listed() == ["", *listed]


@pytest.mark.parametrize("condition", ["p = 'a/x'", "p like 'a/%'", "upper(p) = 'A/X'", "p > 'a' and p < 'a0'"])
def test_value_with_slashes_is_found_below_a_partition_that_fails(spark: SparkSession, tmp_path: Path, condition: str) -> None:
    assert Recorded(spark, table(tmp_path, ["a", "a/x", "b"])).ids(condition) == [1]


def test_value_with_slashes_fails_though_the_partition_above_passes(spark: SparkSession, tmp_path: Path) -> None:
    assert Recorded(spark, table(tmp_path, ["a", "a/x", "b"])).ids("p = 'a'") == [0]


def test_folders_above_the_value_with_slashes_are_left_out(spark: SparkSession, tmp_path: Path) -> None:
    scanned = Recorded(spark, table(tmp_path, ["2025/01/02", "2026/01/02", "2026/01/03"]))
    assert scanned.ids("p = '2026/01/03'") == [2]
    assert "2025" not in scanned.listed()


def test_url_encoded_values_make_no_deeper_folders(spark: SparkSession, tmp_path: Path) -> None:
    encoded = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
    scanned = Recorded(spark, table(tmp_path, ["a%2Fx", "b"], **encoded))
    assert scanned.ids("upper(p) = 'A/X'") == [0]
    assert scanned.listed() == ["", "a%2Fx"]


def test_numbers_make_no_deeper_folders(spark: SparkSession, tmp_path: Path) -> None:
    scanned = Recorded(spark, table(tmp_path, ["9", "10", "11"], pa.int32()))
    assert scanned.ids("p % 2 = 1 and p < 11") == [0]
    assert scanned.listed() == ["", "9"]


def test_several_fields_are_pruned_each_by_its_own_filter(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.string()), ("q", pa.string())])
    paths = ["p=x/q=1", "p=x/q=2", "p=y/q=1", "p=x/y/q=1", "p=y/q=1/z"]
    rows = {path: pa.table([[n], ["?"], ["?"]], schema=schema) for n, path in enumerate(paths)}
    fields = {"hoodie.table.partition.fields": "p,q", "hoodie.table.keygenerator.class": COMPLEX, **HIVE}
    scanned = Recorded(spark, make_table(tmp_path, schema, rows, fields))
    assert scanned.ids("p = 'x' and q = '2'") == [1]
    assert "p=y/q=1" not in scanned.listed()
    assert scanned.ids("p = 'x/y'") == [3]
    assert scanned.ids("q = '1/z'") == [4]
    assert scanned.ids("p like 'x%' and q = '1'") == [0, 3]


FIELDS = {"hoodie.table.partition.fields": "p,q", "hoodie.table.keygenerator.class": COMPLEX}


def test_paths_that_cannot_be_taken_apart_leave_the_columns_to_the_files(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.string()), ("q", pa.string())])
    rows = {"x/1": pa.table([[1], ["x"], ["1"]], schema=schema), "x/y/1": pa.table([[2], ["x/y"], ["1"]], schema=schema)}
    scanned = Recorded(spark, make_table(tmp_path, schema, rows, FIELDS))
    assert scanned.ids("p = 'x/y'") == [2]
    assert scanned.ids("p = 'x' and q = '1'") == [1]


def test_path_that_alone_could_tell_the_columns_and_does_not_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    rows = {path: pa.table([[1]], schema=schema) for path in ("x/1", "x/y/1")}
    scanned = Recorded(spark, make_table(tmp_path, schema, rows, {**FIELDS, "hoodie.datasource.write.drop.partition.columns": "true"}))
    with pytest.raises(CorruptTableError, match="x/y/1"):
        scanned.ids("p = 'x/y'")


def test_what_a_users_own_generator_wrote_is_not_taken_for_the_value(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.string())])
    rows = {"hash-7": pa.table([[1], ["oslo"]], schema=schema)}
    mdt = {"hoodie.table.partition.fields": "p", "hoodie.table.keygenerator.class": "com.acme.Hashes"}
    assert Recorded(spark, make_table(tmp_path, schema, rows, mdt)).ids("p = 'oslo'") == [1]


def test_default_is_a_value_like_any_other(spark: SparkSession, tmp_path: Path) -> None:
    assert Recorded(spark, table(tmp_path, ["default", "x"])).ids("p = 'default'") == [0]


def test_text_that_is_no_value_of_the_type_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.int32())])
    rows = {"three": pa.table([pa.array([1]), pa.array([3], pa.int32())], schema=schema)}
    scanned = Recorded(spark, make_table(tmp_path, schema, rows, {"hoodie.table.partition.fields": "p"}))
    with pytest.raises(CorruptTableError, match="three"):
        scanned.frame.collect()
