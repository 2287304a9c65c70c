"""Tables that Apache Hudi widened, on Spark: the rows of Apache Hudi, by native scans of the files as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.spark.scan.file_index import SnapshotFileIndex
from tests.spark.reader_settings import READERS, configured
from tests.spark.tables import add_commit, make_table
from tests.unit.table.test_promoted_tables import NAMES, WITH_LOGS, of_apache_hudi, strings

pytestmark = pytest.mark.spark

FixtureTable = Callable[[str], Path]
ID = ("id", pa.int64())


def load(spark: SparkSession, path: Path, **options: str) -> DataFrame:
    return spark.read.format("hudi").options(**{key.replace("__", "."): value for key, value in options.items()}).load(str(path))


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_apache_hudi(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(f"promoted/{name}")
    frame = load(spark, path)
    assert strings(frame.toArrow()) == strings(of_apache_hudi(path, "snapshot" if name in WITH_LOGS else "expected"))
    assert frame.count() == len(of_apache_hudi(path, "snapshot" if name in WITH_LOGS else "expected"))
    selected = ["id", "part.float_string", "map_long_float['a'] AS held", "deep[0].m['k'].float_double AS inner"]
    local = {row["id"]: row for row in HudiTable.open(path).to_arrow().to_pylist()}
    for row in frame.where("float_string = '2.0' OR double_string = '1.9999999999999998E23'").selectExpr(*selected).collect():
        whole = local.pop(row["id"])
        assert whole["float_string"] == "2.0" or whole["double_string"] == "1.9999999999999998E23"
        expected = (whole["part"]["float_string"], dict(whole["map_long_float"])["a"], dict(whole["deep"][0]["m"])["k"]["float_double"])
        assert repr((row["float_string"], row["held"], row["inner"])) == repr(expected)
    assert not [row for row in local.values() if row["float_string"] == "2.0"]


@pytest.mark.parametrize("name", WITH_LOGS)
def test_rows_of_base_files_and_changes_are_those_of_the_local_reader(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(f"promoted/{name}")
    optimized = load(spark, path, hoodie__datasource__query__type="read_optimized").toArrow()
    assert strings(optimized) == strings(of_apache_hudi(path, "expected"))
    since = {"hoodie__datasource__query__type": "incremental", "hoodie__datasource__read__begin__instanttime": "000"}
    assert strings(load(spark, path, **since).toArrow()) == strings(HudiTable.open(path).changes(since="000", meta_columns=True))


def widened(folder: Path, old: pa.DataType, new: pa.DataType, values: list[Any]) -> Path:
    """A table whose first commit has `old` for the column, and whose second has `new`."""
    rows = pa.table([pa.array(range(len(values)), pa.int64()), pa.array(values, old)], schema=pa.schema([ID, ("c", old)]))
    make_table(folder, rows.schema, {"": rows}, instant="20260101000000000")
    add_commit(folder, pa.schema([ID, ("c", new)]), {}, "20260102000000000")
    return folder


@pytest.mark.parametrize(
    ("old", "new", "values", "expected"),
    [
        (pa.int64(), pa.float32(), [2**53 + 1, None], [9007199254740992.0, None]),
        (pa.float32(), pa.float64(), [0.1], [0.1]),
        (pa.float32(), pa.string(), [2.0, 1e-5], ["2.0", "1.0E-5"]),
        (pa.date32(), pa.string(), [-1], ["1969-12-31"]),
        (
            pa.list_(pa.struct({"x": pa.int64()})),
            pa.list_(pa.struct({"x": pa.string()})),
            [[{"x": 5}], None],
            [[{"x": "5"}], None],
        ),
        (
            pa.struct({"x": pa.float32()}),
            pa.struct({"x": pa.float64(), "late": pa.int32()}),
            [{"x": 0.1}, None],
            [{"x": 0.1, "late": None}, None],
        ),
    ],
    ids=str,
)
def test_old_types_are_read_as_those_of_today(spark: SparkSession, tmp_path: Path, old, new, values, expected) -> None:
    path = widened(tmp_path / "t", old, new, values)
    rows = load(spark, path).orderBy("id").toArrow()["c"].to_pylist()
    assert repr(rows) == repr(expected) == repr(HudiTable.open(path).to_arrow().sort_by("id")["c"].to_pylist())


FLOATS = [0.1, 2.0, 1e-5, 3.4e38, float("nan"), None, -0.0, 16777216.0]
LONGS = [2**53 + 1, -1, 0, 2**62 + 1, 16777217, None, 7, 1]
#: The types of the columns c, d, e and f in each of three commits.
NUMBERS = [
    (pa.float32(), pa.float32(), pa.int64(), pa.int32()),
    (pa.float32(), pa.float64(), pa.int64(), pa.float32()),
    (pa.float64(), pa.float64(), pa.float64(), pa.float32()),
]


def of_numbers(folder: Path) -> Path:
    """A table of three commits, whose files have numbers in three forms; the last has one row."""
    for number, kinds in enumerate(NUMBERS):
        count = 1 if number == 2 else len(FLOATS)
        schema = pa.schema([ID, ("part", pa.string()), *zip("cdef", kinds, strict=True)])
        ids = pa.array(range(10 * number, 10 * number + count), pa.int64())
        whole = [None if one is None else one % (1 << 30) for one in LONGS]
        given: tuple[list[Any], ...] = (FLOATS, FLOATS, LONGS, whole)
        values = [pa.array(one[:count]).cast(kind, safe=False) for one, kind in zip(given, kinds, strict=True)]
        rows = pa.table([ids, pa.array([f"p{number}"] * count), *values], schema=schema)
        if number == 0:
            make_table(folder, schema, {f"p{number}": rows}, {"hoodie.table.partition.fields": "part"}, instant="20260101000000000")
        else:
            add_commit(folder, schema, {f"p{number}": rows}, f"2026010{number + 1}000000000")
    return folder


@contextmanager
def indexes_asked() -> Iterator[list[int]]:
    """Let scans ask indexes however few files there are; yields how many files each scan is left with."""
    files: list[int] = []
    choose = SnapshotFileIndex._chosen

    def counted(index: SnapshotFileIndex, partitions: Any, skipping: Any) -> Any:
        skipping = replace(skipping, at_any_price=True)
        files.append(len(skipping.choose([path for path, _ in partitions]).slices))
        return choose(index, partitions, skipping)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SnapshotFileIndex, "_chosen", counted)
        yield files


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_numbers(tmp_path_factory.mktemp("numbers") / "t")


@pytest.mark.parametrize("reader", READERS)
def test_numbers_are_scanned_with_the_doubles_of_today(spark: SparkSession, numbers: Path, reader: str) -> None:
    with configured(spark, READERS[reader]):
        frame = load(spark, numbers).select("id", "part", "c", "d", "e", "f")
        assert "Union" not in frame._jdf.queryExecution().optimizedPlan().toString()
        expected = HudiTable.open(numbers).to_arrow().sort_by("id")
        assert repr(frame.orderBy("id").toArrow().to_pylist()) == repr(expected.to_pylist())
        assert [row["id"] for row in frame.where("c = 0.1D").orderBy("id").collect()] == [0, 10, 20]
        assert [row["id"] for row in frame.where("d IS NULL OR part = 'p2'").orderBy("id").collect()] == [5, 15, 20]
        assert [row["id"] for row in frame.where("id >= 10 AND part < 'p2' AND d < 0.0002").orderBy("id").collect()] == [12, 16]
        assert [row["id"] for row in frame.where("e = 9007199254740992D AND f > 0").orderBy("id").collect()] == [0, 10, 20]
        assert frame.where("c IS NULL").count() == 2


def test_a_count_and_other_columns_need_no_conversion(spark: SparkSession, numbers: Path) -> None:
    assert load(spark, numbers).count() == 17
    assert load(spark, numbers).select("id").agg({"id": "sum"}).first() == (156,)


def test_indexes_skip_files_by_columns_that_are_converted(spark: SparkSession, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema([ID, ("c", pa.float32()), ("e", pa.int64())]), name="t", keys=["id"])
    small = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.index.column.stats.enable": "true"}
    for number in range(6):
        table.insert(pa.table([[number], pa.array([number + 0.1], pa.float32()), [number]], schema=table.schema), options=small)
    table.insert(pa.table({"id": [6], "c": [6.1], "e": [6.5]}), options=small)
    assert [str(field.type) for field in HudiTable.open(tmp_path / "t").schema] == ["int64", "double", "double"]
    frame = load(spark, tmp_path / "t")
    for condition, ids in {"c = 3.1D": [3], "c > 4.05D": [4, 5, 6], "e = 2D": [2], "e > 5.5D": [6], "c <= 0.1D": [0]}.items():
        with indexes_asked() as files:
            assert sorted(row["id"] for row in frame.where(condition).select("id").collect()) == ids, condition
        assert set(files) == {len(ids)}, condition


def test_sources_of_a_bootstrapped_table_are_converted_with_their_meta_columns(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name, ids in (("1", ["a", "b"]), ("2", ["c"])):  # the second file has doubles already
        values = pa.array([0.1, None] if name == "1" else [2.5], pa.float32() if name == "1" else pa.float64())
        whole = pa.array([1, 2] if name == "1" else [None], pa.int64())
        pq.write_table(pa.table({"id": ids, "c": values, "e": whole}), tmp_path / "source" / f"{name}.parquet")
    table = HudiTable.bootstrap(tmp_path / "t", tmp_path / "source", name="t", keys=["id"])
    table.insert(pa.table({"id": ["d"], "c": [0.3], "e": [0.5]}), options={"hoodie.parquet.small.file.limit": "0"})
    frame = load(spark, tmp_path / "t")
    assert "Union" not in frame._jdf.queryExecution().optimizedPlan().toString()
    rows = [tuple(row) for row in frame.select("_hoodie_record_key", "id", "c", "e").orderBy("id").collect()]
    assert rows == [("a", "a", 0.1, 1.0), ("b", "b", None, 2.0), ("c", "c", 2.5, None), ("d", "d", 0.3, 0.5)]
    assert [row["c"] for row in frame.where("_hoodie_record_key = 'a' AND c = 0.1D").select("c").collect()] == [0.1]
    assert [row["id"] for row in frame.where("c < 1").select("id").orderBy("id").collect()] == ["a", "d"]


def test_scans_of_widened_files_skip_by_other_columns(spark: SparkSession, tmp_path: Path) -> None:
    old, new = pa.schema([ID, ("n", pa.int32()), ("c", pa.int64())]), pa.schema([ID, ("n", pa.int64()), ("c", pa.string())])
    table = HudiTable.create(tmp_path / "t", old, name="t", keys=["id"])
    small = {"hoodie.parquet.small.file.limit": "0"}
    for number in range(12):
        table.insert(pa.table([[number], [number], [number]], schema=old), options=small)
    table.insert(pa.table([[99], [99], ["99"]], schema=new), options=small)
    frame = load(spark, tmp_path / "t").select("id", "n", "c")
    assert [tuple(row) for row in frame.where("c = '7'").collect()] == [(7, 7, "7")]
    assert [tuple(row) for row in frame.where("id = 7 AND n = 7 AND c > '1'").collect()] == [(7, 7, "7")]
    assert [tuple(row) for row in frame.where("n > 50").collect()] == [(99, 99, "99")]
    with indexes_asked() as files:
        assert [tuple(row) for row in load(spark, tmp_path / "t").where("id = 7").select("id", "c").collect()] == [(7, "7")]
    assert set(files) == {1}
    assert len(files) >= 2  # the scan of old files, and that of today's


def test_files_are_looked_at_only_where_the_first_schema_leaves_something_open(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_files: list[str] = []
    monkeypatch.setattr("pyhudi.spark.scan.promoted_files._footer_schema", lambda _, file: opened_files.append(file.path) or pa.schema([]))  # type: ignore[func-returns-value, redundant-expr]
    columns = pa.schema([ID, ("c", pa.string())])
    load(spark, make_table(tmp_path / "same", columns, {"": pa.table([[1], ["x"]], schema=columns)}))
    assert opened_files == []
    load(spark, widened(tmp_path / "wide", pa.int32(), pa.string(), [1]))
    assert len(opened_files) > 0


def test_table_is_read_after_its_history_was_lost(spark: SparkSession, tmp_path: Path) -> None:
    """An archive that cannot be asked, or a first commit that is missing, leaves it open how old files are typed."""
    path = widened(tmp_path / "t", pa.float32(), pa.string(), [2.0])
    for file in (path / ".hoodie").glob("20260101*"):
        file.unlink()
    (path / ".hoodie" / "archived").mkdir(exist_ok=True)
    (path / ".hoodie" / "archived" / ".commits_.archive.1").write_bytes(b"")
    assert [row["c"] for row in load(spark, path).collect()] == ["2.0"]
