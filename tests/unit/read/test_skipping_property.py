"""Random tables, random filters: the same rows with skipping and without, and with every index asked that there is.

Tables have duplicate keys, nulls, NaN, long texts, columns that came later or grew, log files, deletes and moved records.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.read.execute import read_slices, select
from pyhudi.read.skipping.data_skipping import Skipping
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from tests.unit.table.tables import make_table

FIRST = pa.schema({"id": pa.string(), "p": pa.string(), "i": pa.int32(), "f": pa.float64(), "s": pa.string()})
#: The same columns later on: one has grown, one is new.
LATER = FIRST.set(2, pa.field("i", pa.int64())).append(pa.field("n", pa.int64()))
OPTIONS = {
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("abcdefgh"),
            "p": st.sampled_from(["x", "y"]),
            "i": st.none() | st.integers(-4, 4),
            "f": st.none() | st.sampled_from([-1.0, 0.0, 2.0, math.nan]),
            "s": st.none() | st.sampled_from(["", "a", "b", "\uffee", "\U0001f600", "z" * 5000]),
            "n": st.none() | st.integers(0, 2),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda row: row["id"],
)
WRITES = st.lists(st.tuples(st.sampled_from(["insert", "upsert", "upsert", "delete"]), ROWS), min_size=2, max_size=5)
FILTERS = [
    *(
        "id = 'a'",
        "id IN ('b', 'c')",
        "id = 'a' OR id = 'h'",
        "_hoodie_record_key = 'd'",
        "id = 'a' AND p = 'x'",
        "id > 'f'",
        "p = 'x' AND i < 0",
    ),
    *("i = 2", "i > 3", "i <> 0", "NOT (i <= 1)", "i IS NULL", "i IS NOT NULL", "i IN (-4, 4)", "i BETWEEN 1 AND 2", "i > 2147483647"),
    *("i NOT IN (2, 3)", "s NOT LIKE 'z%'", "f NOT IN (0.0, 2.0)", "lower(s) = 'b'", "substring(s, 1, 1) = 'b'", "f > 2", "NOT (f >= 0)"),
    *("f < 0", "f >= 2", "f <> 0", "NOT (f < 2)", "f IS NULL", "s = 'a'", "s LIKE 'z%'", "s > 'b'", "s = ''", "s IS NULL OR i = 1"),
]
LATER_FILTERS = ["n = 1", "n IS NULL", "n > 1 OR i = 3", "NOT (n = 0)", "n <=> 2"]


def written(table_type: str, writes: list[tuple[str, list[dict[str, Any]]]], *, grows: bool) -> HudiTable:
    """A table after these writes; half of them are made before columns change."""
    table = make_table(schema=FIRST, partition_by=["p"], table_type=table_type)
    for number, (operation, rows) in enumerate(writes):
        schema = LATER if grows and number >= len(writes) // 2 else FIRST
        data = pa.Table.from_pylist(rows, schema=schema)
        if operation == "delete":
            table.delete(data, options=OPTIONS)
        else:
            (table.insert if operation == "insert" else table.upsert)(data, options=OPTIONS)
    return table


def rows_of(result: pa.Table) -> list[str]:
    return sorted(map(str, result.to_pylist()))


def check(table: HudiTable, read: int = 3) -> None:
    """Hold the rows of the file slices that each filter leaves against those of all; for some filters as they are read with the filter."""
    snapshot = open_snapshot(table.storage, SnapshotQuery())
    plain = open_snapshot(table.storage, SnapshotQuery(use_metadata_table=False, skips_data=False))
    everything = select(plain, None, None, meta_columns=True)
    slices = [file_slice for path in plain.partition_paths for file_slice in plain.slices(path)]
    parts = [pa.Table.from_batches(read_slices(everything, [one]), schema=everything.schema) for one in slices]
    parts = parts or [everything.schema.empty_table()]
    rows = pa.concat_tables([part.append_column("slice", pa.repeat(number, part.num_rows)) for number, part in enumerate(parts)])
    for number, text in enumerate(FILTERS + (LATER_FILTERS if "n" in snapshot.schema.names else [])):
        selection = select(snapshot, None, text)
        expected = rows.filter(selection.condition)
        chosen = Skipping(snapshot, selection.test, at_any_price=True).choose(selection.paths)
        retained = {file_slice.group for file_slice in chosen.slices}
        missed = [slices[index].group for index in set(expected.column("slice").to_pylist()) if slices[index].group not in retained]
        assert not missed, (text, chosen.partitions_out, chosen.slices_out, missed)
        if number % len(FILTERS) < read:
            result = pa.Table.from_batches(read_slices(selection, chosen.slices), schema=selection.schema)
            assert rows_of(result) == rows_of(expected.select(selection.columns)), text


def compare(table_type: str, writes: list[tuple[str, list[dict[str, Any]]]], *, grows: bool) -> None:
    check(written(table_type, writes, grows=grows))


def row(key: str, number: int | None) -> dict[str, Any]:
    return {"id": key, "p": "x", "i": number, "f": None, "s": None, "n": None}


def test_a_row_of_a_log_file_is_found_though_its_base_file_says_no() -> None:
    writes = [("insert", [row("a", 1), row("b", 2)]), ("insert", [row("c", 3)]), ("upsert", [row("a", -4), row("c", None)])]
    table = written("MERGE_ON_READ", writes, grows=False)
    assert [table.to_arrow(filter=text).num_rows for text in ("i < 0", "i IS NULL", "i = 3")] == [1, 1, 0]
    check(table, read=len(FILTERS))


QUIET: dict[str, Any] = {"suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@settings(max_examples=6, deadline=None, **QUIET)
@given(table_type=st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), writes=WRITES, grows=st.booleans())
def test_a_filter_finds_the_same_rows_with_and_without_indexes(table_type: str, writes: list[Any], grows: bool) -> None:
    compare(table_type, writes, grows=grows)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, **QUIET)
@given(table_type=st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), writes=WRITES, grows=st.booleans())
def test_many_tables_give_the_same_rows_with_and_without_indexes(table_type: str, writes: list[Any], grows: bool) -> None:
    compare(table_type, writes, grows=grows)
