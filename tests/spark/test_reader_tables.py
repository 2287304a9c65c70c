"""`spark.table` and `spark.read.table` on Hudi tables of the session catalog."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi.errors import OptionError, UnsupportedError, UsageError
from pyhudi.spark.catalog import catalog_table
from tests.spark.tables import add_commit, make_table

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("amount", pa.int64())])
FIRST, SECOND = "20260101000000000", "20260102000000000"


def rows(city: str, amount: int) -> pa.Table:
    return pa.table([[1, 2], [city] * 2, [amount] * 2], schema=SCHEMA)


@pytest.fixture
def trips_folder(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """The base path of table `trips` of the catalog: amounts 1 at first, then 2."""
    folder = make_table(tmp_path / "trips", SCHEMA, {"oslo": rows("oslo", 1)}, {"hoodie.table.partition.fields": "city"}, instant=FIRST)
    add_commit(folder, SCHEMA, {"oslo": rows("oslo", 2)}, SECOND)
    spark.sql(f"CREATE TABLE trips USING hudi LOCATION '{folder}'")
    yield folder
    spark.sql("DROP TABLE trips")


def test_both_calls_see_the_current_timeline_every_time(spark: SparkSession, trips_folder: Path) -> None:
    for amount, instant in ((2, None), (3, "20260103000000000"), (4, "20260104000000000")):
        if instant:
            add_commit(trips_folder, SCHEMA, {"oslo": rows("oslo", amount)}, instant)
        for frame in (spark.table("trips"), spark.read.table("trips"), spark.sql("SELECT * FROM trips")):
            assert {row.amount for row in frame.collect()} == {amount}


@pytest.mark.parametrize("key", ["as.of.instant", "timestampAsOf"])
def test_as_of_instant_is_honoured_by_read_table(spark: SparkSession, trips_folder: Path, key: str) -> None:
    frame = spark.read.option(key, FIRST).table("trips")
    assert {row.amount for row in frame.collect()} == {1}
    assert frame.columns == spark.table("trips").columns
    assert frame.columns[-1] == "city"


def test_unknown_option_of_read_table_is_refused(spark: SparkSession, trips_folder: Path) -> None:
    with pytest.raises(OptionError, match=r"Did you mean 'hoodie\.datasource\.query\.type'"):
        spark.read.option("hoodie.datasource.query.typ", "snapshot").table("trips")


def test_hidden_column_of_files_names_those_of_the_table(spark: SparkSession, trips_folder: Path) -> None:
    chosen = spark.read.format("hudi").load(str(trips_folder)).select("_metadata.file_name", "_metadata.row_index").collect()
    assert sorted(row.row_index for row in chosen) == [0, 1]
    assert {row.file_name for row in chosen} == {path.name for path in trips_folder.glob(f"*/*{SECOND}.parquet")}


def test_schema_for_a_hudi_table_is_refused(spark: SparkSession, trips_folder: Path) -> None:
    with pytest.raises(UsageError, match="own schema"):
        spark.read.schema("id bigint").option("as.of.instant", FIRST).table("trips")


def test_view_over_the_table_sees_the_current_timeline(spark: SparkSession, trips_folder: Path) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW oslo AS SELECT sum(amount) AS total FROM trips WHERE city = 'oslo'")
    try:
        assert spark.sql("SELECT total FROM oslo").head(1)[0]["total"] == 4
        add_commit(trips_folder, SCHEMA, {"oslo": rows("oslo", 5)}, "20260105000000000")
        assert spark.sql("SELECT total FROM oslo").head(1)[0]["total"] == 10
    finally:
        spark.catalog.dropTempView("oslo")


def test_plain_insert_past_pyhudi_is_refused(spark: SparkSession, trips_folder: Path) -> None:
    spark.table("trips").collect()
    with pytest.raises(UnsupportedError, match="reached Spark without passing pyhudi"):
        spark._jsparkSession.sql("INSERT OVERWRITE trips SELECT * FROM trips")
    assert spark.table("trips").count() == 2


def test_threads_read_at_the_same_time(spark: SparkSession, trips_folder: Path) -> None:
    def total(_: int) -> int:
        trips = spark.read.format("hudi").load(str(trips_folder))
        joined = trips.alias("a").join(trips.alias("b").where("city = 'oslo'"), "id")
        result: int = joined.selectExpr("sum(a.amount) AS total").head(1)[0]["total"]
        return result

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(total, range(8))) == [4] * 8


def test_entry_is_found_as_a_hudi_table(spark: SparkSession, trips_folder: Path) -> None:
    match = catalog_table.find(spark, "trips")
    assert match is not None
    assert match.partition_columns == ("city",)
