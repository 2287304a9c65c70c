"""A commit that took long is archived while commits that completed before it are active; those who read on from these get its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import make_table, ride

OPTIONS = {"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false", "hoodie.metadata.enable": "false"}
FEW = {"hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5", "hoodie.clean.commits.retained": "1"}


@pytest.fixture
def late(tmp_path: Path) -> tuple[HudiTable, list[str]]:
    """A table of eight commits, the third of which completed after the seventh and is archived; completion times of the active ones."""
    path = tmp_path / "t"
    table = make_table(LocalStorage(str(path)))
    for number in range(8):
        table.upsert([ride(number)], options=OPTIONS)
    done = load_timeline(table.storage, table.config).data_instants()
    third, seventh = done[2], done[6]
    (file,) = (path / ".hoodie" / "timeline").glob(f"{third.requested}_*")
    file.rename(file.with_name(f"{third.requested}_{int(seventh.completed or 0) + 1}.commit"))
    table.services.archive(options=FEW)
    active = load_timeline(table.storage, table.config).data_instants()
    assert third.requested < active[0].requested
    return HudiTable.open(path), [one.completed or "" for one in active]


def ids(table: HudiTable, since: str, until: str | None = None) -> list[int]:
    return sorted(table.changes(since, until)["id"].to_pylist())


def test_rows_of_the_late_commit_are_handed_out(late: tuple[HudiTable, list[str]]) -> None:
    table, completed = late
    assert ids(table, completed[1]) == [2, 6, 7]
    assert ids(table, completed[2]) == [2, 7]
    assert ids(table, completed[2], completed[3]) == [2, 7]
    assert ids(table, completed[1], completed[2]) == [6]
    assert ids(table, completed[3]) == []


def test_a_span_that_may_not_scan_is_refused(late: tuple[HudiTable, list[str]]) -> None:
    table, completed = late
    with pytest.raises(UsageError, match="commits after that time are archived"):
        table.changes(completed[2], options={"hoodie.datasource.read.incr.fallback.fulltablescan.enable": "false"})
