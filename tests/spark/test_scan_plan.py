"""A scan is Spark's own: what its physical plan, its metrics and its statistics say."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import CorruptTableError
from tests.spark.tables import add_commit, make_table

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("amount", pa.float64()), ("note", pa.string())])


def rows(first: int, city: str, count: int = 10) -> pa.Table:
    ids = list(range(first, first + count))
    return pa.table([ids, [city] * count, [float(n) for n in ids], ["n"] * count], schema=SCHEMA)


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    partitions = {"oslo": rows(0, "oslo"), "lima": rows(10, "lima")}
    return make_table(tmp_path / "trips", SCHEMA, partitions, {"hoodie.table.partition.fields": "city"})


def load(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.format("hudi").load(str(path))


def plan_of(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_scan_is_vectorised_pruned_and_filtered_by_spark(spark: SparkSession, trips: Path) -> None:
    plan = plan_of(load(spark, trips).where("city = 'oslo' and amount > 7").select("id"))
    assert "FileScan parquet" in plan
    assert "Batched: true" in plan
    assert "ReadSchema: struct<id:bigint,amount:double>" in plan
    assert "PushedFilters: [IsNotNull(amount), GreaterThan(amount,7.0)]" in plan
    assert "PartitionFilters: [isnotnull(city" in plan
    assert "Python" not in plan


def test_meta_columns_come_first_and_the_others_in_the_order_of_the_schema(spark: SparkSession, trips: Path) -> None:
    meta = [f"_hoodie_{name}" for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")]
    assert load(spark, trips).columns == [*meta, "id", "city", "amount", "note"]


def test_filter_on_a_view_in_sql_prunes_partitions(spark: SparkSession, trips: Path) -> None:
    load(spark, trips).createOrReplaceTempView("trips_view")
    result = spark.sql("SELECT count(*) AS n FROM (SELECT * FROM trips_view WHERE amount >= 0) WHERE city = 'lima'")
    assert result.head(1)[0]["n"] == 10
    assert "PartitionFilters: [isnotnull(city" in plan_of(result)
    spark.catalog.dropTempView("trips_view")


def test_count_reads_no_data_pages(spark: SparkSession, trips: Path) -> None:
    for file in trips.glob("*/*.parquet"):
        footer = pq.read_metadata(file).serialized_size + 8
        content = file.read_bytes()
        file.write_bytes(content[:4] + b"\xff" * (len(content) - 4 - footer) + content[-footer:])
    frame = load(spark, trips)
    assert "ReadSchema: struct<>" in plan_of(frame.groupBy().count())
    assert frame.count() == 20
    with pytest.raises(Exception, match="cannot be read"):
        frame.select("note").collect()


def test_small_table_is_broadcast_and_the_large_one_is_not(spark: SparkSession, trips: Path, tmp_path: Path) -> None:
    wide = pa.table([[str(n) * 400 for n in range(40_000)]], names=["text"])
    ids = pa.array(range(40_000), pa.int64())
    large = wide.append_column("id", ids).select(["id", "text"])
    index = make_table(tmp_path / "large", large.schema, {"": large})
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "200000")
    try:
        plan = plan_of(load(spark, index).join(load(spark, trips), "id"))
        assert "BroadcastHashJoin [id" in plan
        assert "BuildRight" in plan
        both = plan_of(load(spark, index).alias("a").join(load(spark, index).alias("b"), "id"))
        assert "SortMergeJoin" in both
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_join_on_the_partition_column_prunes_at_run_time(spark: SparkSession, trips: Path) -> None:
    cities = spark.createDataFrame([("lima", 1)], "city string, k int").where("k = 1")
    joined = load(spark, trips).join(cities, "city")
    assert joined.count() == 10


def test_self_join_under_adaptive_execution_gives_every_pair(spark: SparkSession, trips: Path) -> None:
    left, right = load(spark, trips).alias("a"), load(spark, trips).alias("b")
    assert left.join(right, "id").where("a.city = b.city").count() == 20


def test_cached_data_serves_the_same_snapshot_and_not_a_later_one(spark: SparkSession, trips: Path) -> None:
    cached = load(spark, trips).cache()
    try:
        assert cached.count() == 20
        assert "InMemoryTableScan" in plan_of(load(spark, trips))
        add_commit(trips, SCHEMA, {"oslo": rows(0, "oslo", 3)}, "20260102000000000")
        assert "InMemoryTableScan" not in plan_of(load(spark, trips))
        assert load(spark, trips).count() == 13
    finally:
        cached.unpersist()


def test_dataframe_stays_with_its_snapshot(spark: SparkSession, trips: Path) -> None:
    before = load(spark, trips)
    add_commit(trips, SCHEMA, {"oslo": rows(0, "oslo", 3)}, "20260102000000000")
    assert before.count() == 20


def test_insert_into_a_view_of_the_scan_is_refused_and_writes_nothing(spark: SparkSession, trips: Path) -> None:
    load(spark, trips).createOrReplaceTempView("no_target")
    before = sorted(trips.rglob("*"))
    for statement in ("INSERT INTO no_target TABLE no_target", "INSERT OVERWRITE no_target TABLE no_target"):
        with pytest.raises(AnalysisException):
            spark.sql(statement)
    assert sorted(trips.rglob("*")) == before
    spark.catalog.dropTempView("no_target")


def test_input_files_and_file_metadata_name_the_base_files(spark: SparkSession, trips: Path) -> None:
    frame = load(spark, trips)
    names = {file.name for file in trips.glob("*/*.parquet")}
    assert {uri.rsplit("/", 1)[-1] for uri in frame.inputFiles()} == names
    assert {row[0] for row in frame.select("_metadata.file_name").distinct().collect()} == names


def test_table_without_files_has_its_columns_and_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    frame = load(spark, make_table(tmp_path, SCHEMA, {}, {"hoodie.table.partition.fields": "city"}))
    assert frame.columns[-1] == "note"
    assert frame.count() == 0
    assert frame.where("city = 'oslo'").collect() == []
    assert frame.inputFiles() == []


def test_base_file_without_rows_is_read(spark: SparkSession, tmp_path: Path) -> None:
    assert load(spark, make_table(tmp_path, SCHEMA, {"": SCHEMA.empty_table()})).collect() == []


def test_condition_that_fails_for_a_partition_is_no_damage(spark: SparkSession, trips: Path) -> None:
    for condition, problem in (("cast(city AS INT) = 3", "CAST_INVALID_INPUT"), ("1 / (length(city) - 4) > 0", "DIVIDE_BY_ZERO")):
        with pytest.raises(PySparkException, match=problem):
            load(spark, trips).where(condition).collect()
    assert load(spark, trips).where("try_cast(city AS INT) IS NULL").count() == 20


def test_partition_path_that_is_no_value_of_its_column_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("day", pa.int32())])
    partitions = {path: pa.table([[1], [1]], schema=schema) for path in ("1", "x")}
    path = make_table(tmp_path / "days", schema, partitions, {"hoodie.table.partition.fields": "day"})
    for frame in (load(spark, path), load(spark, path).where("day > 0")):
        with pytest.raises(CorruptTableError, match="does not hold values of struct<day:int>"):
            frame.collect()
