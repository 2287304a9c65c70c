"""Which base files take new rows: those that are cheap to rewrite or rewritten anyway; every small one where options state the limit."""

from __future__ import annotations

import pytest

from pyhudi.table.hudi_table import HudiTable
from pyhudi.write.plan import insert_placement
from tests.unit.table.tables import make_table, ride, rows_of

STATED = {"hoodie.parquet.small.file.limit": "104857600"}
TYPES = pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])


def table_with_a_costly_file(monkeypatch: pytest.MonkeyPatch, table_type: str = "COPY_ON_WRITE") -> HudiTable:
    """A table whose only file is larger than what is rewritten for few rows."""
    table = make_table(table_type=table_type)
    table.insert([ride(number) for number in range(3000)])
    (base,) = table.inspect.files().column("bytes").to_pylist()
    monkeypatch.setattr(insert_placement, "_CHEAP_BYTES", base - 1)
    return table


def rows_in_files(table: HudiTable) -> list[int]:
    """The rows of each live base file, in ascending order."""
    names = table.to_arrow(meta_columns=True).column("_hoodie_file_name").value_counts().to_pylist()
    return sorted(one["counts"] for one in names)


@TYPES
@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_few_new_rows_leave_a_costly_file_alone_and_gather_in_a_new_one(monkeypatch, table_type, operation) -> None:
    table = table_with_a_costly_file(monkeypatch, table_type)
    for number in range(4000, 4003):
        getattr(table, operation)([ride(number)])
    assert rows_in_files(table) == [3, 3000]
    assert [row["id"] for row in rows_of(table)] == [*range(3000), *range(4000, 4003)]


@TYPES
def test_a_stated_limit_is_obeyed_whatever_the_file_costs(monkeypatch, table_type) -> None:
    table = table_with_a_costly_file(monkeypatch, table_type)
    table.insert([ride(4000)], STATED)
    assert rows_in_files(table) == [3001]


@TYPES
def test_a_file_above_a_stated_limit_takes_nothing(monkeypatch, table_type) -> None:
    table = table_with_a_costly_file(monkeypatch, table_type)
    table.insert([ride(4000)], {"hoodie.parquet.small.file.limit": "1000"})
    assert rows_in_files(table) == [1, 3000]


def test_a_file_whose_rows_change_takes_the_new_rows_too(monkeypatch) -> None:
    table = table_with_a_costly_file(monkeypatch)
    table.upsert([ride(7, value=1), ride(4000)])
    assert rows_in_files(table) == [3001]
    assert table.to_arrow(filter="id = 7").to_pylist() == [ride(7, value=1)]


def test_many_new_rows_fill_a_file_that_is_not_much_larger(monkeypatch) -> None:
    table = table_with_a_costly_file(monkeypatch)
    monkeypatch.setattr(insert_placement, "_MOST_AMPLIFIED", 1000)
    table.insert([ride(number) for number in range(4000, 6000)])
    assert rows_in_files(table) == [5000]


@TYPES
def test_a_small_file_of_many_narrow_rows_is_left_alone(monkeypatch, table_type) -> None:
    table = make_table(table_type=table_type)
    table.insert([ride(number) for number in range(3000)])
    monkeypatch.setattr(insert_placement, "_UNCOUNTED_BYTES", 1)
    monkeypatch.setattr(insert_placement, "_CHEAP_ROWS", 2999)
    table.insert([ride(4000)])
    table.insert([ride(4001)])
    assert rows_in_files(table) == [2, 3000]
    monkeypatch.setattr(insert_placement, "_CHEAP_ROWS", 3000)
    table.insert([ride(number) for number in range(5000, 5002)])
    assert rows_in_files(table) == [4, 3000]


def test_rows_of_few_files_are_counted(monkeypatch) -> None:
    table = make_table()
    for number in range(8):
        table.insert([ride(number)], {"hoodie.parquet.small.file.limit": "0"})
    monkeypatch.setattr(insert_placement, "_UNCOUNTED_BYTES", 1)
    counted: list[object] = []

    def count(_: object, base: object) -> int:
        counted.append(base)
        return 1 << 20

    monkeypatch.setattr(insert_placement, "row_count", count)
    table.insert([ride(100)])
    assert len(counted) == 4
    assert len(rows_in_files(table)) == 9
