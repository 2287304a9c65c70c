"""A snapshot of a merge-on-read table on Spark: one native scan, whose filter leaves replaced base rows out."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, OptionError

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("amount", pa.int64()), ("note", pa.string())])
READ_OPTIMIZED = {"hoodie.datasource.query.type": "read_optimized"}


def rows(ids: list[int], city: str, amount: int) -> pa.Table:
    return pa.table([ids, [city] * len(ids), [amount] * len(ids), [f"{city} {n}" for n in ids]], schema=SCHEMA)


@pytest.fixture
def trips(tmp_path: Path) -> HudiTable:
    """Ten rows each in oslo, lima and rome; 3 and 4 of oslo updated from 1 to 100, 15 of lima deleted, rome without logs."""
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    first = [rows(list(range(n, n + 10)), city, 1) for n, city in ((0, "oslo"), (10, "lima"), (20, "rome"))]
    table.insert(pa.concat_tables(first))
    table.upsert(rows([3, 4], "oslo", 100))
    table.delete(rows([15], "lima", 1))
    return table


def load(spark: SparkSession, table: HudiTable, **options: str) -> DataFrame:
    return spark.read.format("hudi").options(**options).load(table.storage.uri)


def plan_of(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def delta_files() -> set[Path]:
    return set(Path(SparkFiles.getRootDirectory()).glob("pyhudi-delta/*.parquet"))


def test_snapshot_is_one_vectorised_scan_without_join_or_python(spark: SparkSession, trips: HudiTable) -> None:
    plan = plan_of(load(spark, trips))
    assert len(re.findall("FileScan parquet", plan)) == 1
    assert "Batched: true" in plan
    assert not re.search("Join|Union|Exchange|Python", plan)


def test_columns_are_pruned_and_filters_pushed(spark: SparkSession, trips: HudiTable) -> None:
    plan = plan_of(load(spark, trips).where("city = 'oslo' and amount > 7").select("id"))
    assert "PushedFilters: [IsNotNull(amount), GreaterThan(amount,7)]" in plan
    assert "PartitionFilters: [isnotnull(city" in plan
    assert "id:bigint,amount:bigint," in plan
    assert "note" not in plan


def test_rows_are_those_of_the_local_reader(spark: SparkSession, trips: HudiTable) -> None:
    result = load(spark, trips).orderBy("id").toArrow().select(SCHEMA.names)
    assert result.to_pylist() == trips.to_arrow().sort_by("id").to_pylist()
    assert result.num_rows == 29


def test_filter_on_a_column_never_shows_what_an_update_replaced(spark: SparkSession, trips: HudiTable) -> None:
    oslo = load(spark, trips).where("city = 'oslo'")
    assert sorted(row.id for row in oslo.where("amount = 1").collect()) == [0, 1, 2, 5, 6, 7, 8, 9]
    assert sorted(row.id for row in oslo.where("amount = 100").collect()) == [3, 4]


def test_user_filter_is_not_evaluated_on_replaced_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    table.insert(rows([1, 2], "oslo", 0))
    table.upsert(rows([1, 2], "oslo", 5))
    assert load(spark, table).where("10 div amount = 2").count() == 2


def test_masks_hold_when_row_groups_are_skipped(spark: SparkSession, trips: HudiTable) -> None:
    base = next(Path(trips.storage.uri).glob("oslo/*.parquet"))
    content = pq.read_table(base)
    pq.write_table(content, base, row_group_size=2)
    assert sorted(row.id for row in load(spark, trips).where("id in (3, 8)").collect()) == [3, 8]
    assert load(spark, trips).where("id = 3").head(1)[0]["amount"] == 100


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.sql.parquet.enableVectorizedReader": "false"},
        {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
        {"spark.sql.files.maxPartitionBytes": "100000"},
    ],
    ids=["row by row", "interpreted", "split files"],
)
def test_rows_are_the_same_however_spark_reads(spark: SparkSession, trips: HudiTable, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        assert load(spark, trips).where("id >= 0").agg({"amount": "sum"}).head(1)[0][0] == 27 + 200
    finally:
        for name in settings:
            spark.conf.unset(name)


def test_only_the_partitions_of_the_query_are_merged(spark: SparkSession, trips: HudiTable) -> None:
    log = next(Path(trips.storage.uri).glob("lima/.*log*"))
    log.write_bytes(b"damaged")
    assert load(spark, trips).where("city = 'oslo'").count() == 10
    with pytest.raises(CorruptTableError, match="lima"):
        load(spark, trips).where("id > 0").count()


def test_slice_is_merged_once_for_all_queries_of_a_session(spark: SparkSession, trips: HudiTable) -> None:
    load(spark, trips).where("id > 0").count()
    log = next(Path(trips.storage.uri).glob("oslo/.*log*"))
    log.write_bytes(b"\0" * log.stat().st_size)
    assert load(spark, trips).agg({"amount": "sum"}).head(1)[0][0] == 27 + 200


def test_reading_again_after_a_write_sees_it(spark: SparkSession, trips: HudiTable) -> None:
    before = load(spark, trips)
    assert before.where("amount = 100").count() == 2
    trips.upsert(rows([3], "oslo", 200))
    assert load(spark, trips).where("amount >= 100").orderBy("id").select("id", "amount").collect() == [(3, 200), (4, 100)]
    assert before.where("amount = 100").count() == 2


def test_self_join_reads_both_sides_merged(spark: SparkSession, trips: HudiTable) -> None:
    frame = load(spark, trips)
    assert frame.alias("a").join(frame.alias("b"), "id").where("a.amount = b.amount").count() == 29


def test_time_travel_reads_the_logs_of_that_time(spark: SparkSession, trips: HudiTable) -> None:
    first = trips.history()["requested"][0].as_py()
    result = load(spark, trips, **{"as.of.instant": first}).agg({"amount": "sum", "id": "count"}).head(1)[0]
    assert tuple(result) == (30, 30)


def test_read_optimized_leaves_logs_out(spark: SparkSession, trips: HudiTable) -> None:
    assert load(spark, trips, **READ_OPTIMIZED).agg({"amount": "sum"}).head(1)[0][0] == 30
    assert "_pyhudi" not in plan_of(load(spark, trips, **READ_OPTIMIZED))


def test_cached_data_serves_the_same_snapshot_only(spark: SparkSession, trips: HudiTable) -> None:
    frame = load(spark, trips).cache()
    try:
        assert "InMemoryRelation" in plan_of(load(spark, trips))
        trips.upsert(rows([5], "oslo", 7))
        assert "InMemoryRelation" not in plan_of(load(spark, trips))
    finally:
        frame.unpersist()


def test_input_files_are_those_of_the_table(spark: SparkSession, trips: HudiTable) -> None:
    result = load(spark, trips).inputFiles()
    assert len(result) == 5
    assert all(file.startswith(f"file:{trips.storage.uri}/") for file in result)


def test_delta_rows_stand_below_the_folder_that_spark_removes_and_not_in_the_table(spark: SparkSession, trips: HudiTable) -> None:
    before, tables_own = delta_files(), set(Path(trips.storage.uri).rglob("*"))
    load(spark, trips).where("id > 0").count()
    assert len(delta_files() - before) == 1  # the delete of lima leaves no row
    assert set(Path(trips.storage.uri).rglob("*")) == tables_own


def test_delta_rows_go_to_the_folder_that_the_option_names(spark: SparkSession, trips: HudiTable, tmp_path: Path) -> None:
    frame = load(spark, trips, **{"pyhudi.merge.folder": str(tmp_path / "shared")})
    assert frame.where("amount = 100").count() == 2
    assert len(list((tmp_path / "shared").rglob("*.parquet"))) == 1


def test_cluster_without_shared_folder_is_refused_with_the_options_name(
    spark: SparkSession, trips: HudiTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "master", "spark://cluster:7077")
    with pytest.raises(OptionError, match=r"pyhudi\.merge\.folder"):
        load(spark, trips).where("id > 0").collect()
