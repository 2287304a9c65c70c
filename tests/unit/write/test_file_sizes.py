"""Sizes of base files: bounded by rows where rows are narrow, by bytes where the options say how many; rewritten files keep their order."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.spec.options import resolve
from pyhudi.write.options.write_config import writer_settings

ROWS_LIMIT = "pyhudi.parquet.max.file.rows"
MAX_BYTES = "hoodie.parquet.max.file.size"
SMALL_BYTES = "hoodie.parquet.small.file.limit"


def narrow(count: int, first: int = 0) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()), "n": pa.array([7] * count, pa.int32())})


def table_at(path: Path) -> HudiTable:
    return HudiTable.create(path / "t", narrow(0).schema, name="t", keys=["id"])


def row_counts(path: Path) -> list[int]:
    """Rows of each base file of the only commit."""
    return sorted(pq.read_metadata(file).num_rows for file in (path / "t").glob("*.parquet"))


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, 1_000_000),
        ({ROWS_LIMIT: "5"}, 5),
        ({ROWS_LIMIT: "0"}, None),
        ({MAX_BYTES: "125829120"}, None),
        ({MAX_BYTES: "125829120", ROWS_LIMIT: "5"}, 5),
    ],
)
def test_rows_bound_files_unless_their_bytes_are_stated(options: dict[str, str], rows: int | None) -> None:
    assert writer_settings(resolve(options)).max_file_rows == rows


def test_limits_of_narrow_rows_are_fewer_bytes_and_those_of_wide_rows_stay() -> None:
    settings = WriterSettings(max_file_bytes=1000, small_file_bytes=800, max_file_rows=10)
    bounded = settings.bounded_by_rows(5.0)
    assert (bounded.max_file_bytes, bounded.small_file_bytes) == (50, 40)
    assert settings.bounded_by_rows(100.0) is settings
    unbounded = WriterSettings(max_file_bytes=1000, small_file_bytes=800)
    assert unbounded.bounded_by_rows(0.1) is unbounded


@pytest.mark.parametrize("operation", ["bulk_insert", "insert", "upsert"])
def test_each_operation_bounds_the_rows_of_new_files(operation: str, tmp_path: Path) -> None:
    table = table_at(tmp_path)
    getattr(table, operation)(narrow(10_000), options={ROWS_LIMIT: "2500"})
    counts = row_counts(tmp_path)
    assert len(counts) in (4, 5)
    assert max(counts) <= 2600
    assert table.count() == 10_000


@pytest.mark.parametrize("options", [{}, {MAX_BYTES: "125829120"}, {ROWS_LIMIT: "0"}])
def test_few_rows_make_one_file(options: dict[str, str], tmp_path: Path) -> None:
    table = table_at(tmp_path)
    table.bulk_insert(narrow(10_000), options=options)
    assert row_counts(tmp_path) == [10_000]


def test_stated_bytes_are_obeyed_in_place_of_rows(tmp_path: Path) -> None:
    table = table_at(tmp_path)
    table.bulk_insert(narrow(40_000), options={MAX_BYTES: "20000", "hoodie.parquet.bloom.filter.enabled": "false"})
    sizes = [file.stat().st_size for file in (tmp_path / "t").glob("*.parquet")]
    assert len(sizes) >= 4
    assert max(sizes) < sum(sizes) / 3


def test_replaced_rows_stay_where_they_were_and_deleted_ones_leave_no_gap(tmp_path: Path) -> None:
    table = table_at(tmp_path)
    table.bulk_insert(narrow(10))
    changed = pa.table({"id": pa.array([8, 3, 12], pa.int64()), "n": pa.array([80, 30, 120], pa.int32())})
    table.upsert(changed)
    table.delete([{"id": 5}])
    assert table.to_arrow()["id"].to_pylist() == [0, 1, 2, 3, 4, 6, 7, 8, 9, 12]
    assert table.to_arrow()["n"].to_pylist() == [7, 7, 7, 30, 7, 7, 7, 80, 7, 120]
