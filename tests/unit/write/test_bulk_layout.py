"""Bulk inserts in the layout that options ask for: order of rows in files, partitioners of Apache Hudi by name, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable, register_partitioner
from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig, new_table_properties
from pyhudi.write.options.bulk_layout import SortMode, bulk_layout

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "fare": pa.float64()})
ROWS: list[dict[str, Any]] = [
    {"id": number * 7 % 20, "city": "oslo" if number % 2 else "rome", "fare": float(number * 3 % 20)} for number in range(20)
]
MODE, COLUMNS = "hoodie.bulkinsert.sort.mode", "hoodie.bulkinsert.user.defined.partitioner.sort.columns"
CLASS, SUFFIX = "hoodie.bulkinsert.user.defined.partitioner.class", "hoodie.bulkinsert.sort.suffix.record_key"
PACKAGE = "org.apache.hudi.execution.bulkinsert."


class ByFare:
    """The dearest rides in the last task, by id in each."""

    sort_columns: tuple[str, ...] = ("id",)

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Spread by fare."""
        return [int(fare * tasks // 20) for fare in rows.column("fare").to_pylist()]


class Unsorted(ByFare):
    """The same, where rows stay as they come."""

    sort_columns = ()


class Wrong(ByFare):
    """Names a task that is not there."""

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Spread by nothing."""
        return [tasks] * rows.num_rows


class Short(ByFare):
    """Forgets rows."""

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Spread one row."""
        return [0]


class Failing(ByFare):
    """Asks for a column that is not there."""

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Fail."""
        return list(rows.column("absent"))


def written(path: Path, options: dict[str, str]) -> list[list[dict[str, Any]]]:
    """The rows of each file, in their order there."""
    table = HudiTable.create(path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    table.bulk_insert(ROWS, options={**options, "hoodie.metadata.enable": "false"})
    assert table.to_arrow().sort_by("id").to_pylist() == sorted(ROWS, key=lambda row: row["id"])
    return [pq.read_table(file, columns=["id", "fare"]).to_pylist() for file in sorted((path / "t").glob("*/*.parquet"))]


@pytest.mark.parametrize("mode", ["GLOBAL_SORT", "partition_sort"])
def test_sorted_files_hold_their_rows_by_key(mode: str, tmp_path: Path) -> None:
    for rows in written(tmp_path, {MODE: mode}):
        keys = [row["id"] for row in rows]
        assert keys == sorted(keys)


def test_rows_keep_their_order_without_a_sort_mode(tmp_path: Path) -> None:
    oslo, rome = written(tmp_path, {})
    assert [row["id"] for row in oslo] == [row["id"] for row in ROWS if row["city"] == "oslo"]
    assert [row["id"] for row in rome] == [row["id"] for row in ROWS if row["city"] == "rome"]


@pytest.mark.parametrize(
    "options", [{COLUMNS: "fare"}, {CLASS: PACKAGE + "RowCustomColumnsSortPartitioner", COLUMNS: "fare", SUFFIX: "true"}]
)
def test_sorted_files_hold_their_rows_by_the_columns_that_are_named(options: dict[str, str], tmp_path: Path) -> None:
    for rows in written(tmp_path, options):
        fares = [row["fare"] for row in rows]
        assert fares == sorted(fares)


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({}, ()),
        ({MODE: "PARTITION_PATH_REPARTITION"}, ()),
        ({MODE: "PARTITION_PATH_REPARTITION_AND_SORT"}, ("city",)),
        ({MODE: "GLOBAL_SORT"}, ("city", "id")),
        ({COLUMNS: "fare, id"}, ("city", "fare", "id")),
        ({COLUMNS: "fare", SUFFIX: "true"}, ("city", "fare", "id")),
        ({CLASS: PACKAGE + "PartitionSortPartitionerWithRows"}, ("city", "id")),
    ],
)
def test_options_decide_the_order(options: dict[str, str], order: tuple[str, ...]) -> None:
    config = TableConfig(new_table_properties(name="t", record_key_fields=["id"], partition_fields=["city"]))
    assert bulk_layout(resolve(options)).order(config, SCHEMA.names) == order


def test_parallelism_is_the_number_of_tasks_when_it_is_given() -> None:
    assert bulk_layout(resolve({})).tasks is None
    layout = bulk_layout(resolve({"hoodie.bulkinsert.shuffle.parallelism": "3", MODE: "PARTITION_PATH_REPARTITION"}))
    assert (layout.tasks, layout.mode.gathers_partitions, layout.mode is SortMode.NONE) == (3, True, False)


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({COLUMNS: "fair"}, OptionError, "Did you mean 'fare'"),
        ({CLASS: "com.example.MyPartitioner"}, UnsupportedError, "MyPartitioner is not served: Java classes are not loaded"),
        ({CLASS: "no.such.module:Thing"}, OptionError, "no partitioner can be made of it .ModuleNotFoundError"),
        ({CLASS: "pyhudi.errors:Nothing"}, OptionError, "no partitioner can be made of it .AttributeError"),
        ({CLASS: "pyhudi.errors:HudiError"}, OptionError, "is no class with a method tasks_of"),
        ({CLASS: "os:abort"}, OptionError, "is no class with a method tasks_of"),
        ({CLASS: f"{__name__}:Wrong", "hoodie.bulkinsert.shuffle.parallelism": "3"}, OptionError, "there are tasks 0 to 2"),
        ({CLASS: f"{__name__}:Short"}, OptionError, r"gave numbers of shape .1,. for 20 rows"),
        ({CLASS: f"{__name__}:Failing"}, OptionError, "failed on 20 rows: KeyError"),
        ({CLASS: f"{__name__}:ByFare", COLUMNS: "fair"}, OptionError, "Did you mean 'fare'"),
        ({CLASS: PACKAGE + "RDDCustomColumnsSortPartitioner"}, OptionError, "name some"),
        ({MODE: "SORTED"}, OptionError, "sort.mode"),
    ],
)
def test_wrong_layouts_are_refused_before_anything_is_written(options, error, reason, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    with pytest.raises(error, match=reason):
        table.bulk_insert(ROWS, options=options)
    assert table.history().num_rows == 0


def fares(rows: list[dict[str, Any]]) -> list[int]:
    """The tasks of rows among four, as `ByFare` says."""
    return [int(row["fare"] * 4 // 20) for row in rows]


@pytest.mark.parametrize("name", [f"{__name__}:ByFare", "com.example.ByFare"])
def test_rows_are_in_the_order_that_a_partitioner_of_the_user_says(name: str, tmp_path: Path) -> None:
    register_partitioner("com.example.ByFare", ByFare())
    for rows in written(tmp_path, {CLASS: name, "hoodie.bulkinsert.shuffle.parallelism": "4"}):
        order = list(zip(fares(rows), (row["id"] for row in rows), strict=True))
        assert order == sorted(order)


def test_partitioner_without_sort_columns_leaves_the_rows_of_a_task_as_they_come(tmp_path: Path) -> None:
    options = {CLASS: f"{__name__}:Unsorted", "hoodie.bulkinsert.shuffle.parallelism": "4"}
    for city, rows in zip(("oslo", "rome"), written(tmp_path, options), strict=True):
        came = [row for row in ROWS if row["city"] == city]
        assert [row["id"] for row in rows] == [row["id"] for row in sorted(came, key=lambda row: int(row["fare"] * 4 // 20))]
