"""Readers of a table that is upgraded or downgraded meanwhile: they open it again, and find the files where they are now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import PROPERTIES, create_properties
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.timeline.instant_details import read_details
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.moved_timeline import MOVED_FILE, TimelineMovedError, check_not_moved, moved_path, reread_when_moved
from tests.unit.timeline.tables import LAYOUT_1, LAYOUT_2

TIME, LATER = "20261201040547825", "20261201040550000"
DONE = Instant(TIME, Action.COMMIT, State.COMPLETED)
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def store(storage, properties) -> None:
    create_properties(storage, properties, NOW)


def test_a_folder_that_is_being_left_is_an_error_once_the_properties_name_another(storage, layout_1) -> None:
    store(storage, LAYOUT_2)
    check_not_moved(storage, layout_1, [f"{TIME}.commit"])
    with pytest.raises(TimelineMovedError, match=r"from version 6 to 9.*open it again"):
        check_not_moved(storage, layout_1, [f"{TIME}.commit", MOVED_FILE])


def test_a_change_of_the_layout_that_has_not_happened_yet_is_none(storage, layout_1) -> None:
    store(storage, LAYOUT_1)
    check_not_moved(storage, layout_1, [MOVED_FILE])
    assert moved_path(storage, layout_1, DONE) is None


def test_properties_that_cannot_be_read_are_no_move(storage, layout_1) -> None:
    check_not_moved(storage, layout_1, [MOVED_FILE])


def test_files_of_instants_are_found_where_an_upgrade_has_moved_them(storage, layout_1) -> None:
    storage.create(f".hoodie/{TIME}.commit", b"x")
    timeline = load_timeline(storage, layout_1)
    storage.delete(f".hoodie/{TIME}.commit")
    store(storage, LAYOUT_2)
    storage.create(f".hoodie/timeline/{LATER}_{LATER}.commit", b"other")
    assert moved_path(storage, layout_1, DONE) is None
    with pytest.raises(FileNotFoundError, match="moved from version 6 to 9 while it was read; open it again") as raised:
        read_details(storage, layout_1, timeline, DONE)
    assert isinstance(raised.value, TimelineMovedError)
    storage.create(f".hoodie/timeline/{TIME}_{LATER}.commit", b"content")
    assert moved_path(storage, layout_1, DONE) == f".hoodie/timeline/{TIME}_{LATER}.commit"
    assert read_details(storage, layout_1, timeline, DONE) == b"content"


def test_a_table_that_went_to_another_version_and_back_is_not_damaged(layout_1) -> None:
    there, back = MemoryStorage(), MemoryStorage()
    store(there, LAYOUT_2)
    there.create(f".hoodie/timeline/{TIME}_{LATER}.commit", b"{}")
    store(back, LAYOUT_1)
    back.create(f".hoodie/{TIME}.commit", b"{}")

    class Changing(InterceptedStorage):
        """The table is of version 9 until somebody looks at its properties."""

        def _pass(self, call: Call, effect, torn=None):
            if call.path == PROPERTIES:
                self.inner = back
            return effect()

    assert [one.requested for one in load_timeline(Changing(there), layout_1).instants] == [TIME]


def test_opening_begins_again_once() -> None:
    calls: list[TableConfig | None] = []

    @reread_when_moved
    def open_table(fails: int) -> int:
        calls.append(None)
        if len(calls) <= fails:
            raise TimelineMovedError("moved")
        return len(calls)

    assert open_table(1) == 2
    calls.clear()
    with pytest.raises(TimelineMovedError):
        open_table(2)
    assert len(calls) == 2
