"""Every kind of data, through every write: the same rows arrive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.storage.memory_storage import MemoryStorage

ROWS = pa.table({"id": [1, 2], "city": ["oslo", "rome"], "fare": [1.5, 2.5]})
SOURCES: dict[str, Callable[[Path], object]] = {
    "lazy frame": lambda _: pl.DataFrame(ROWS).lazy(),
    "lazy scan of files": lambda folder: pl.scan_parquet(folder / "*.parquet").filter(pl.col("fare") > 0),
    "dict of columns": lambda _: ROWS.to_pydict(),
    "dicts": lambda _: ROWS.to_pylist(),
    "path": lambda folder: str(folder / "rows.parquet"),
    "folder": lambda folder: folder,
    "generator of batches": lambda _: (batch for batch in ROWS.to_batches(max_chunksize=1)),
    "reader": lambda _: ROWS.to_reader(),
    "batches": lambda _: ROWS.to_batches(max_chunksize=1),
}
WRITES: dict[str, Callable[[HudiTable, object], object]] = {
    "insert": lambda table, data: table.insert(data),
    "bulk_insert": lambda table, data: table.bulk_insert(data),
    "upsert": lambda table, data: table.upsert(data),
    "overwrite": lambda table, data: table.overwrite(data),
    "merge": lambda table, data: table.merge(data).when_matched_update().when_not_matched_insert().execute(),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("write", WRITES)
def test_rows_of_every_source_arrive_by_every_write(source: str, write: str, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    table = HudiTable.create(MemoryStorage().uri, ROWS.schema, name="rides", keys=["id"], partition_by=["city"])
    WRITES[write](table, SOURCES[source](tmp_path))
    assert table.to_arrow().sort_by("id").to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize("source", SOURCES)
def test_rows_are_deleted_by_the_keys_of_every_source(source: str, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    table = HudiTable.create(MemoryStorage().uri, ROWS.schema, name="rides", keys=["id"], partition_by=["city"])
    table.insert(ROWS)
    assert table.delete(SOURCES[source](tmp_path)).deleted == 2
    assert len(table) == 0
