"""What was found out about slices serves later reads, and only as long as it is true."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.read.snapshot import slice_cache
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table, ride, rows_of


def table_with_log() -> HudiTable:
    table = make_table(table_type="MERGE_ON_READ")
    table.insert([ride(n) for n in range(4)])
    table.upsert([ride(1, value=5)])
    return table


def test_a_slice_is_merged_once_for_all_reads_of_the_same_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    table, merged = table_with_log(), []
    merge = slice_cache.slice_delta  # type: ignore[attr-defined]

    def noted(storage: Any, context: Any, task: Any) -> Any:
        merged.append(task.columns)
        return merge(storage, context, task)

    monkeypatch.setattr(slice_cache, "slice_delta", noted)
    for _ in range(2):
        table.to_arrow(columns=["id"])
        rows_of(table)
    assert len(merged) == 2


def test_a_commit_and_a_look_into_the_past_see_their_own_rows() -> None:
    table = table_with_log()
    before = table.history()["completed"].to_pylist()[-1]
    assert [rows_of(table)[1]["value"], table.count()] == [5, 4]
    table.upsert([ride(1, value=6)])
    table.delete(where="id = 2")
    assert [rows_of(table)[1]["value"], table.count()] == [6, 3]
    past = table.to_arrow(as_of=before)
    assert (sorted(past["value"].to_pylist()), table.count(as_of=before)) == ([0, 0, 0, 5], 4)
