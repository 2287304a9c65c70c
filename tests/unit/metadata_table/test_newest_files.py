"""Writers of one process that keep the names of files see what others did to a table meanwhile: slices are always those of a listing."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any

import pytest

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.read.metadata_view import MetadataView, open_view
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.crash.tables import Driver, StoppedClock, ride

ARCHIVING = {
    "hoodie.clean.automatic": "false",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.compact.inline.max.delta.commits": "2",
}


class Table:
    def __init__(self, table_type: str) -> None:
        self.driver = Driver(metadata_table=True, table_type=table_type, written_with=ARCHIVING)
        self.storage = MemoryStorage()
        self.driver.create(self.storage)
        self.value = 0

    def write(self, storage=None) -> None:
        self.value += 1
        rows = [ride(number, "oslo", self.value) for number in range(4)]
        self.driver.write(storage or self.storage, Operation.UPSERT, rows)

    def check(self) -> None:
        config = TableConfig(load_properties(self.storage))
        timeline = load_full_timeline(self.storage, config)
        listed, *views = FileSystemView(self.storage, config, timeline), *(open_view(self.storage, config, timeline) for _ in range(3))
        assert all(isinstance(view, MetadataView) for view in views)
        view, all_at_once, by_group = views
        for path in listed.partition_paths():
            assert _named(view.latest_slices(path)) == _named(listed.latest_slices(path))
            assert [file.path for file in view.latest_base_files(path)] == [file.path for file in listed.latest_base_files(path)]
            assert path in all_at_once.partition_paths()
            assert _named(all_at_once.latest_slices(path)) == _named(listed.latest_slices(path))
            for file_slice in listed.latest_slices(path):
                requested = {file_slice.group.file_id, "of-nobody"}
                for one in (by_group, view, listed):
                    assert _named(one.slices_of(path, requested)) == _named([file_slice])


def _named(slices) -> list[tuple[Any, ...]]:
    return [(one.group, one.base_instant, one.base and (one.base.path, one.base.size), one.logs) for one in slices]


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request) -> Table:
    made = Table(request.param)
    for _ in range(3):
        made.write()
        made.check()
    return made


def test_archival_and_compactions_in_between(table) -> None:
    for _ in range(9):
        table.write()
        table.check()


def test_failed_writes_that_are_rolled_back_by_the_next_one(table) -> None:
    for number in (20, 30, 40, 50):
        with contextlib.suppress(Crashed):
            table.write(FaultStorage(table.storage, number, Fault.AFTER))
        table.write()
        table.check()


def test_replaced_file_groups_and_a_metadata_table_built_again(table) -> None:
    table.driver.write(table.storage, Operation.DELETE_PARTITION, [ride(1, "oslo", 1)])
    table.check()
    table.write()
    table.storage.delete_tree(FOLDER)
    table.write()
    table.check()


def test_another_table_in_its_place(table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.write()
    later = StoppedClock().now() + timedelta(seconds=1)
    monkeypatch.setattr(StoppedClock, "now", lambda _: later)
    for status in table.storage.list(""):
        table.storage.delete_tree(status.path)
    table.driver.create(table.storage)
    table.write()
    table.check()
