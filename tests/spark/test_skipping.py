"""Spark's scans leave out what the metadata table's indexes rule out, and find the same rows; EXPLAIN says so."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.spark.scan.explain_hook import explain_scans

pytestmark = pytest.mark.spark

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "city": pa.string(),
        "name": pa.string(),
        "fare": pa.float64(),
        "price": pa.decimal128(10, 2),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "spot": pa.struct({"x": pa.int32()}),
    }
)
GROUPS = 6


def rows(group: int) -> pa.Table:
    ids = [group * 100 + number for number in range(5)]
    return pa.table(
        [
            ids,
            ["lima" if group % 2 else "oslo"] * 5,
            [f"n{number:03}" for number in ids],
            [float(number) for number in ids],
            [Decimal(number) / 4 for number in ids],
            [date(2024, 1, 1 + group)] * 5,
            [datetime(2024, 1, 1 + group, number, tzinfo=UTC) for number in range(5)],
            [{"x": group}] * 4 + [None],
        ],
        schema=SCHEMA,
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """Merge-on-read: six file groups in two partitions, one of them with a log file."""
    path = tmp_path_factory.mktemp("skipping") / "t"
    made = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    for group in range(GROUPS):
        made.insert(rows(group), options={"hoodie.parquet.small.file.limit": "0"})
    made.upsert(rows(2).slice(0, 1).set_column(3, "fare", pa.array([1000.0])))
    return made


def load(spark: SparkSession, table: HudiTable, **options: str) -> DataFrame:
    return spark.read.format("hudi").options(**options).load(table.storage.uri)


CONDITIONS = [
    "id = 301",
    "id IN (1, 401)",
    "id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 501)",
    "name LIKE 'n10%'",
    "price BETWEEN 25.25 AND 25.75",
    "day = '2024-01-04'",
    "at >= '2024-01-06 02:00:00'",
    "to_date(at) = '2024-01-02'",
    "fare <=> 2",
    "fare > 900",
    "date_format(at, 'yyyy-MM-dd') < '2024-01-03'",
    "NOT (id < 500 OR name IS NULL)",
    "id = 7 AND fare < 0",
    "day < '2023-01-01'",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_filter_opens_fewer_files_and_finds_the_same_rows(spark: SparkSession, table: HudiTable, condition: str) -> None:
    frame = load(spark, table).where(condition)
    assert "ruled out" in explain_scans(frame)[0]
    whole = load(spark, table, **{"hoodie.enable.data.skipping": "false"}).where(condition)
    assert "ruled out" not in explain_scans(whole)[0]
    assert sorted(frame.select("id", "fare").collect()) == sorted(whole.select("id", "fare").collect())


@pytest.mark.parametrize("condition", ["spot.x IS NULL", "id % 2 = 0", "id = fare", "lower(name) = 'n001'", "fare = 'NaN'"])
def test_what_statistics_do_not_tell_is_read(spark: SparkSession, table: HudiTable, condition: str) -> None:
    frame = load(spark, table).where(condition)
    assert "ruled out" not in explain_scans(frame)[0]
    expected = load(spark, table, **{"hoodie.enable.data.skipping": "false"}).where(condition)
    assert frame.count() == expected.count()


def test_partition_filters_leave_fewer_slices_to_ask_about(spark: SparkSession, table: HudiTable) -> None:
    frame = load(spark, table).where("city = 'lima' AND id = 101")
    assert "3 by partition path" in explain_scans(frame)[0]
    assert frame.count() == 1


def test_explain_shows_the_files(spark: SparkSession, table: HudiTable, capsys: pytest.CaptureFixture[str]) -> None:
    load(spark, table).where("id = 101").explain()
    stated = capsys.readouterr().out
    assert "== Hudi files ==" in stated
    assert "5 by column_stats" in stated or "4 by column_stats" in stated


def test_a_session_setting_switches_skipping_off_for_tables_of_the_catalog(spark: SparkSession, table: HudiTable) -> None:
    spark.sql(f"CREATE TABLE skipped USING hudi LOCATION '{table.storage.uri}'")
    try:
        assert "ruled out" in explain_scans(spark.sql("SELECT * FROM skipped WHERE id = 101"))[0]
        spark.sql("SET hoodie.enable.data.skipping = false")
        assert "ruled out" not in explain_scans(spark.sql("SELECT * FROM skipped WHERE id = 101"))[0]
    finally:
        spark.sql("RESET hoodie.enable.data.skipping")
        spark.sql("DROP TABLE skipped")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """Copy-on-write, with indexes of functions."""
    made = HudiTable.create(tmp_path_factory.mktemp("indexed") / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    for group in range(GROUPS):
        made.insert(rows(group), options={"hoodie.parquet.small.file.limit": "0"})
    made.services.index("by_name", "name", using="column_stats", options={"expr": "upper"})
    made.services.index("by_day", "at", using="column_stats", options={"expr": "date_format", "format": "yyyy-MM-dd"})
    made.services.index("by_start", "name", using="bloom_filters", options={"expr": "substring", "pos": "1", "len": "3"})
    return made


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("upper(name) = 'N101'", "expr_index_by_name"),
        ("upper(name) > 'N499' AND fare < 1000", "expr_index_by_name"),
        ("date_format(at, 'yyyy-MM-dd') = '2024-01-03'", "expr_index_by_day"),
        ("substring(name, 1, 3) = 'n20'", "expr_index_by_start"),
    ],
)
def test_indexes_of_functions_serve_tests_of_them(spark: SparkSession, indexed: HudiTable, condition: str, index: str) -> None:
    frame = load(spark, indexed).where(condition)
    assert f"by {index}" in explain_scans(frame)[0]
    whole = load(spark, indexed, **{"hoodie.enable.data.skipping": "false"}).where(condition)
    assert sorted(frame.select("id").collect()) == sorted(whole.select("id").collect()) != []


@pytest.mark.parametrize("condition", ["lower(name) = 'n101'", "date_format(at, 'yyyy-MM') = '2024-01'", "substring(name, 2, 3) = '101'"])
def test_other_functions_and_arguments_are_not_served_by_an_index(spark: SparkSession, indexed: HudiTable, condition: str) -> None:
    assert "ruled out" not in explain_scans(load(spark, indexed).where(condition))[0]


def test_an_index_of_another_time_zone_is_not_asked(spark: SparkSession, indexed: HudiTable) -> None:
    condition = "date_format(at, 'yyyy-MM-dd') = '2024-01-03'"
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert "ruled out" not in explain_scans(load(spark, indexed).where(condition))[0]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_buckets_of_other_keys_are_left_out_without_a_metadata_table(spark: SparkSession, tmp_path) -> None:
    made = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    options = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4", "hoodie.metadata.enable": "false"}
    made.upsert(pa.concat_tables([rows(group) for group in range(GROUPS)]), options=options)
    result = load(spark, made).where("id IN (301, 501)")
    assert sorted(row.id for row in result.collect()) == [301, 501]
    (line,) = explain_scans(result)
    assert "1 of 4 file slices" in line or "2 of 4 file slices" in line
    assert "by bucket index" in line
