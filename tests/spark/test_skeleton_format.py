"""The format of scans with skeletons: rows of skeletons and sources meet whatever batches, splits, filters and readers Spark chooses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, UnsupportedError
from tests.bootstrapped import rides
from tests.spark.reader_settings import READERS, configured

ROWS = 12_000
KEY = "_hoodie_record_key"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """A table of one source file, whose row groups end elsewhere than Spark's batches and the skeleton's row groups."""
    folder = tmp_path_factory.mktemp("skeletons")
    (folder / "source").mkdir()
    pq.write_table(rides(range(ROWS), "oslo"), folder / "source" / "a.parquet", row_group_size=5000)
    return HudiTable.bootstrap(folder / "rides", folder / "source", name="rides", keys=["id"])


def load(spark: SparkSession, table: HudiTable) -> DataFrame:
    return spark.read.format("hudi").load(table.storage.uri)


@pytest.mark.parametrize("reader", READERS)
def test_each_row_has_its_meta_columns_whatever_way_spark_reads(spark: SparkSession, table: HudiTable, reader: str) -> None:
    with configured(spark, READERS[reader]):
        read = load(spark, table)
        rows = read.select("id", KEY, "_hoodie_commit_seqno", "_hoodie_file_name").where(f"{KEY} = id")
        by_id = {row.id: row for row in rows.collect()}
        assert len(by_id) == ROWS
        assert by_id["k7000"]["_hoodie_commit_seqno"] == "00000000000001_0_7000"
        assert {row["_hoodie_file_name"].rpartition("_")[2] for row in by_id.values()} == {"00000000000001.parquet"}
        late = read.where("amount >= 6000").select(KEY).collect()  # the first row group is left out
        assert {row[0] for row in late} == {f"k{number}" for number in range(6000, ROWS)}
        assert [row.id for row in read.where(f"{KEY} IN ('k11999', 'k3')").orderBy("id").collect()] == ["k11999", "k3"]
        assert read.where(f"{KEY} IS NULL").count() == 0
        assert read.where(f"{KEY} = 'none'").count() == 0


def test_values_stay_with_their_rows_behind_python_functions_and_sorts(spark: SparkSession, table: HudiTable) -> None:
    same = F.udf(lambda text: text)
    assert load(spark, table).select(same("id").alias("id"), KEY).where(f"id = {KEY}").count() == ROWS
    least = load(spark, table).orderBy(F.desc("amount")).limit(3).select(KEY, "amount").collect()
    assert [row[KEY] for row in least] == [f"k{ROWS - 1}", f"k{ROWS - 2}", f"k{ROWS - 3}"]


def test_filters_on_record_keys_reach_the_scan(spark: SparkSession, table: HudiTable) -> None:
    plan = load(spark, table).where(f"{KEY} = 'k7'").select("id")._jdf.queryExecution().executedPlan().toString()
    assert f"EqualTo({KEY},k7)" in plan


@pytest.mark.parametrize("reader", ["batches", "rows", "splits"])
def test_of_rows_that_are_not_between_pages_that_match_none_leaves_the_scan(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    (tmp_path / "source").mkdir()
    ids = [f"k{number:05}" for number in range(50_000)]  # three pages of the skeleton, of 20,000 rows
    pq.write_table(pa.table({"id": ids, "amount": range(50_000)}), tmp_path / "source" / "a.parquet", row_group_size=15_000)
    table = HudiTable.bootstrap(tmp_path / "rides", tmp_path / "source", name="rides", keys=["id"])
    in_pages: dict[str, tuple[Iterable[int], int]] = {
        f"{KEY} = 'k25000'": ([25_000], 30_000),
        f"{KEY} IN ('k00007', 'k39999')": ([7, 39_999], 50_000),
        f"{KEY} >= 'k44999'": (range(44_999, 50_000), 20_000),
        f"{KEY} < 'k00002' AND amount < 40000": ([0, 1], 30_000),
        f"{KEY} LIKE 'k2000%' OR {KEY} <=> 'k33333'": ([*range(20_000, 20_010), 33_333], 30_000),
        f"{KEY} IS NULL": ([], 0),
        f"{KEY} != 'k00000'": (range(1, 50_000), 50_000),
    }
    with configured(spark, {**READERS[reader], "spark.sql.adaptive.enabled": "false"}):
        for condition, (expected, most) in in_pages.items():
            read = load(spark, table).where(condition).select(KEY, "amount")
            assert sorted(map(tuple, read.collect())) == [(ids[number], number) for number in expected], condition
            scan = read._jdf.queryExecution().executedPlan().collectLeaves().head()
            assert scan.metrics().apply("numOutputRows").value() <= most, condition


def test_one_scan_reads_skeletons_and_the_files_written_since(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name, start in (("a", 0), ("b", 10)):
        pq.write_table(rides(range(start, start + 10), "oslo"), tmp_path / "source" / f"{name}.parquet")
    table = HudiTable.bootstrap(tmp_path / "rides", tmp_path / "source", name="rides", keys=["id"])
    table.upsert(rides([3], "rome", 1.5))
    read = load(spark, table)
    plan = read._jdf.queryExecution().executedPlan().toString()
    assert plan.count("FileScan") == 1
    assert "Union" not in plan
    assert {row[KEY]: row.amount for row in read.collect()} == {f"k{n}": 1.5 if n == 3 else float(n) for n in range(20)}
    assert read.where("_hoodie_commit_time = '00000000000001'").count() == 19


def write_source(path: Path, rows: int, size: int | None = None) -> int:
    """Write rows into a file of a size, which is returned; padding in the footer makes up for it."""
    padding, data = 3000, rides(range(rows), "oslo")
    for _ in range(3):
        with pq.ParquetWriter(path, data.schema, use_dictionary=False, compression="none") as writer:
            writer.write_table(data, row_group_size=1000)
            writer.add_key_value_metadata({"padding": "." * padding})
        made = path.stat().st_size
        if size in (None, made):
            return made
        padding += size - made
    raise AssertionError(size)


@pytest.mark.parametrize("rows", [4999, 5001])
@pytest.mark.parametrize("reader", ["batches", "rows", "splits"])
def test_a_source_with_another_number_of_rows_than_its_skeleton_is_named(
    spark: SparkSession, tmp_path: Path, rows: int, reader: str
) -> None:
    (tmp_path / "source").mkdir()
    source = tmp_path / "source" / "a.parquet"
    size = write_source(source, 5000)
    times = source.stat()
    table = HudiTable.bootstrap(tmp_path / "rides", tmp_path / "source", name="rides", keys=["id"])
    write_source(source, rows, size)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    with configured(spark, READERS[reader]):
        for filtered in ("true", "amount > 2500"):
            with pytest.raises(CorruptTableError, match=r"another number of rows than its source file .*a\.parquet"):
                load(spark, table).where(filtered).select(KEY, "amount").collect()


def test_a_damaged_skeleton_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    pq.write_table(rides(range(10), "oslo"), tmp_path / "source" / "a.parquet")
    table = HudiTable.bootstrap(tmp_path / "rides", tmp_path / "source", name="rides", keys=["id"])
    read = load(spark, table).select(KEY)
    (skeleton,) = (tmp_path / "rides").glob("*_00000000000001.parquet")
    name = skeleton.name
    skeleton.write_bytes(b"PAR1 is what this is not")
    with pytest.raises(CorruptTableError, match=name):
        read.collect()


def test_a_column_of_the_source_that_spark_does_not_read_is_named_and_the_advice_works(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name, mixed in (("a", [1, 2]), ("b", ["x", "y"])):
        columns = {"id": [f"{name}1", f"{name}2"], "mixed": mixed, "half": pa.array([0.5, 1.0], pa.float16())}
        pq.write_table(pa.table({**columns, "at": pa.array([1000, 2000], pa.timestamp("ns"))}), tmp_path / "source" / f"{name}.parquet")
    table = HudiTable.bootstrap(tmp_path / "rides", tmp_path / "source", name="rides", keys=["id"])
    types = {
        "mixed": "INT64, the table as string",
        "half": "FIXED_LEN_BYTE_ARRAY, the table as float",
        "at": "INT64, the table as timestamp",
    }
    for column, stated in types.items():
        named = rf"Source file .*[ab]\.parquet of the bootstrapped table .*rides holds column \[{column}\] as {stated}.*FullRecord"
        for selected in ([column], [KEY, column]):
            with pytest.raises(UnsupportedError, match=named):
                load(spark, table).select(*selected).collect()
    options = {"hoodie.bootstrap.mode.selector": "FullRecordBootstrapModeSelector"}
    copied = HudiTable.bootstrap(tmp_path / "copied", tmp_path / "source", name="rides", keys=["id"], options=options)
    assert sorted(row.mixed for row in load(spark, copied).collect()) == ["1", "2", "x", "y"]
    assert load(spark, copied).where("half = 0.5").count() == 2
    assert load(spark, table).count() == 4  # queries without these columns work
