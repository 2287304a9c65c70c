"""`spark.read` with its options, and how it refuses what it does not serve."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, OptionError, TableNotFound, UsageError
from tests.spark.tables import add_commit, make_table

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("amount", pa.int64())])
FIRST, SECOND = "20260101000000000", "20260102000000000"


def rows(*amounts: int) -> pa.Table:
    return pa.table([list(range(len(amounts))), list(amounts)], schema=SCHEMA)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Amounts 1, 1 after the first commit; 2, 1 and 2 after the second."""
    folder = make_table(tmp_path / "t", SCHEMA, {"": rows(1, 1)}, instant=FIRST)
    add_commit(folder, SCHEMA, {"": rows(2, 1, 2)}, SECOND)
    return folder


def amounts(frame: DataFrame) -> list[int]:
    return [row.amount for row in frame.orderBy("id").collect()]


@pytest.mark.parametrize("name", ["hudi", "HUDI", "org.apache.hudi"])
def test_format_is_known_by_each_of_its_names(spark: SparkSession, table: Path, name: str) -> None:
    assert amounts(spark.read.format(name).load(str(table))) == [2, 1, 2]


def test_load_takes_format_path_and_options_in_one_call(spark: SparkSession, table: Path) -> None:
    options = {"as.of.instant": FIRST, "hoodie.datasource.query.type": "snapshot"}
    assert amounts(spark.read.load(str(table), format="hudi", **options)) == [1, 1]


def test_path_may_come_as_option_as_list_and_as_uri(spark: SparkSession, table: Path) -> None:
    assert amounts(spark.read.format("hudi").option("path", str(table)).load()) == [2, 1, 2]
    assert amounts(spark.read.format("hudi").load([f"file://{table}"])) == [2, 1, 2]


@pytest.mark.parametrize("time", [FIRST, "20260101000000", "2026-01-01", "2026-01-01 12:00:00.000"])
def test_as_of_instant_shows_the_table_at_that_time(spark: SparkSession, table: Path, time: str) -> None:
    assert amounts(spark.read.format("hudi").option("as.of.instant", time).load(str(table))) == [1, 1]


@pytest.mark.parametrize("key", ["timestampAsOf", "versionAsOf"])
def test_time_travel_of_spark_is_that_of_hudi(spark: SparkSession, table: Path, key: str) -> None:
    assert amounts(spark.read.format("hudi").option(key, FIRST).load(str(table))) == [1, 1]
    with pytest.raises(OptionError, match="two names of one option"):
        spark.read.format("hudi").options(**{key: FIRST, "as.of.instant": "20270101"}).load(str(table))


def test_as_of_a_time_before_the_first_commit_is_empty(spark: SparkSession, table: Path) -> None:
    assert spark.read.format("hudi").option("as.of.instant", "2025-01-01").load(str(table)).count() == 0


def test_filter_finds_nan_which_spark_takes_for_the_greatest_number(spark: SparkSession, tmp_path: Path) -> None:
    result = HudiTable.create(tmp_path / "reals", pa.schema({"id": pa.int64(), "x": pa.float64()}), name="reals", keys=["id"])
    result.insert([{"id": 1, "x": 1.0}, {"id": 2, "x": float("nan")}])
    frame = spark.read.format("hudi").load(str(tmp_path / "reals"))
    assert [frame.filter(text).count() for text in ("x > 5", "x >= 5", "x = double('NaN')", "x < 5")] == [1, 1, 1, 1]


def test_read_optimized_query_reads_base_files(spark: SparkSession, table: Path) -> None:
    reader = spark.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized")
    assert amounts(reader.load(str(table))) == [2, 1, 2]


def test_each_load_sees_the_current_timeline(spark: SparkSession, table: Path) -> None:
    add_commit(table, SCHEMA, {"": rows(3)}, "20260103000000000")
    assert amounts(spark.read.format("hudi").load(str(table))) == [3]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"hoodie.datasource.query.type": "incremental"}, OptionError, "begin.instanttime"),
        ({"hoodie.datasource.query.type": "sideways"}, OptionError, "sideways"),
        ({"as.of.instant": "yesterday"}, OptionError, "yesterday"),
        ({"hoodie.datasource.query.typ": "snapshot"}, OptionError, "Did you mean 'hoodie.datasource.query.type'"),
    ],
)
def test_option_that_is_not_served_is_named(
    spark: SparkSession, table: Path, options: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        spark.read.format("hudi").options(**options).load(str(table))


def test_option_of_no_hudi_name_is_left_to_spark_with_a_hint(spark: SparkSession, table: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert spark.read.format("hudi").option("as.of.instnat", FIRST).load(str(table)).count() == 3
    assert any("Did you mean 'as.of.instant'" in record.getMessage() for record in caplog.records)


def test_path_without_a_table_is_table_not_found(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableNotFound, match=str(tmp_path)):
        spark.read.format("hudi").load(str(tmp_path))


def test_path_is_missing(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="the path of a table, or of partitions of one"):
        spark.read.format("hudi").load([])


def test_schema_given_by_the_user_is_refused(spark: SparkSession, table: Path) -> None:
    with pytest.raises(UsageError, match="own schema"):
        spark.read.format("hudi").schema("id bigint").load(str(table))


def test_other_formats_are_read_as_ever(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "p"))
    assert spark.read.parquet(str(tmp_path / "p")).count() == 3
    assert spark.read.format("parquet").option("mergeSchema", True).schema("id bigint").load(str(tmp_path / "p")).count() == 3
    assert spark.read.load(str(tmp_path / "p"), "parquet").count() == 3


def test_table_that_is_not_there_is_sparks_own_error(spark: SparkSession) -> None:
    for read in (spark.table, spark.read.table):
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            read("nobody_made_it")


@pytest.mark.parametrize("content", [b"", b"PAR1 torn", b"no Parquet at all" * 100])
def test_damaged_base_file_is_one_clear_error(spark: SparkSession, table: Path, content: bytes) -> None:
    (file,) = table.glob(f"*_{SECOND}.parquet")
    frame = spark.read.format("hudi").load(str(table))
    file.write_bytes(content)
    with pytest.raises(CorruptTableError, match=file.name):
        spark.read.format("hudi").load(str(table)).collect()
    if content:
        with pytest.raises(CorruptTableError, match=file.name):
            frame.join(frame.withColumnRenamed("amount", "other"), "id").collect()


def test_base_file_that_is_missing_is_one_clear_error(spark: SparkSession, table: Path) -> None:
    frame = spark.read.format("hudi").load(str(table))
    frame.inputFiles()
    (file,) = table.glob(f"*_{SECOND}.parquet")
    file.unlink()
    with pytest.raises(CorruptTableError, match="is missing"):
        frame.collect()


def test_damaged_file_of_another_format_stays_sparks_error(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"no Parquet at all")
    with pytest.raises(Exception, match=r"x\.parquet") as raised:
        spark.read.schema("id bigint").parquet(str(tmp_path)).collect()
    assert not isinstance(raised.value, CorruptTableError)


def test_options_without_effect_are_warned_of(spark: SparkSession, table: Path, caplog: pytest.LogCaptureFixture) -> None:
    end = "hoodie.datasource.read.end.instanttime"
    assert amounts(spark.read.format("hudi").option(end, FIRST).load(str(table))) == [2, 1, 2]
    assert any(f"option '{end}' has no effect" in one.getMessage() for one in caplog.records if one.levelname == "WARNING")


def test_settings_of_the_session_hold_for_functions_of_sql(spark: SparkSession, table: Path) -> None:
    session = spark.newSession()
    policy = "hoodie.read.timeline.holes.resolution.policy"
    session.sql("SET hoodie.datasource.merge.type=nothing")
    with pytest.raises(OptionError, match=r"hoodie\.datasource\.merge\.type"):
        session.sql(f"SELECT * FROM hudi_query('{table}', 'snapshot')").collect()
    session.sql("SET hoodie.datasource.merge.type=payload_combine")
    session.sql(f"SET {policy}=nothing")
    with pytest.raises(OptionError, match="resolution"):
        session.sql(f"SELECT * FROM hudi_table_changes('{table}', 'latest_state', 'earliest')").collect()
    session.sql(f"SET {policy}=BLOCK")
    session.sql("SET pyhudi.read.verify.checksums=perhaps")
    with pytest.raises(OptionError, match=r"pyhudi\.read\.verify\.checksums"):
        session.sql(f"SELECT * FROM hudi_table_changes('{table}', 'latest_state', 'earliest')").collect()
    session.sql("SET pyhudi.read.verify.checksums=false")
    assert session.sql(f"SELECT * FROM hudi_table_changes('{table}', 'latest_state', 'earliest')").count() == 3
