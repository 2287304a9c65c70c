"""Lazy scans: what polars and DuckDB ask for reaches the files, and their answers are those of the table."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from pyhudi import HudiTable, TableScan
from pyhudi.errors import OptionError, SchemaError, UnsupportedError, UsageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.scan.optional_package import load_package
from pyhudi.table.scan.polars_predicate import arrow_condition

NAN = pl.lit(math.nan)
ROWS = [
    {"id": 1, "city": "oslo", "fare": 7.5, "day": date(2026, 1, 1), "at": datetime(2026, 1, 1, tzinfo=UTC), "amount": Decimal("1.50")},
    {"id": 2, "city": "oslo", "fare": math.nan, "day": date(2026, 1, 2), "at": datetime(2026, 1, 2, tzinfo=UTC), "amount": None},
    {"id": 3, "city": "rome", "fare": 9.0, "day": None, "at": None, "amount": Decimal("2.50")},
    {"id": 4, "city": "rome", "fare": None, "day": date(2026, 1, 4), "at": datetime(2026, 1, 4, tzinfo=UTC), "amount": Decimal("3.50")},
]
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "city": pa.string(),
        "fare": pa.float64(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "amount": pa.decimal128(10, 2),
    }
)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    """Four trips in two partitions; in a merge-on-read table the last write is in log files."""
    storage = MemoryStorage()
    table = HudiTable.create(storage.uri, SCHEMA, name="trips", keys=["id"], partition_by=["city"], table_type=request.param)
    table.insert(pa.Table.from_pylist(ROWS, SCHEMA).set_column(0, "id", pa.array([1, 2, 3, 4])))
    table.upsert(pa.Table.from_pylist([{**ROWS[2], "fare": 9.0}], SCHEMA))
    return table


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """The columns and conditions that scans were read with."""
    calls: list[tuple[Any, Any]] = []
    read = TableScan.read

    def recorded(scan: TableScan, columns: Any = None, filter: Any = None) -> Any:  # noqa: A002
        calls.append((columns, filter))
        return read(scan, columns, filter)

    monkeypatch.setattr(TableScan, "read", recorded)
    return calls


def ids(rows: Any) -> list[int]:
    return sorted(rows["id"].to_list() if isinstance(rows, pl.DataFrame) else rows["id"].to_pylist())


def test_frames_of_other_libraries_hold_the_rows(table: HudiTable) -> None:
    assert table.to_pandas(["id"], "city = 'rome'")["id"].tolist() == [3, 4]
    assert table.to_pandas(["amount"], types_mapper=None).shape == (4, 1)
    assert ids(table.to_polars(["id"], "fare > 8")) == [3]
    assert table.to_polars().schema["at"] == pl.Datetime("us", "UTC")
    assert len(table) == 4


def test_an_empty_table_is_a_table() -> None:
    table = HudiTable.create(MemoryStorage().uri, SCHEMA, name="t", keys=["id"])
    assert len(table) == 0
    assert table
    assert table.scan().to_polars().collect().shape == (0, 6)
    scan = table.scan()  # noqa: F841 - DuckDB looks for its name
    assert duckdb.sql("SELECT count(*) FROM scan").fetchall() == [(0,)]


@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("id") == 3,
        pl.lit(2) < pl.col("id"),
        pl.col("id").is_in([1, 4, 9]),
        (pl.col("id") > 1) & (pl.col("city") == "oslo"),
        (pl.col("id") > 3) | (pl.col("city") == "oslo"),
        pl.col("id").is_between(2, 3),
        ~(pl.col("id") == 2),
        pl.col("fare") > 8,
        pl.col("fare") >= 8.0,
        pl.col("fare") != 7.5,
        pl.col("fare") < 8.0,
        pl.col("fare") == NAN,
        pl.col("fare").is_null(),
        pl.col("fare").is_nan(),
        pl.col("day") >= date(2026, 1, 2),
        pl.col("at") < datetime(2026, 1, 2, tzinfo=UTC),
        pl.col("amount") > Decimal("2.00"),
        pl.col("amount").is_not_null(),
        pl.col("id") > 1.5,
        pl.col("city").str.starts_with("r"),
        pl.col("city").is_in(["rome", None]),
        pl.col("id") + 1 == 3,
        pl.col("id") > pl.col("fare"),
    ],
    ids=str,
)
def test_a_lazy_frame_answers_as_polars_does_on_the_rows(table: HudiTable, predicate: pl.Expr) -> None:
    lazy, eager = table.scan().to_polars(), table.to_polars()
    assert ids(lazy.filter(predicate).select("id").collect()) == ids(eager.filter(predicate).select("id"))
    assert lazy.filter(predicate).select(pl.len()).collect().item() == eager.filter(predicate).height


def test_polars_hands_down_columns_and_predicate(table: HudiTable, reads: list[tuple[Any, Any]]) -> None:
    table.scan().to_polars().filter((pl.col("id") == 3) & pl.col("city").str.ends_with("e")).select("fare").collect()
    ((columns, condition),) = reads
    assert columns == ["id", "city", "fare"]
    assert str(condition) == "(id == 3)"


def test_nan_is_greater_than_numbers_for_polars_alone() -> None:
    schema = pa.schema({"a": pa.float64()})
    assert str(arrow_condition(pl.col("a") > 1.0, schema)) == "((a > 1) or is_nan(a))"
    assert str(arrow_condition(pl.col("a") < 1.0, schema)) == "(a < 1)"
    assert arrow_condition(pl.col("a") == NAN, schema) is None


@pytest.mark.parametrize("predicate", [pl.col("b") > 1, pl.col("a").is_in([]), pl.col("a") > "x", pl.col("a") > 2**70], ids=str)
def test_what_is_not_understood_is_left_to_polars(predicate: pl.Expr) -> None:
    assert arrow_condition(predicate, pa.schema({"a": pa.int64()})) is None


def test_a_lazy_frame_is_read_as_far_as_asked(table: HudiTable) -> None:
    lazy = table.scan().to_polars()
    assert lazy.head(3).collect().height == 3
    assert lazy.select("id").head(1).collect().columns == ["id"]
    assert lazy.join(lazy, on="id").collect().height == 4
    assert lazy.filter(pl.col("id") > 1).head(1).collect().height == 1


def test_duckdb_hands_down_columns_and_filter(table: HudiTable, reads: list[tuple[Any, Any]]) -> None:
    trips = table.scan()  # noqa: F841 - DuckDB looks for its name
    assert duckdb.sql("SELECT fare FROM trips WHERE id = 3").fetchall() == [(9.0,)]
    ((columns, condition),) = reads
    assert sorted(columns) == ["fare", "id"]
    assert "id == 3" in str(condition)
    assert duckdb.sql("SELECT count(*) FROM trips WHERE city IN ('rome', 'bern') AND day IS NULL").fetchall() == [(1,)]


def test_a_condition_excludes_file_slices(table: HudiTable) -> None:
    scan = table.scan()
    assert len(scan._narrow(["id"], pc.field("city") == "rome").slices()) == 1
    assert len(scan.filter("city = 'oslo'")._narrow(["id"], "id = 1").slices()) == 1
    assert scan.filter("city = 'oslo'").filter("city = 'rome'")._selected.slices() == []


def test_a_table_is_a_relation_of_duckdb(table: HudiTable) -> None:
    trips = table  # noqa: F841 - DuckDB looks for its name
    assert duckdb.sql("SELECT sum(id) FROM trips").fetchall() == [(10,)]


def test_a_scan_is_a_pyarrow_dataset(table: HudiTable) -> None:
    scan = table.scan(["id", "city", "fare"])
    assert isinstance(scan, ds.Dataset)
    assert scan.to_table(["id"], pc.field("city") == "rome").sort_by("id").to_pylist() == [{"id": 3}, {"id": 4}]
    assert scan.head(3).num_rows == 3
    assert scan.take([0, 2], columns=["id"]).num_rows == 2
    assert scan.count_rows() == 4
    assert scan.count_rows(pc.field("id") > 1) == 3
    assert scan.to_table({"twice": pc.field("id") * 2}, "id = 4").to_pylist() == [{"twice": 8}]
    assert sum(batch.num_rows for batch in scan.to_batches(batch_size=1)) == 4
    assert scan.sort_by([("id", "descending")]).head(1)["id"].to_pylist() == [4]
    assert scan.join(table.scan(["id", "day"]), "id").to_table().num_rows == 4
    assert pa.table(scan).num_rows == 4
    assert ids(pl.scan_pyarrow_dataset(scan).filter(pl.col("id") > 2).collect()) == [3, 4]


def test_arrow_below_python_refuses_instead_of_reading_nothing(table: HudiTable) -> None:
    scan = table.scan()
    for read in (
        lambda: ds.dataset([scan]).to_table(),
        lambda: next(iter(scan.get_fragments())).to_table(),
        lambda: scan.replace_schema(scan.schema).to_table(),
    ):
        with pytest.raises(UnsupportedError, match=r"hand on scan\.to_reader\(\)"):
            read()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(scan)


def test_a_scan_reads_the_state_of_when_it_was_made(table: HudiTable) -> None:
    scan = table.scan(["id"])
    table.delete(where="id = 1")
    assert scan.count_rows() == 4
    assert ids(scan.to_arrow()) == [1, 2, 3, 4]
    assert table.scan().count_rows() == 3
    assert table.scan(as_of=table.history()["completed"][0].as_py()).count_rows() == 4


def test_batches_have_the_size_that_is_asked_for(table: HudiTable) -> None:
    assert [batch.num_rows for batch in table.to_batches(batch_size=3)] == [3, 1]
    assert [batch.num_rows for batch in table.scan().to_reader(batch_size=1)] == [1, 1, 1, 1]
    assert [batch.num_rows for batch in table.to_batches(batch_size=4)] == [4]
    assert table.to_batches(["id"], batch_size=3).read_all().sort_by("id")["id"].to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize("size", [0, -1, True, 2.5, "many"])
def test_a_batch_size_that_is_none_is_refused(table: HudiTable, size: Any) -> None:
    with pytest.raises(OptionError, match="batch_size is"):
        table.to_batches(batch_size=size)


def test_wrong_columns_filters_and_options_are_refused(table: HudiTable) -> None:
    with pytest.raises(SchemaError, match=r"no column 'fair'.*'fare'"):
        table.scan(["fair"])
    with pytest.raises(SchemaError, match=r"the scan of table .* has no column 'fare'"):
        table.scan(["id"]).scanner(["fare"])
    with pytest.raises(UsageError, match="'cty'"):
        table.scan().filter("cty = 'oslo'")
    with pytest.raises(OptionError, match="no option 'batch_readahed'"):
        table.scan().to_table(batch_readahed=1)


def test_a_package_that_is_missing_is_named() -> None:
    with pytest.raises(UnsupportedError, match="to_x needs the package no_such_package: pip install no_such_package"):
        load_package("no_such_package", "to_x")
