"""An update, a delete by condition and a merge that lose against another write read the table again when they are repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import WriteConflictError
from pyhudi.table.change import changed_rows
from pyhudi.table.methods import write_methods
from pyhudi.testing.invariants import garbage, timeline_faults

OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
TWICE = OCC | {"hoodie.write.num.retries.on.conflict.failures": "2"}
SCHEMA = pa.schema({"id": pa.int64(), "ts": pa.int64(), "n": pa.int64()})

Change = Callable[[HudiTable, dict[str, str]], object]
#: What is changed, by the function that reads the rows, and what becomes of the rows of `n` 0 when another write adds 10 before.
CHANGES: dict[str, tuple[str, Change, dict[int, int]]] = {
    "update": ("updated_rows", lambda table, options: table.update({"n": "n + 1"}, "id = 0", options), {0: 11, 1: 0}),
    "delete": ("rows_to_delete", lambda table, options: table.delete(where="id = 0", options=options), {1: 0}),
    "merge": (
        "merged_rows",
        lambda table, options: (
            table.merge([{"id": 0, "ts": 3, "n": 7}, {"id": 5, "ts": 3, "n": 7}])
            .when_matched_update({"n": "target.n + source.n"})
            .when_not_matched_insert()
            .execute(options=options)
        ),
        {0: 17, 1: 0, 5: 7},
    ),
}


def interrupted(monkeypatch: pytest.MonkeyPatch, path: Path, reading: str, times: int) -> list[str]:
    """Let another writer change the row of `id` 0 after each of the first times that rows are read; returns its instants."""
    read, winners = getattr(write_methods, reading), list[str]()

    def read_and_lose(*args: Any) -> Any:
        rows = read(*args)
        if len(winners) < times:
            winners.append(str(HudiTable.open(path).upsert([{"id": 0, "ts": 2, "n": 10}], options=OCC).instant))
        return rows

    monkeypatch.setattr(write_methods, reading, read_and_lose)
    return winners


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], order_by=["ts"], table_type=request.param)
    table.insert([{"id": 0, "ts": 1, "n": 0}, {"id": 1, "ts": 1, "n": 0}])
    return tmp_path / "t"


def rows_of(path: Path) -> dict[int, int]:
    return {row["id"]: row["n"] for row in HudiTable.open(path).to_arrow().to_pylist()}


@pytest.mark.parametrize("what", list(CHANGES))
def test_a_change_that_lost_is_repeated_on_what_the_winner_left(path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, change, expected = CHANGES[what]
    winners = interrupted(monkeypatch, path, reading, 2)
    change(HudiTable.open(path), TWICE)
    assert len(winners) == 2
    assert rows_of(path) == expected
    storage = HudiTable.open(path).storage
    assert (timeline_faults(storage), garbage(storage)) == ([], [])


@pytest.mark.parametrize("what", list(CHANGES))
def test_a_change_that_loses_too_often_names_the_winner(path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, change, _ = CHANGES[what]
    winners = interrupted(monkeypatch, path, reading, 9)
    with pytest.raises(WriteConflictError, match="completed between reading and writing") as refused:
        change(HudiTable.open(path), TWICE)
    assert len(winners) == 3
    assert f"commit {winners[-1]} of table" in str(refused.value)
    assert rows_of(path) == {0: 10, 1: 0}


def test_a_change_that_loses_to_a_clustering_names_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_and_lose(*args: Any) -> Any:
        rows = changed_rows.updated_rows(*args)
        clustered.extend(HudiTable.open(path).services.cluster(options=OCC))
        return rows

    clustered: list[Any] = []
    monkeypatch.setattr(write_methods, "updated_rows", read_and_lose)
    with pytest.raises(WriteConflictError, match=r"^replacecommit \d+ of table .* changed file group") as refused:
        HudiTable.open(path).update({"n": 1}, "id = 0", OCC)
    assert clustered[0].instant in str(refused.value)
    assert rows_of(path) == {0: 0, 1: 0}
