"""A process that is held up while it creates the file of a plan, and the action of another one that has taken the same time meanwhile."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import LockLostError
from pyhudi.spec.files.file_names import LogFileName, parse_log_file_name
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline_files import timeline_files
from pyhudi.txn.conflicts.colliding_plans import remove_colliding_plans
from tests.not_none import not_none
from tests.unit.table.tables import make_table, ride, rows_of
from tests.unit.txn.test_wrong_clocks import OCC, QUIET, Clock, stopped

OPTIONS = OCC | QUIET
COMPACT = OPTIONS | {"hoodie.compact.inline.max.delta.commits": "1"}


class HeldUp(InterceptedStorage):
    """Is held up before the file of a plan is created, until its lock has expired and others have been at work."""

    def __init__(self, inner: Storage, suffix: str, others: Callable[[], object]) -> None:
        super().__init__(inner)
        self.suffix, self.others, self.is_over = suffix, others, False

    def _pass(self, call: Call, effect, torn=None):
        if call.method == "create" and call.path.endswith(self.suffix) and not self.is_over:
            self.is_over = True
            shutil.rmtree(Path(self.inner.uri) / ".hoodie" / ".locks")
            self.others()
        return effect()


class Interrupted(InterceptedStorage):
    """Lets something happen when the first data file of a write is opened."""

    def __init__(self, inner: Storage, happens: Callable[[], object]) -> None:
        super().__init__(inner)
        self.happens: Callable[[], object] | None = happens

    def _pass(self, call: Call, effect, torn=None):
        if call.method == "open_output" and self.happens is not None:
            happens, self.happens = self.happens, None
            happens()
        return effect()


def times(table: HudiTable, suffix: str) -> list[str]:
    folder = Path(table.storage.uri) / table.config.timeline_path
    return sorted(path.name.partition(".")[0].partition("_")[0] for path in folder.iterdir() if path.name.endswith(suffix))


@pytest.fixture(params=["9", "6"])
def table(tmp_path: Path, request: pytest.FixtureRequest) -> HudiTable:
    version = {"hoodie.write.table.version": request.param}
    made = make_table(LocalStorage(str(tmp_path / "t")), table_type="MERGE_ON_READ", options=version)
    made.upsert([ride(1), ride(2)], options=OPTIONS)
    made.upsert([ride(1, value=4)], options=OPTIONS)
    return made


def with_stopped_clock(storage: Storage) -> HudiTable:
    """A process whose clock is behind all times of the table, so that it takes the millisecond after the last one."""
    return HudiTable(storage, clock=Clock(0, stopped()), engine=LocalEngine(threads=1))


def plan_at_the_time_of(table: HudiTable, write: Callable[[], object]) -> None:
    """Plan a compaction in a process that loses the lock to a write."""
    held_up = with_stopped_clock(HeldUp(table.storage, ".compaction.requested", write))
    with pytest.raises(LockLostError, match="another writer may have taken the same time"):
        held_up.services.compact(mode="schedule", options=COMPACT)
    (planned,) = times(table, ".compaction.requested")
    assert planned in times(table, ".deltacommit.requested"), "two actions have one time"


def check(table: HudiTable, rows: list[dict[str, object]]) -> None:
    assert rows_of(table) == rows
    assert times(table, ".compaction.requested") == []
    timeline = load_timeline(table.storage, table.config)
    assert len({one.requested for one in timeline.instants}) == len(timeline.instants)
    table.services.compact(options=COMPACT)
    table.upsert([ride(3)], options=OPTIONS)
    assert rows_of(table) == [*rows, ride(3)]
    assert timeline_faults(table.storage) + garbage(table.storage) == []
    assert table.inspect.health().num_rows == 0


def test_plan_with_the_time_of_a_completed_write_is_deleted_by_the_next_holder_of_the_lock(table: HudiTable) -> None:
    plan_at_the_time_of(table, lambda: with_stopped_clock(table.storage).upsert([ride(2, value=7)], options=OPTIONS))
    table.upsert([ride(1, value=5)], options=OPTIONS)
    check(table, [ride(1, value=5), ride(2, value=7)])


def test_plan_with_the_time_of_a_write_is_not_run(table: HudiTable) -> None:
    plan_at_the_time_of(table, lambda: with_stopped_clock(table.storage).upsert([ride(2, value=7)], options=OPTIONS))
    table.services.compact(options=COMPACT)
    assert rows_of(table) == [ride(1, value=4), ride(2, value=7)]
    assert set(times(table, ".compaction.inflight")).isdisjoint(times(table, ".deltacommit.requested"))


def test_plan_with_the_time_of_a_write_under_way_is_deleted_when_that_completes(table: HudiTable) -> None:
    is_writing, is_planned = threading.Event(), threading.Event()

    def wait_for_plan() -> None:
        is_writing.set()
        assert is_planned.wait(60)

    writer = with_stopped_clock(Interrupted(table.storage, wait_for_plan))
    with ThreadPoolExecutor(1) as other:

        def begin() -> None:
            writes.append(other.submit(lambda: writer.upsert([ride(2, value=7)], options=OPTIONS)))
            assert is_writing.wait(60)

        writes: list[Future[object]] = []
        try:
            plan_at_the_time_of(table, begin)
        finally:
            is_planned.set()
        writes[0].result()
    check(table, [ride(1, value=4), ride(2, value=7)])


def test_plan_of_version_6_whose_time_log_files_have_stays(table: HudiTable) -> None:
    """Apache Hudi names log files by a plan as soon as it is there: their rows would be hidden without it."""
    if table.config.layout > 1:
        return
    plan_at_the_time_of(table, lambda: with_stopped_clock(table.storage).upsert([ride(2, value=7)], options=OPTIONS))
    (planned,) = times(table, ".compaction.requested")
    (log,) = {path.name for path in Path(table.storage.uri).iterdir() if ".log.1_" in path.name}
    name = LogFileName(not_none(parse_log_file_name(log)).file_id, planned, 1, "0-0-0")
    shutil.copy(Path(table.storage.uri, log), Path(table.storage.uri, str(name)))
    files = timeline_files(table.storage, table.config)
    assert not remove_colliding_plans(table.storage, table.config, load_timeline(table.storage, table.config), files)
    assert times(table, ".compaction.requested") == [planned]
