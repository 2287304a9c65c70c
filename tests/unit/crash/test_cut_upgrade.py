"""Upgrades and downgrades, cut at every change: a table has one version, all of its rows at any time, and the next run ends the change."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import CorruptTableError, StorageError
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.service.upgrade import switch_version
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.crash_points import Action
from pyhudi.testing.fault_injection import Fault
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, check_sound, cuts, ride

#: Inline services are off; of the commits some are archived where the version lets them be.
WRITTEN_WITH = {
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.metadata.compact.max.delta.commits": "3",
}
ARCHIVED_WITH = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.compact.inline.max.delta.commits": "1"}
COMMITS = 4
CHANGES = [
    pytest.param(("COPY_ON_WRITE", 6, 9), id="copy on write 6 to 9"),
    pytest.param(("COPY_ON_WRITE", 9, 6), id="copy on write 9 to 6"),
    pytest.param(("COPY_ON_WRITE", 9, 8), id="copy on write 9 to 8"),
    pytest.param(("MERGE_ON_READ", 6, 8), id="merge on read 6 to 8"),
    pytest.param(("MERGE_ON_READ", 8, 6), id="merge on read 8 to 6", marks=pytest.mark.slow),
    pytest.param(("MERGE_ON_READ", 8, 9), id="merge on read 8 to 9"),
]


def move(to: int) -> Action:
    """The action that is cut, in one thread so that its calls repeat."""

    def action(storage: Storage) -> object:
        services = HudiTable(storage, clock=StoppedClock(), ids=CountedIds()).services
        go = services.upgrade if to >= version_of(storage) else services.downgrade
        return go(to, engine=LocalEngine(threads=1))

    return action


def version_of(storage: Storage) -> int:
    return TableConfig(load_properties(storage)).version


def stored(table_type: str, version: int) -> tuple[MemoryStorage, Driver]:
    """A table with archived and active commits, a failed write, and log files where it has any."""
    created = {"hoodie.write.table.version": str(version)}
    driver = Driver(metadata_table=True, table_type=table_type, written_with=WRITTEN_WITH, created_with=created)
    storage = MemoryStorage()
    driver.create(storage)
    for number in range(COMMITS):
        driver.write(storage, Operation.UPSERT, [ride(1, "oslo", number), ride(number, "rome", number)])
    HudiTable(storage, clock=StoppedClock(), ids=CountedIds()).services.archive(options=ARCHIVED_WITH)
    return storage, driver


def state(storage: Storage, *, whole: bool = True) -> list[object]:
    """Rows of now and of the time of each commit, and who wrote what: what a change of version must leave as it is."""
    table = HudiTable(storage)
    history = table.history().filter(pc.field("operation") != "COMPACT").select(["requested", "action", "inserted", "updated"])
    times = history["requested"].to_pylist()
    chosen = times if whole else times[1:2]
    order = [("city", "ascending"), ("id", "ascending")]
    past = [table.to_arrow(as_of=time).sort_by(order).to_pylist() for time in chosen]
    return [past, table.to_arrow().sort_by(order).to_pylist(), history.to_pylist()]


def check_cuts(table_type: str, origin: int, to: int, *faults: Fault, whole: bool) -> int:
    """Cut a change of version at every change of the storage, and return at how many."""
    storage, driver = stored(table_type, origin)
    before = state(storage)
    action = move(to)
    ended = storage.copy()
    action(ended)
    assert state(ended) == before
    files_at_end = {status.name.partition("_")[0] for status in ended.list(".hoodie") if not status.is_dir}
    points = 0
    for run in cuts(action, storage, faults, lambda call: call.method != "lock"):
        points += 1
        assert version_of(run.storage) in (origin, to), run.point
        assert state(run.storage, whole=whole)[1:] == before[1:], run.point
        if whole or points % 6 == 0:
            assert state(run.storage) == before, run.point
            written = run.storage.copy()
            driver.write(written, Operation.UPSERT, [ride(1, "oslo", 98)])
            check_sound(written, run.point)
            written.drop()
        move(to)(run.storage)
        assert version_of(run.storage) == to, run.point
        assert state(run.storage, whole=whole)[1:] == before[1:], run.point
        mdt = TableConfig(load_properties(FolderStorage(run.storage, FOLDER)))
        assert mdt.version == to, run.point
        left = {status.name.partition("_")[0] for status in run.storage.list(".hoodie") if not status.is_dir}
        assert left == files_at_end or table_type == "MERGE_ON_READ", run.point
        if whole or points % 6 == 0:
            driver.write(run.storage, Operation.UPSERT, [ride(1, "oslo", 99)])
            check_at_rest(run.storage, run.point)
            wrong = [row for row in HudiTable(run.storage).inspect.health().to_pylist() if row["check"] != "nothing pending"]
            assert wrong == [], run.point
    return points


@pytest.mark.parametrize("step", [CHANGES[number] for number in (0, 4)])
def test_change_of_version_cut_after_any_change_leaves_one_whole_table(step: tuple[str, int, int]) -> None:
    assert check_cuts(*step, Fault.AFTER, whole=False) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("step", CHANGES)
def test_change_of_version_cut_anyhow_leaves_one_whole_table(step: tuple[str, int, int]) -> None:
    check_cuts(*step, Fault.AFTER, Fault.TORN, Fault.ERROR_NOT_DONE, Fault.ERROR_BUT_DONE, whole=True)


@pytest.mark.parametrize("step", [CHANGES[0], CHANGES[4]])
def test_cut_deletion_of_the_metadata_table_is_finished(step: tuple[str, int, int]) -> None:
    table_type, origin, to = step
    storage, _ = stored(table_type, origin)
    before = state(storage)
    points = 0
    for run in cuts(move(to), storage, (Fault.TORN,), lambda call: call.method == "delete_tree"):
        points += 1
        assert state(run.storage)[1:] == before[1:], run.point
        move(to)(run.storage)
        assert version_of(run.storage) == to, run.point
        assert state(run.storage)[1:] == before[1:], run.point
        check_at_rest(run.storage, run.point)
    assert points


def test_failed_replacement_of_the_properties_leaves_the_table_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored("COPY_ON_WRITE", 6)
    before = state(storage)
    monkeypatch.setattr(switch_version, "store_properties", _fail)
    with pytest.raises(StorageError):
        move(9)(storage)
    assert state(storage) == before


def test_deleting_the_old_timeline_before_the_change_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored("COPY_ON_WRITE", 6)
    before = state(storage)
    monkeypatch.setattr(switch_version, "store_properties", _fail)
    monkeypatch.setattr(switch_version, "accept_identity", lambda at, _, **__: switch_version._delete_instants(at, HudiTable(at).config))
    with pytest.raises(StorageError):
        move(9)(storage)
    with pytest.raises((CorruptTableError, AssertionError)):
        assert state(storage) == before


def _fail(*_: object, **__: object) -> None:
    raise StorageError("on purpose")
