"""Columns that are read late, and merges that use them: the same rows as with all columns read at once."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.read import late_columns
from pyhudi.read.execute import Selection, read_table
from pyhudi.read.late_columns import read_late
from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, RECORD_KEY
from pyhudi.table.change.merge_rows import MergeRows
from pyhudi.table.read_table import selection
from tests.slow_cases import slow_cases

SCHEMA = pa.schema(
    {
        "key": pa.string(),
        "part": pa.string(),
        "ts": pa.int64(),
        "fare": pa.float64(),
        "name": pa.string(),
        "seen": pa.timestamp("us", "UTC"),
    }
)
KINDS: dict[str, dict[str, Any]] = {
    "cow": {"table_type": "COPY_ON_WRITE"},
    "partitions": {"table_type": "COPY_ON_WRITE", "partition_by": ["part"]},
    "cow ordered": {"table_type": "COPY_ON_WRITE", "order_by": ["ts"]},
    "mor ordered": {"table_type": "MERGE_ON_READ", "order_by": ["ts"], "partition_by": ["part"]},
    "mor": {"table_type": "MERGE_ON_READ"},
    "cdc": {"table_type": "COPY_ON_WRITE", "options": {"hoodie.table.cdc.enabled": "true"}},
    "record index": {"table_type": "COPY_ON_WRITE"},
}
WRITE: dict[str, dict[str, str]] = {
    "record index": {"hoodie.metadata.global.record.level.index.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
}
CLAUSES = {
    "all": lambda merge: merge.when_matched_update().when_not_matched_insert(),
    "delete": lambda merge: merge.when_matched_delete().when_not_matched_insert(where="fare > 0"),
    "newer": lambda merge: merge.when_matched_update(where="source.ts > target.ts").when_not_matched_insert(),
    "one column": lambda merge: merge.when_matched_update({"fare": "source.fare + target.fare"}),
    "most columns": lambda merge: merge.when_matched_update({"ts": 5, "fare": "source.fare", "name": "'x'", "seen": None, "part": "part_"}),
    "either": lambda merge: merge.when_matched_delete("source.fare < 0").when_matched_update().when_not_matched_insert(),
    "expression": lambda merge: merge.when_matched_update(where=pc.field("target", "name") != pc.field("source", "name")),
}


@pytest.fixture(autouse=True)
def _search_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.read.skipping.key_rows._FILE_BYTES", 0)


def rows_of(numbers: Sequence[int], seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    count = len(numbers)
    return pa.table(
        {
            "key": [f"k{number:05d}" for number in numbers],
            "part": [f"p{number % 3}" for number in numbers],
            "ts": random.integers(0, 3, count),
            "fare": pa.array([None if value < 0.1 else round(value, 1) - 0.3 for value in random.random(count)], pa.float64()),
            "name": pa.array([None if value == 0 else f"n{value}" for value in random.integers(0, 3, count)], pa.string()),
            "seen": pa.array([None if value == 0 else value for value in random.integers(0, 3, count).tolist()], pa.timestamp("us", "UTC")),
        },
        SCHEMA,
    )


def create(folder: Path, kind: str) -> HudiTable:
    """Return a copy of a table with several files, one of them with log files if it is merge-on-read."""
    template, copy = folder / kind, folder / f"t{len(list(folder.iterdir()))}"
    if not template.exists():
        fill(template, kind)
    return HudiTable.open(shutil.copytree(template, copy))


def fill(path: Path, kind: str) -> None:
    options = {"hoodie.parquet.small.file.limit": "0", **WRITE.get(kind, {})}
    table = HudiTable.create(path, SCHEMA, name="t", keys=["key"], **KINDS[kind])
    for begin in (0, 60, 120):
        table.insert(rows_of(range(begin, begin + 60), begin), options=options)
    table.upsert(rows_of(range(0, 40, 7), 9), options=options)


def state(table: HudiTable) -> list[dict[str, Any]]:
    columns = [RECORD_KEY, "_hoodie_partition_path", *SCHEMA.names]
    return sorted(table.to_arrow(columns).to_pylist(), key=lambda row: str(row["_hoodie_record_key"]))


def merged(folder: Path, kind: str, clauses: str, source: pa.Table, *, late: bool) -> tuple[object, ...]:
    table = create(folder, kind)
    if clauses == "most columns":
        source = source.append_column("part_", source["part"])
    with pytest.MonkeyPatch.context() as patch:
        if not late:
            patch.setattr(MergeRows, "columns_of_all_matches", lambda _, columns: list(columns))
        if kind == "partitions" and clauses == "most columns":
            with pytest.raises(Exception, match="assigns part"):
                CLAUSES[clauses](table.merge(source)).execute()
            return ()
        try:
            result = CLAUSES[clauses](table.merge(source)).execute(options=WRITE.get(kind))
        except Exception as error:  # noqa: BLE001 - both ways raise the same
            return (type(error), str(error).split("/")[0], state(table))
    changes = table.changes(since="000", format="cdc").num_rows if kind == "cdc" else None
    counts = (result.inserted, result.updated, result.deleted, result.instant is None)
    return (counts, state(table), changes, table.to_arrow([COMMIT_TIME]).group_by(COMMIT_TIME).aggregate([]).num_rows)


@pytest.mark.parametrize("kind", slow_cases(KINDS, {"partitions", "cow ordered", "mor", "cdc", "record index"}))
def test_a_merge_leaves_the_same_rows_however_its_columns_are_read(kind: str, tmp_path: Path) -> None:
    unchanged = rows_of(range(60, 120), 60).slice(0, 20)  # these are the rows that are stored
    one_column = unchanged.slice(5, 5).set_column(4, "name", pa.array(["other"] * 5))
    source = pa.concat_tables([rows_of(range(0, 200, 9), 77), unchanged, one_column]) if "ordered" in kind else unchanged
    if "ordered" not in kind:
        others = [number for number in range(0, 200, 9) if not 60 <= number < 80]
        source = pa.concat_tables([unchanged.slice(10), one_column, rows_of(others, 77)])
    for clauses in CLAUSES:
        assert merged(tmp_path, kind, clauses, source, late=True) == merged(tmp_path, kind, clauses, source, late=False), clauses


@given(
    st.lists(st.tuples(st.integers(0, 199), st.integers(0, 2)), max_size=30, unique_by=lambda pair: pair[0]),
    st.sampled_from(["all", "either", "newer"]),
    st.sampled_from(["cow", "mor"]),
)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_source_leaves_the_same_rows(tmp_path: Path, chosen: list[tuple[int, int]], clauses: str, kind: str) -> None:
    stored = {row["key"]: row for begin in (0, 60, 120) for row in rows_of(range(begin, begin + 60), begin).to_pylist()}
    rows = []
    for number, change in chosen:
        row = dict(stored.get(f"k{number:05d}") or rows_of([number], 1).to_pylist()[0])
        rows.append(row if change == 0 else {**row, "name": "z"} if change == 1 else {**row, "fare": -1.0, "ts": 9})
    source = pa.Table.from_pylist(rows, SCHEMA)
    assert merged(tmp_path, kind, clauses, source, late=True) == merged(tmp_path, kind, clauses, source, late=False)


def narrowed(table: HudiTable, expression: pc.Expression) -> Selection:
    return selection(table.storage, None, expression, None, "snapshot", meta_columns=True)


@pytest.mark.parametrize("kind", ["cow", "partitions", "mor"])
def test_late_columns_are_those_of_the_rows(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind)
    keys = [f"k{number:05d}" for number in range(0, 300, 4)]
    expressions = [pc.field("key").isin(keys), pc.field("key").isin(keys) & (pc.field("fare") > 0.2), pc.field("key") == "nothing"]
    for expression, first in itertools.product(expressions, ([RECORD_KEY, FILE_NAME, "key"], ["key"])):
        chosen = narrowed(table, expression)
        expected = read_table(chosen)
        late = read_late(chosen, first)
        assert late.rows.equals(expected.select(late.rows.schema.names))
        assert set(late.later) | set(late.rows.schema.names) == set(expected.schema.names)
        indices = np.flatnonzero(np.random.default_rng(3).random(expected.num_rows) < 0.5)
        for names in (late.later, late.later[:1], [COMMIT_SEQNO] if COMMIT_SEQNO in late.later else []):
            assert late.columns(names, indices).equals(expected.select(names).take(pa.array(indices)))
    assert read_late(narrowed(table, pc.field("key") == "k00060"), ["key"]).later


def test_a_merge_of_new_versions_reads_one_column_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = create(tmp_path, "cow")
    read: list[list[str]] = []

    def recorded(chosen: Selection, base: object, path: str, names: Sequence[str], row_indices: object) -> Any:
        read.append(list(names))
        return original(chosen, base, path, names, row_indices)  # type: ignore[arg-type]

    original = late_columns._rows_at
    monkeypatch.setattr(late_columns, "_rows_at", recorded)
    source = rows_of(range(60, 100), 60).set_column(3, "fare", pa.array(np.arange(40.0) + 10))
    assert table.merge(source).when_matched_update().execute().updated == 40
    assert {name for names in read for name in names if not name.startswith("_hoodie")} == {"key", "fare"}
    assert table.merge(source).when_matched_update().execute().instant is None


def test_a_long_list_of_keys_is_searched_as_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = create(tmp_path, "cow")
    keys = pa.array([f"k{number:05d}" for number in range(0, 300, 2)])
    chosen = narrowed(table, pc.field("key").isin(keys))
    expected = read_table(chosen)
    monkeypatch.setattr("pyhudi.read.filter.point_predicates.MOST_KEYS", 10)
    longer = replace(narrowed(table, pc.field("key").isin(keys) & (pc.field("ts") >= 0)))
    assert longer.keys_meant is not None
    assert len(longer.keys_meant[0]) == len(keys)
    assert read_table(longer).equals(expected)
    by_record_key = narrowed(table, pc.field(RECORD_KEY).isin(keys))
    assert by_record_key.keys_meant is not None
    assert read_table(by_record_key).equals(expected)
    assert narrowed(table, pc.field("name").isin(keys)).keys_meant is None


def test_few_rows_of_a_large_file_are_read_by_their_pages_and_many_without_the_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = HudiTable.create(tmp_path / "large", SCHEMA, name="t", keys=["key"], table_type="COPY_ON_WRITE")
    table.insert(rows_of(range(90_000), 5))
    everything = table.to_arrow(meta_columns=True)
    by_pages: list[bool] = []
    rows = PageRows.rows

    def recorded(pages: PageRows, *arguments: Any) -> pa.Table | None:
        read = rows(pages, *arguments)
        by_pages.append(read is not None)
        return read

    monkeypatch.setattr(PageRows, "rows", recorded)
    for numbers, served in (([7, 9, 60_000], True), (range(0, 90_000, 450), False)):
        keys = pa.array([f"k{number:05d}" for number in numbers])
        chosen = narrowed(table, pc.field("key").isin(keys))
        expected = everything.filter(pc.is_in(everything.column("key"), value_set=keys))
        by_pages.clear()
        assert read_table(chosen).equals(expected)
        late = read_late(chosen, [RECORD_KEY, FILE_NAME, "key"])
        assert late.rows.equals(expected.select(late.rows.schema.names))
        assert late.columns(late.later, np.arange(expected.num_rows)).equals(expected.select(late.later))
        assert set(by_pages) == {served}
