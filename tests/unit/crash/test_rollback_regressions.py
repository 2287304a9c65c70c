"""Known bugs of Apache Hudi's rollbacks: each scenario holds, and fails on a build with that defect.

Scenarios: docs/format/known-defects.md#rollback.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import replace

import pytest

import pyhudi.kernels.merge.slice_delta as delta
from pyhudi.errors import StorageError
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.service.test_rollback import Mortal, table_with_failed_write
from tests.unit.service.test_rollback_version_6 import VERSION_6, Dying, logs_of
from tests.unit.table.tables import files_of, make_table, ride, rows_of

NOT_COMPACTED = {"hoodie.compact.inline": "false"}
failed_writes = importlib.import_module("pyhudi.service.rollback.failed_writes")


def taken_back_late() -> tuple[HudiTable, str]:
    """A table whose failed write was left alone by the next writer, rolled back afterwards, and archived since; and that writer's time.

    Who reads as of that time knows nothing of the rollback, and takes what is older than the timeline for completed.
    """
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], table_type="MERGE_ON_READ", options=VERSION_6)
    table.insert([ride(1, "oslo"), ride(2, "rome"), ride(3, "oslo")])
    table.upsert([ride(1, "oslo", 5)])
    mortal = Mortal(storage)
    with pytest.raises(Crashed):
        HudiTable(mortal, engine=Dying(mortal)).upsert([ride(1, "oslo", 666)])
    failed = logs_of(table)[-1]
    with storage.open_input(failed) as source:  # under a name that other writers do not take
        storage.create(failed.replace(".log.2_0-", ".log.1_1-"), source.read())
    storage.delete(failed)
    storage.delete_tree(".hoodie/.temp")
    with pytest.MonkeyPatch.context() as lazily:
        lazily.setattr(failed_writes, "failed_writes", lambda timeline: ())
        written = not_none(table.upsert([ride(2, "rome", 7)], NOT_COMPACTED).instant)
        table.upsert([ride(3, "oslo", 8)], NOT_COMPACTED)
    table.services.rollback()
    for status in list(table.storage.list(".hoodie")):
        name = status.path.rpartition("/")[2]
        if name[0].isdigit() and name < written:
            table.storage.delete(status.path)
    return HudiTable(table.storage), written


def rollback_later_than_the_query() -> None:
    """R09: the rollback counts for readers of a time before it, too."""
    table, written = taken_back_late()
    rows = table.to_arrow(as_of=written).sort_by("id").to_pylist()
    assert rows == [ride(1, "oslo", 5), ride(2, "rome", 7), ride(3, "oslo")]


def rollback_far_from_what_it_takes_back() -> None:
    """R11: blocks of others are between the failed write's and the rollback's; the index finds no row of the former either."""
    table, _ = taken_back_late()
    assert rows_of(table) == [ride(1, "oslo", 5), ride(2, "rome", 7), ride(3, "oslo", 8)]
    table.upsert([ride(1, "oslo", 9)], NOT_COMPACTED)
    assert rows_of(table) == [ride(1, "oslo", 9), ride(2, "rome", 7), ride(3, "oslo", 8)]


def file_that_cannot_be_deleted() -> None:
    """R10: the rollback is not completed before every file is deleted."""

    class Stubborn(InterceptedStorage):
        def _pass(self, call, effect, torn=None):
            if call.method == "delete" and call.path.startswith("rome/") and call.path.endswith(".parquet"):
                raise StorageError("busy")
            return effect()

    table = table_with_failed_write(MemoryStorage())
    with contextlib.suppress(StorageError):
        HudiTable(Stubborn(table.storage)).services.rollback()
    done = load_timeline(table.storage, table.config).with_actions(Action.ROLLBACK).completed()
    assert not (done and any(path.endswith(".parquet") for path in files_of(table.storage, "rome"))), "completed, and the file is there"
    table.upsert([ride(5, "oslo")])
    assert [path for path in files_of(table.storage, "rome") if path.endswith(".parquet")] == []
    assert rows_of(table) == [ride(1, "oslo"), ride(5, "oslo")]


def rollbacks_after_the_query_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = delta.choose_blocks  # type: ignore[attr-defined]

    def without(blocks, visibility, layout):
        until = visibility.until or "9"
        retained = [one for one in blocks if one.type is not BlockType.COMMAND or (one.header.instant or "") <= until]
        return choose(retained, visibility, layout)

    monkeypatch.setattr(delta, "choose_blocks", without)


def rollbacks_reach_the_block_before_them_only(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = delta.choose_blocks  # type: ignore[attr-defined]

    def did_you_mean(blocks, visibility, layout):
        retained = list(blocks)
        for index, one in enumerate(retained):
            if one.type is BlockType.COMMAND and retained[index - 1].header.instant != one.header.target_instant:
                retained[index] = replace(one, type=BlockType.CDC)
        return choose(retained, visibility, layout)

    monkeypatch.setattr(delta, "choose_blocks", did_you_mean)


def failed_deletes_are_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    delete = InterceptedStorage.delete

    def tried(self, path):
        with contextlib.suppress(StorageError):
            delete(self, path)

    monkeypatch.setattr(InterceptedStorage, "delete", tried)


Scenario = Callable[[], None]
CASES: list[tuple[Scenario, Callable[[pytest.MonkeyPatch], None]]] = [
    (rollback_later_than_the_query, rollbacks_after_the_query_are_passed_over),
    (file_that_cannot_be_deleted, failed_deletes_are_not_noticed),
    (rollback_far_from_what_it_takes_back, rollbacks_reach_the_block_before_them_only),
]
NAMES = [scenario.__name__ for scenario, _ in CASES]


@pytest.mark.parametrize("scenario", [scenario for scenario, _ in CASES], ids=NAMES)
def test_rows_are_right(scenario: Scenario) -> None:
    scenario()


@pytest.mark.parametrize(("scenario", "defect"), CASES, ids=NAMES)
def test_defect_is_noticed(scenario: Scenario, defect, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    with pytest.raises(AssertionError):
        scenario()
