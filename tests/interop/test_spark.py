"""pyhudi on Spark and Apache Hudi on Spark, on the same tables: SQL statements, DataFrame writes, every type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.kinds import Kind, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, every_type, trips

PURCHASES = [
    ("purchase-1", 101, "COMPLETED", "2026-11-30"),
    ("purchase-2", 101, "PENDING", "2026-11-30"),
    ("purchase-3", 102, "PENDING", "2026-12-01"),
    ("purchase-4", 103, "COMPLETED", "2026-12-01"),
    ("purchase-5", 101, "COMPLETED", "2026-12-01"),
]
COLUMNS = ("id", "customer", "status", "day")
CREATE = (
    "CREATE TABLE {name} (id STRING, customer BIGINT, status STRING, day STRING) USING hudi "
    "TBLPROPERTIES (primaryKey = 'id') PARTITIONED BY (day) LOCATION '{path}'"
)
INSERT = "INSERT INTO {name} VALUES " + ", ".join(str(purchase) for purchase in PURCHASES)


def purchases(**status: str) -> list[dict[str, Any]]:
    """The five purchases, with another status where one is given and without those whose status is empty."""
    rows = [dict(zip(COLUMNS, purchase, strict=True)) for purchase in PURCHASES]
    changed = [{**row, "status": status.get(str(row["id"]).replace("-", "_"), row["status"])} for row in rows]
    return [row for row in changed if row["status"]]


def on_spark(session: SparkSession, path: Path) -> list[dict[str, Any]]:
    return data(session.read.format("hudi").load(str(path)).toArrow())


def test_sql_of_both_sides_in_turn_on_a_table_of_pyhudi(reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    spark.sql(CREATE.format(name="ours", path=path))
    spark.sql(INSERT.format(name="ours"))
    spark.sql("UPDATE ours SET status = 'COMPLETED' WHERE id = 'purchase-2'")
    spark.sql("DELETE FROM ours WHERE id = 'purchase-3'")
    expected = purchases(purchase_2="COMPLETED", purchase_3="")
    assert_both_read(reference, path, expected)
    reference.sql(
        f"CREATE TABLE ours_there USING hudi LOCATION '{path}'",
        "UPDATE ours_there SET status = 'SENT' WHERE id = 'purchase-4'",
        "DELETE FROM ours_there WHERE id = 'purchase-1'",
    )
    expected = purchases(purchase_1="", purchase_2="COMPLETED", purchase_3="", purchase_4="SENT")
    assert on_spark(spark, path) == expected
    assert data(spark.sql("SELECT * FROM ours").toArrow()) == expected
    spark.sql("UPDATE ours SET status = 'LOST' WHERE status = 'SENT'")
    assert_both_read(reference, path, purchases(purchase_1="", purchase_2="COMPLETED", purchase_3="", purchase_4="LOST"))


def test_sql_of_both_sides_in_turn_on_a_table_of_apache_hudi(
    reference: ReferenceHudi,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    path = tmp_path / "t"
    reference.sql(CREATE.format(name="theirs", path=path), INSERT.format(name="theirs"))
    spark.sql(f"CREATE TABLE theirs_here USING hudi LOCATION '{path}'")
    spark.sql("UPDATE theirs_here SET status = 'COMPLETED' WHERE id = 'purchase-2'")
    spark.sql("DELETE FROM theirs_here WHERE id = 'purchase-3'")
    assert_both_read(reference, path, purchases(purchase_2="COMPLETED", purchase_3=""))
    reference.sql("UPDATE theirs SET status = 'SENT' WHERE id = 'purchase-2'")
    assert on_spark(spark, path) == purchases(purchase_2="SENT", purchase_3="")


@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert"])
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_data_frames_written_by_pyhudi_are_continued(
    operation: str,
    engine: str,
    reference: ReferenceHudi,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    path = tmp_path / "t"
    kind = Kind("frames")
    options = kind.reference_options(operation) | {"pyhudi.engine": engine}
    spark.createDataFrame(trips(0, 8)).write.format("hudi").options(**options).mode("append").save(str(path))
    assert_both_read(reference, path, trips(0, 8).sort_by("id").to_pylist())
    kind.reference_writes(reference, path, "upsert", trips(6, 10, amount=1))
    expected = pa.concat_tables([trips(0, 6), trips(6, 10, amount=1)]).sort_by("id").to_pylist()
    assert on_spark(spark, path) == expected


def test_every_type_of_a_data_frame_is_read_and_rewritten(reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    kind = Kind("types", partition_by=("part",))
    rows = every_type()
    options = kind.reference_options("upsert")
    # From a file, since Spark takes Arrow's times without zone for times with one.
    pq.write_table(rows, tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    frame.write.format("hudi").options(**options).mode("overwrite").save(str(path))
    assert data(reference.read(path)) == data(rows)
    kind.reference_writes(reference, path, "upsert", rows.slice(0, 1))
    assert on_spark(spark, path) == data(rows)
    assert data(HudiTable.open(path).to_arrow()) == data(rows)
