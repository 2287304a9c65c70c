"""Reads that show file slices or instants of a table in place of its rows, by options of a DataFrame reader; and `hudi_metadata` of SQL.

Columns and values are those that Apache Hudi 1.2.0 returns, but for differences that docs/differences.md states.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi.errors import OptionError, TableNotFound

pytestmark = pytest.mark.spark

SLICES = "hoodie.datasource.read.create.filesystem.relation"
SUBPATH = "hoodie.datasource.read.table.valued.function.filesystem.relation.subpath"
INSTANTS = "hoodie.datasource.read.table.valued.function.timeline.relation"
INSTANT_COLUMNS = (
    "struct<Timestamp:string,Action:string,State:string,Completion_Time:string,File_Name:string,Total_Bytes_Written:bigint,"
    "Total_Files_Updated:bigint,Total_Partitions_Written:bigint,Total_Records_Written:bigint,Total_Updated_Records_Written:bigint,"
    "Total_Write_Errors:bigint>"
)


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("views") / "t")
    rows = spark.createDataFrame([(1, "oslo", 10), (2, "rome", 11)], "id INT, city STRING, ts BIGINT")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.metadata.index.column.stats.enable": "true",
    }
    for _ in range(2):
        rows.write.format("hudi").options(**options).mode("append").save(path)
    return path


def test_file_slices_are_read_in_place_of_rows(spark: SparkSession, table: str) -> None:
    slices = spark.read.format("hudi").option(SLICES, "true").load(table)
    assert slices.schema.simpleString() == (
        "struct<File_ID:string,Partition_Path:string,Base_Instant_Time:string,Base_File_Path:string,Base_File_Size:bigint,"
        "Log_File_Count:bigint,Log_File_Size:bigint,Log_File_Scheduled:bigint,Log_File_Unscheduled:bigint>"
    )
    assert {row.Partition_Path for row in slices.collect()} == {"oslo", "rome"}
    below = spark.read.format("hudi").option(SLICES, "true").option(SUBPATH, "oslo").load(table).collect()
    assert [row.Partition_Path for row in below] == ["oslo", "oslo"]
    assert spark.read.format("hudi").option(SLICES, "false").load(table).count() == 2


def test_instants_are_read_in_place_of_rows(spark: SparkSession, table: str) -> None:
    reader = spark.read.format("hudi").option(INSTANTS, "true")
    instants = reader.load(table)
    assert instants.schema.simpleString() == INSTANT_COLUMNS
    assert [(row.Action, row.State, row.Total_Records_Written) for row in instants.orderBy("Timestamp").collect()] == [
        ("commit", "COMPLETED", 2)
    ] * 2
    assert reader.option(f"{INSTANTS}.archived", "true").load(table).count() == 2


def test_what_no_read_of_rows_can_show_is_refused(spark: SparkSession, table: str) -> None:
    with pytest.raises(OptionError, match="one read shows one of them"):
        spark.read.format("hudi").option(SLICES, "true").option(INSTANTS, "true").load(table)
    with pytest.raises(OptionError, match="elsewhere hudi_filesystem_view"):
        spark.readStream.format("hudi").option(SLICES, "true").load(table)
    with pytest.raises(TableNotFound):
        spark.read.format("hudi").option(INSTANTS, "true").load(table + "-none")
    spark.sql(f"CREATE TABLE shown USING hudi LOCATION '{table}'")
    spark.sql(f"SET {INSTANTS} = true")
    try:
        with pytest.raises(OptionError, match="elsewhere hudi_query_timeline"):
            spark.sql("SELECT * FROM shown").collect()
    finally:
        spark.sql(f"RESET {INSTANTS}")
        spark.sql("DROP TABLE shown")


def test_bounds_of_statistics_have_the_members_of_apache_hudis_union(spark: SparkSession, table: str) -> None:
    rows = spark.sql(
        f"""SELECT ColumnStatsMetadata.columnName AS name, ColumnStatsMetadata.minValue.member1.value AS whole,
        ColumnStatsMetadata.minValue.member2.value AS long, ColumnStatsMetadata.maxValue.member6.value AS text,
        ColumnStatsMetadata.valueType.typeOrdinal AS type FROM hudi_metadata('{table}')
        WHERE type = 3 AND ColumnStatsMetadata.columnName IN ('id', 'ts', '_hoodie_record_key') AND NOT ColumnStatsMetadata.isDeleted"""
    )
    newest = {(row.name, row.whole, row.long, row.text, row.type) for row in rows.collect()}
    assert newest == {
        ("id", 1, None, None, 3),
        ("id", 2, None, None, 3),
        ("ts", None, 10, None, 4),
        ("ts", None, 11, None, 4),
        ("_hoodie_record_key", None, None, "1", 7),
        ("_hoodie_record_key", None, None, "2", 7),
    }


def test_the_path_of_the_table_as_an_option(spark: SparkSession, table: str, tmp_path: Path) -> None:
    option = "hoodie.base.path"
    assert spark.read.format("hudi").option(option, f"file://{table}").load(table).count() == 2
    for path in (table, f"{table}/oslo"):
        with pytest.raises(OptionError, match="is not the path of this table"):
            spark.read.format("hudi").option(option, "/elsewhere").load(path)
    rows = spark.read.format("hudi").load(table).select("id", "city", "ts")
    with pytest.raises(OptionError, match="is not the path of this table"):
        rows.write.format("hudi").option("hoodie.table.name", "t").option(option, "/elsewhere").save(str(tmp_path / "new"))
    assert not list((tmp_path / "new").iterdir())
