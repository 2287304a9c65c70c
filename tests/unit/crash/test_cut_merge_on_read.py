"""Writes to a merge-on-read table, cut at every storage call: log files appear with their commit, or go with it."""

from __future__ import annotations

from collections import Counter

import pytest

import pyhudi.kernels.tasks.append_log as append_log
import pyhudi.service.rollback.execute_rollback as execute
import pyhudi.txn.transaction as transaction
from pyhudi.errors import HudiError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.crash_points import Part, crash_points
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.tables import SHARE, STORED, Driver, each_part, ride
from tests.unit.crash.test_cut_writes import WRITES, Write, check_answer, check_recovery
from tests.unit.late_files import late_files_stay

DRIVER = Driver(table_type="MERGE_ON_READ")
LATE: Write = (Operation.UPSERT, [ride(1, "oslo", 5), ride(3, "rome", 99)])
UPDATE: Write = (Operation.UPSERT, [ride(2, "oslo", 21), ride(4, "rome", 41)])


def stored(driver: Driver, ordering: str | None = None) -> tuple[MemoryStorage, Oracle]:
    """A table whose rows are in base files and in log files, and the oracle of its rows."""
    storage, oracle = MemoryStorage(), Oracle("id", "city", ordering=ordering)
    driver.create(storage)
    for write in ((Operation.INSERT, STORED), (Operation.UPSERT, [ride(1, "oslo", 11), ride(3, "rome", 31)])):
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle


def data_files(storage: Storage) -> Counter[str]:
    """Count the base files and the log files that the newest slices have."""
    config = TableConfig(load_properties(storage))
    view = FileSystemView(storage, config, load_timeline(storage, config))
    slices = [file_slice for path in view.partition_paths() for file_slice in view.latest_slices(path)]
    return Counter(base=len({file_slice.base_instant for file_slice in slices}), logs=sum(len(file_slice.logs) for file_slice in slices))


def run_all_cuts(driver: Driver, storage: MemoryStorage, before: Oracle, write: Write, part: Part) -> None:
    after = before.after(*write)
    for run in crash_points(lambda cut: driver.write(cut, *write), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, after))


@each_part
@pytest.mark.parametrize("name", WRITES)
def test_write_cut_anywhere_is_whole_or_not_at_all(name: str, part: Part) -> None:
    storage, oracle = stored(DRIVER)
    run_all_cuts(DRIVER, storage, oracle, WRITES[name], part)


@pytest.mark.parametrize(
    ("version", "blocks"),
    [
        ("6", "avro"),
        ("8", "parquet"),
        ("9", "avro"),
        pytest.param("6", "parquet", marks=pytest.mark.slow),
        pytest.param("8", "avro", marks=pytest.mark.slow),
        pytest.param("9", "parquet", marks=pytest.mark.slow),
    ],
)
@each_part
def test_late_and_current_rows_cut_anywhere_are_all_seen_or_none(version: str, blocks: str, part: Part) -> None:
    driver = Driver(
        table_type="MERGE_ON_READ",
        order_by=("value",),
        created_with={"hoodie.write.table.version": version},
        written_with={"hoodie.logfile.data.block.format": blocks},
    )
    storage, oracle = stored(driver, "value")
    run_all_cuts(driver, storage, oracle, LATE, part)


def test_update_of_known_keys_writes_log_files_only() -> None:
    storage, _ = stored(DRIVER)
    before = data_files(storage)
    DRIVER.write(storage, *UPDATE)
    assert data_files(storage) == before + Counter(logs=2)


def logs_of_pending_commits_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Visibility, "is_visible", lambda self, requested: True)


def rollback_leaves_log_files(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = execute.planned_files  # type: ignore[attr-defined]

    def without_logs(plan):
        return {path: [file for file in files if ".log." not in file] for path, files in planned(plan).items()}

    monkeypatch.setattr(execute, "planned_files", without_logs)
    late_files_stay(monkeypatch)


def statistics_forget_a_log_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit completes without one file, which then is taken for what a repeated task left."""
    commit = transaction.Transaction.commit

    def forgetful(self, results: list[TaskResult], **arguments):
        return commit(self, results[1:], **arguments)

    monkeypatch.setattr(transaction.Transaction, "commit", forgetful)


def blocks_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = append_log._blocks
    monkeypatch.setattr(append_log, "_blocks", lambda *arguments: iter(list(blocks(*arguments))[:0]))


DEFECTS = [logs_of_pending_commits_are_shown, rollback_leaves_log_files, statistics_forget_a_log_file, blocks_are_not_written]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_defect_is_noticed(defect, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, before = stored(DRIVER)
    defect(monkeypatch)
    with pytest.raises((AssertionError, HudiError)):
        run_all_cuts(DRIVER, storage, before, UPDATE, SHARE)
