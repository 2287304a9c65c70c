"""Known bugs of Apache Hudi's compaction: each scenario holds, and fails on a build with that defect.

Scenarios: docs/format/known-defects.md#compaction.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import pyhudi.kernels.merge.slice_delta as delta
import pyhudi.service.compaction.revalidate_slices as slices
import pyhudi.service.rollback.execute_rollback as rollback
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.fsview.file_groups import _slice_start as slice_start
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.crash_points import CrashPoint, calls_of, run_with_fault
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.merge_oracle import Oracle
from tests.tables import unpack
from tests.unit.crash.tables import check_rows, ride
from tests.unit.crash.test_cut_compaction import DELETE, DRIVER, LATER, NEXT, UPDATE, compact, execute, schedule, table_with_logs
from tests.unit.late_files import late_files_stay

Scenario = Callable[[Path], None]
#: The module; its package shows the function of that name.
schedule_module = importlib.import_module("pyhudi.service.compaction.compaction_service")


def retried_tasks_write_equal_blocks(_: Path) -> None:
    """R03: log files of equal block counts are no repetition of each other."""
    storage, oracle = table_with_logs()
    for number in (3, 4):
        write = (Operation.UPSERT, [ride(number, "rome", 500 + number)])
        DRIVER.write(storage, *write)
        oracle = oracle.after(*write)
    compact(storage)
    check_rows(storage, oracle, "R03")


def log_of_an_archived_commit(folder: Path) -> None:
    """R04: the completion time of a log's commit is in the history only; its rows are compacted all the same."""
    table = HudiTable.open(unpack("apache_hudi/merge_on_read_archived_v9", folder))
    before = table.to_arrow().sort_by("id").to_pylist()
    shutil.copytree(table.storage.root, folder / "copy")  # type: ignore[attr-defined]
    copy = HudiTable.open(folder / "copy")
    copy.services.compact()
    assert copy.to_arrow().sort_by("id").to_pylist() == before
    assert copy.to_arrow(mode="read_optimized").sort_by("id").to_pylist() == before


def rows_deleted_while_a_plan_is_pending(_: Path) -> None:
    """R06: what was written after the plan applies on top of what it makes."""
    storage, oracle = table_with_logs()
    schedule(storage)
    DRIVER.write(storage, *LATER)
    DRIVER.write(storage, Operation.DELETE, [ride(3, "rome", 0)])
    oracle = oracle.after(*LATER).after(Operation.DELETE, [ride(3, "rome", 0)])
    execute(storage)
    check_rows(storage, oracle, "R06")


def writer_died_between_plan_and_run(_: Path) -> None:
    """R07: the next writer rolls the dead one back, then the old plan is run."""
    storage, oracle = table_with_logs()
    schedule(storage)
    storage = killed_before_its_last_step(storage, LATER)
    DRIVER.write(storage, *NEXT)
    execute(storage)
    check_rows(storage, oracle.after(*NEXT), "R07")
    compact(storage)
    check_rows(storage, oracle.after(*NEXT), "R07")


def rows_as_of_every_commit_around_a_rollback(_: Path) -> None:
    """R08: no rollback, whatever its time, takes rows of others away, now or as of any commit."""
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    DRIVER.create(storage)
    states: list[tuple[str, Oracle]] = []
    for number, write in enumerate(((Operation.INSERT, [ride(1, "oslo", 1), ride(2, "oslo", 2)]), UPDATE, DELETE, LATER, NEXT)):
        storage = killed_before_its_last_step(storage, (Operation.UPSERT, [ride(1, "oslo", 666)]))
        DRIVER.write(storage, *write)
        oracle = oracle.after(*write)
        states.append((HudiTable(storage).history().to_pylist()[-1]["requested"], oracle))
        if number == 2:
            compact(storage)
    for requested, known in states:
        rows = HudiTable(storage).to_arrow(as_of=requested).to_pylist()
        assert known.agrees(rows), f"as of {requested}: {known.difference(rows)}"


def partition_overwritten_while_a_plan_is_pending(_: Path) -> None:
    """A compaction must not bring replaced rows back."""
    storage, oracle = table_with_logs()
    schedule(storage)
    write = (Operation.INSERT_OVERWRITE, [ride(8, "oslo", 80)])
    DRIVER.write(storage, *write)
    (done,) = HudiTable(storage).services.compact(mode="execute", engine=LocalEngine(threads=1))
    assert done.declined == 1
    check_rows(storage, oracle.after(*write), "overwrite")


def killed_before_its_last_step(storage: MemoryStorage, write) -> MemoryStorage:
    """The storage after a writer that died when all its files were written, and its commit was not."""
    calls = calls_of(lambda recorded: DRIVER.write(recorded, *write), storage.copy)
    last = max(number for number, call in enumerate(calls) if call.method == "create")
    point = CrashPoint(last, calls[last], Fault.BEFORE)
    return run_with_fault(lambda failing: DRIVER.write(failing, *write), storage.copy(), point).storage


def blocks_counted_as_repetitions(monkeypatch) -> None:
    """Of log files with equal numbers of blocks only the last counts."""
    choose = delta.choose_blocks  # type: ignore[attr-defined]
    monkeypatch.setattr(delta, "choose_blocks", lambda blocks, *rest: choose(blocks, *rest)[-1:])


def history_is_not_asked(monkeypatch) -> None:
    """A log whose commit is not on the active timeline is left out of plans."""
    plan = schedule_module._PLANNERS

    def without_archived(view, settings, busy) -> CompactionPlan:
        made = next(iter(plan.values()))(view, settings, busy)
        known = {instant.requested for instant in view.timeline.instants}
        retained = [
            one.__class__(one.base_instant, one.file_id, one.partition_path, one.data_file, logs, one.metrics)
            for one in made.operations or ()
            if (logs := tuple(name for name in one.delta_files or () if name.split("_")[1].split(".")[0] in known))
        ]
        return CompactionPlan(tuple(retained), extra_metadata={}, missing_partitions=())

    monkeypatch.setattr(schedule_module, "_PLANNERS", dict.fromkeys(plan, without_archived))


def logs_are_sliced_by_their_names(monkeypatch) -> None:
    """Logs written after a plan go down with the slice before it."""
    monkeypatch.setattr(
        "pyhudi.fsview.file_groups._slice_start", lambda log, starts, timeline: starts[0] if starts else slice_start(log, starts, timeline)
    )


def rollback_keeps_files(monkeypatch) -> None:
    monkeypatch.setattr(rollback, "planned_files", lambda plan: {})
    late_files_stay(monkeypatch)
    monkeypatch.setattr(Visibility, "is_visible", lambda self, requested: True)


def replaced_groups_are_compacted(monkeypatch) -> None:
    monkeypatch.setattr(slices, "replaced_groups", lambda *_: {})


CASES: list[tuple[Scenario, Callable[[pytest.MonkeyPatch], None]]] = [
    (retried_tasks_write_equal_blocks, blocks_counted_as_repetitions),
    (log_of_an_archived_commit, history_is_not_asked),
    (rows_deleted_while_a_plan_is_pending, logs_are_sliced_by_their_names),
    (writer_died_between_plan_and_run, rollback_keeps_files),
    (rows_as_of_every_commit_around_a_rollback, rollback_keeps_files),
    (partition_overwritten_while_a_plan_is_pending, replaced_groups_are_compacted),
]
NAMES = [scenario.__name__ for scenario, _ in CASES]


@pytest.mark.parametrize("scenario", [scenario for scenario, _ in CASES], ids=NAMES)
def test_rows_are_right(scenario: Scenario, tmp_path: Path) -> None:
    scenario(tmp_path)


@pytest.mark.parametrize(("scenario", "defect"), CASES, ids=NAMES)
def test_defect_is_noticed(scenario: Scenario, defect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    with pytest.raises(AssertionError):
        scenario(tmp_path)
