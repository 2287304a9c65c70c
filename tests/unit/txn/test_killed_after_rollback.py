"""A writer is held up while it writes a data file, another one rolls it back, it writes on, and is killed before it deletes its own files.

Its first file has the marker that the rollback deleted, the second one a marker of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.testing.invariants import garbage
from tests.unit.table.tables import make_table, ride, rows_of

T = TypeVar("T")
OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control", "hoodie.clean.automatic": "false"}
ARCHIVES = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.commits.retained": "1",
    "hoodie.compact.inline.max.delta.commits": "1",
}
CITIES = ("lima", "oslo", "rome")
KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("8", "9")]


class HeldUp(InterceptedStorage):
    """The storage of a writer that is held up when its first data file is to be complete, while `meanwhile` runs; it dies after `files`."""

    def __init__(self, inner: Storage, meanwhile: Callable[[], object], files: int) -> None:
        super().__init__(inner)
        self.meanwhile, self.files_left, self.is_held_up = meanwhile, files, False

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        if not self.files_left:
            raise Crashed(str(call))
        is_data = call.method == "close_output" and not call.path.startswith(".hoodie")
        if is_data and not self.is_held_up:
            self.is_held_up = True
            self.meanwhile()
        result = effect()
        self.files_left -= is_data
        return result

    def _clean_up(self, path: str) -> None:
        """A dead process removes nothing."""


def roll_back_others(storage: Storage) -> None:
    """Roll back all writers, whose heartbeats end first."""
    for name in storage.file_names(".hoodie/.heartbeat"):
        storage.delete(f".hoodie/.heartbeat/{name}")
    HudiTable(storage).services.clean(options=OCC)


def killed_writer(kind: str, version: str, files: int = 2) -> tuple[MemoryStorage, list[str]]:
    """A table with a writer that was killed after so many data files, and those that its rollback has not deleted."""
    storage = MemoryStorage()
    options = {"hoodie.write.table.version": version}
    table = make_table(storage, partition_by=["city"], table_type=kind, options=options)
    table.upsert([ride(number, city) for number, city in enumerate(CITIES)], options=OCC)
    held_up = HeldUp(storage, lambda: roll_back_others(storage), files)
    with pytest.raises(Crashed):
        HudiTable(held_up, engine=LocalEngine(threads=1)).upsert([ride(number, city, 7) for number, city in enumerate(CITIES)], options=OCC)
    late = [path for path in garbage(storage) if not path.startswith(".hoodie")]
    assert len(late) == files
    return storage, late


def check_rows(storage: Storage, count: int) -> None:
    assert [row["value"] for row in rows_of(HudiTable(storage))] == [0] * count
    assert HudiTable(storage).inspect.health().to_pylist() == []


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_next_write_deletes_the_file_that_has_a_marker_and_archival_the_other_one(kind: str, version: str) -> None:
    storage, late = killed_writer(kind, version)
    HudiTable(storage).upsert([ride(9)], options=OCC)
    assert len(set(late).intersection(garbage(storage))) == 1
    check_rows(storage, 4)
    for number in range(10, 20):
        HudiTable(storage).upsert([ride(number)], options=OCC | ARCHIVES)
    assert garbage(storage) == []
    check_rows(storage, 14)


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_removal_of_dangling_files_finds_exactly_these(kind: str, version: str, tmp_path: Path) -> None:
    storage, late = killed_writer(kind, version)
    removed = HudiTable(storage).services.remove_dangling_files(backup=str(tmp_path / "copies"))
    assert sorted(removed.files) == sorted(late)
    HudiTable(storage).upsert([ride(9)], options=OCC)
    assert garbage(storage) == []
    check_rows(storage, 4)
