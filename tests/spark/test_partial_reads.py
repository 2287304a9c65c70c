"""Reads of some partitions, of unmerged log files, of values from paths, and of the changes in some files: as DataFrames and in SQL."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import OptionError, TableNotFound, UsageError

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "ts": pa.int64(), "y": pa.string(), "m": pa.string()})
INCREMENTAL = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "earliest"}
UNMERGED = {"hoodie.datasource.merge.type": "skip_merge"}


def row(key: int, ts: int, y: str, m: str) -> dict[str, object]:
    return {"id": key, "ts": ts, "y": y, "m": m}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Records 1 and 3 in year a, 4 in year b; the logs hold two more versions of 1 and 4, and the delete of 2."""
    path = tmp_path_factory.mktemp("tables") / "t"
    result = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["y", "m"], order_by=["ts"], table_type="MERGE_ON_READ")
    result.upsert([row(1, 1, "a", "x"), row(2, 1, "a", "x"), row(3, 1, "a", "y"), row(4, 1, "b", "x")])
    result.upsert([row(1, 2, "a", "x"), row(4, 0, "b", "x")])
    result.delete([row(2, 3, "a", "x")])
    return str(path)


def ids(frame: DataFrame) -> list[int]:
    return sorted(one.id for one in frame.select("id").collect())


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/a/x"], [1]),
        (["/a"], [1, 3]),
        (["/*/*"], [1, 3, 4]),
        (["/*/*/*"], [1, 3, 4]),
        (["/a/*"], [1, 3]),
        (["/{a/y,b/x}"], [3, 4]),
        (["/a/y", "/b"], [3, 4]),
    ],
)
def test_folders_and_patterns_of_a_table(spark: SparkSession, table: str, paths: list[str], expected: list[int]) -> None:
    frame = spark.read.format("hudi").load([table + path for path in paths])
    assert ids(frame) == expected
    assert frame.count() == len(expected)
    assert ids(frame.filter("y = 'b' AND id > 0")) == [one for one in expected if one == 4]
    if all("," not in path for path in paths):
        listed = ",".join(table + path for path in paths)
        assert ids(spark.read.format("hudi").option("hoodie.datasource.read.paths", listed).load()) == expected


def test_sql_reads_a_folder(spark: SparkSession, table: str) -> None:
    assert ids(spark.sql(f"SELECT * FROM hudi.`{table}/a/x`")) == [1]
    assert ids(spark.sql(f"SELECT * FROM hudi.`{table}/*/x` WHERE m = 'x'")) == [1, 4]


def test_paths_of_no_partition_or_of_no_table(spark: SparkSession, table: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no partition 'c'; it has 'a/x'"):
        spark.read.format("hudi").load(f"{table}/c")
    with pytest.raises(TableNotFound, match="nor in a folder above it"):
        spark.read.format("hudi").load(f"{tmp_path}/*/*")
    with pytest.raises(UsageError, match="name either"):
        spark.read.format("hudi").option("hoodie.datasource.read.paths", f"{table}/a").load(table)
    spark.conf.set("hoodie.datasource.read.paths", f"{table}/a")
    try:
        with pytest.raises(OptionError, match="an option of one read"):
            spark.read.format("hudi").load(table)
    finally:
        spark.conf.unset("hoodie.datasource.read.paths")


def test_changes_in_some_files(spark: SparkSession, table: str) -> None:
    def changes(**options: str) -> list[int]:
        return ids(spark.read.format("hudi").options(**INCREMENTAL, **options).load(table))

    assert changes() == [1, 3, 4]
    assert changes(**{"hoodie.datasource.read.incr.path.glob": "/a/*"}) == [1, 3]
    assert changes(**{"hoodie.datasource.read.incr.path.glob": "/b/x/*.parquet"}) == [4]
    assert changes(**{"hoodie.datasource.read.incr.filters": "id IN (1, 4), y = 'b'"}) == [4]
    assert ids(spark.read.format("hudi").options(**INCREMENTAL).load(f"{table}/b")) == [4]


def test_versions_of_records_in_log_files(spark: SparkSession, table: str) -> None:
    frame = spark.read.format("hudi").options(**UNMERGED).load(table)
    versions = [(1, 1), (1, 2), (2, 1), (3, 1), (4, 0), (4, 1)]
    assert sorted((one.id, one.ts) for one in frame.collect()) == versions
    assert frame.count() == 6
    assert ids(frame.filter("ts = 0")) == [4]
    assert ids(spark.read.format("hudi").load(table)) == [1, 3, 4]
    with pytest.raises(OptionError, match="is for snapshots"):
        spark.read.format("hudi").options(**INCREMENTAL, **UNMERGED).load(table)


def test_statements_see_versions_and_change_records(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE unmerged (id INT, v INT) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor') LOCATION '{tmp_path}/u'")
    try:
        spark.sql("INSERT INTO unmerged VALUES (1, 1), (2, 2)")
        spark.sql("UPDATE unmerged SET v = 3 WHERE id = 1")
        spark.sql("SET hoodie.datasource.merge.type = skip_merge")
        assert sorted(one.v for one in spark.sql("SELECT v FROM unmerged").collect()) == [1, 2, 3]
        spark.sql("UPDATE unmerged SET v = v + 10")
        spark.sql("RESET hoodie.datasource.merge.type")
        assert sorted(one.v for one in spark.sql("SELECT v FROM unmerged").collect()) == [12, 13]
    finally:
        spark.sql("RESET hoodie.datasource.merge.type")
        spark.sql("DROP TABLE unmerged")


def test_values_of_paths(spark: SparkSession, tmp_path: Path) -> None:
    options = {
        "hoodie.datasource.write.keygenerator.type": "TIMESTAMP",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
    }
    schema = pa.schema({"id": pa.int64(), "t": pa.int64()})
    made = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["t"], options=options)
    made.insert([{"id": 1, "t": 1578283932000}])
    reader = spark.read.format("hudi")
    assert [one.t for one in reader.load(str(tmp_path / "t")).collect()] == [1578283932000]
    frame = reader.option("hoodie.datasource.read.extract.partition.values.from.path", "true").load(str(tmp_path / "t"))
    assert [one.t for one in frame.filter("t = '2020-01-06'").collect()] == ["2020-01-06"]
