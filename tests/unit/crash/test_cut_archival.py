"""Archival, of a table and of its metadata table, cut at every change: no instant is lost, none counts twice, and the next run ends it."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.service.archival import move_to_archive as move
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.invariants import timeline_faults
from pyhudi.timeline.archived_timeline_lsm import archived_rows
from pyhudi.timeline_archive.full_timeline import read_rows
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, cuts, ride

#: Archival leaves two of at least four commits; each third commit compacts the metadata table; files of the archive are merged in pairs.
OPTIONS = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.metadata.compact.max.delta.commits": "3",
    "hoodie.timeline.compaction.batch.size": "2",
    "hoodie.compact.inline.max.delta.commits": "1",
}
WRITTEN_WITH = {**OPTIONS, "hoodie.archive.automatic": "false"}
KINDS = [Driver(metadata_table=True, table_type=kind, written_with=WRITTEN_WITH) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
COMMITS = 9


def archive(storage: Storage) -> Any:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds()).services.archive(options=OPTIONS)


def stored(driver: Driver) -> MemoryStorage:
    """A table that was archived once, and may be again."""
    storage = MemoryStorage()
    driver.create(storage)
    for number in range(COMMITS):
        driver.write(storage, Operation.UPSERT, [ride(1, "oslo", number), ride(number, "rome", number)])
        if number == COMMITS - 4:
            archive(storage)
    return storage


def state(storage: Storage, *, whole: bool = True) -> list[Any]:
    """Rows of now and of the time of each commit, changes, and the history: what archival must leave as it is. Or the first of them."""
    table = HudiTable(storage)
    history = table.history().select(["requested", "completed", "action", "inserted", "updated"])
    commits = history.filter(pc.is_in(history["action"], pc.pa.array(["commit", "deltacommit"])))["requested"].to_pylist()
    times = commits if whole else commits[1:2]
    past = [table.to_arrow(as_of=time).sort_by([("city", "ascending"), ("id", "ascending")]).to_pylist() for time in times]
    changed = [table.changes(since=time).num_rows for time in times[:3]]
    return [past, changed, history.to_pylist()]


def archived(storage: Storage) -> list[list[tuple[str, str]]]:
    """What the archives of a table and of its metadata table hold."""
    indices = (storage, FolderStorage(storage, FOLDER))
    return [
        [(row.requested, row.action) for row in archived_rows(index, TableConfig(load_properties(index)), read_rows)] for index in indices
    ]


def check_cuts(driver: Driver, *faults: Fault, whole: bool) -> int:
    """Cut the archival of a table at every change, and return at how many."""
    storage = stored(driver)
    before = state(storage, whole=whole)
    ended = storage.copy()
    archive(ended)
    assert state(ended, whole=whole) == before
    at_end = archived(ended)
    assert all(at_end)
    points = 0
    for run in cuts(archive, storage, faults):
        points += 1
        assert state(run.storage, whole=whole) == before, run.point
        assert timeline_faults(run.storage) == [], run.point
        archive(run.storage)
        assert archived(run.storage) == at_end, run.point
        if whole or points % 8 == 0:
            assert state(run.storage, whole=whole) == before, run.point
            driver.write(run.storage, Operation.UPSERT, [ride(1, "oslo", 99)])
            check_at_rest(run.storage, run.point)
            wrong = [row for row in HudiTable(run.storage).inspect.health().to_pylist() if row["check"] != "nothing pending"]
            assert wrong == [], run.point
    return points


def test_archival_cut_after_any_change_shows_readers_all_instants_once() -> None:
    assert check_cuts(KINDS[0], Fault.AFTER, whole=False) > 40


@pytest.mark.slow
@pytest.mark.parametrize("driver", KINDS, ids=["copy on write", "merge on read"])
def test_archival_cut_anyhow_shows_readers_all_instants_once(driver: Driver) -> None:
    check_cuts(driver, Fault.AFTER, Fault.TORN, Fault.ERROR_NOT_DONE, whole=True)


def test_deleting_what_was_not_archived_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = stored(KINDS[0])
    monkeypatch.setattr(move, "add_to_history", lambda *_: None)
    archive(storage)
    with pytest.raises(CorruptTableError, match="neither archived nor rolled back"):
        state(storage)
