"""The fault injector itself: a check that cannot fail is not trusted."""

from __future__ import annotations

import pytest

from pyhudi.errors import StorageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.storage_suite import StorageSuite


class TestRecordingStorage(StorageSuite):
    """A wrapped storage keeps every promise of the storage inside."""

    @pytest.fixture
    def storage(self):
        return RecordingStorage(MemoryStorage())


def write_two_files(storage) -> None:
    storage.create("a", b"1234")
    with storage.open_output("data") as sink:
        sink.write(b"123456")
    storage.delete("a")


def test_calls_are_recorded_in_order() -> None:
    storage = RecordingStorage(MemoryStorage())
    write_two_files(storage)
    storage.list("")
    assert [str(call) for call in storage.calls] == [
        "create(a)",
        "open_output(data)",
        "close_output(data)",
        "delete(a)",
        "list()",
    ]
    assert len(storage.changes()) == 4


def content(storage) -> dict[str, bytes]:
    return {status.path: storage.read(status.path) for status in storage.list("")}


def test_every_call_is_cut_in_every_way_that_differs() -> None:
    left = {(run.point.number, run.point.fault): content(run.storage) for run in crash_points(write_two_files, MemoryStorage)}
    assert left == {
        (0, Fault.BEFORE): {},
        (0, Fault.AFTER): {"a": b"1234"},
        (0, Fault.TORN): {".a.0-0.tmp": b"12"},
        (0, Fault.ERROR_BUT_DONE): {"a": b"1234"},
        (0, Fault.ERROR_NOT_DONE): {},
        (0, Fault.INTERRUPT): {"a": b"1234"},
        (1, Fault.AFTER): {"a": b"1234", "data": b""},
        (1, Fault.ERROR_BUT_DONE): {"a": b"1234", "data": b""},
        (1, Fault.ERROR_NOT_DONE): {"a": b"1234"},
        (1, Fault.INTERRUPT): {"a": b"1234", "data": b""},
        (2, Fault.AFTER): {"a": b"1234", "data": b"123456"},
        (2, Fault.TORN): {"a": b"1234", "data": b"123"},
        (2, Fault.ERROR_BUT_DONE): {"a": b"1234"},
        (2, Fault.ERROR_NOT_DONE): {"a": b"1234"},
        (2, Fault.INTERRUPT): {"a": b"1234"},
        (3, Fault.AFTER): {"data": b"123456"},
        (3, Fault.ERROR_BUT_DONE): {"data": b"123456"},
        (3, Fault.ERROR_NOT_DONE): {"a": b"1234", "data": b"123456"},
        (3, Fault.INTERRUPT): {"data": b"123456"},
    }


def test_dead_process_changes_nothing_any_more() -> None:
    inner = MemoryStorage()
    storage = FaultStorage(inner, 0, Fault.AFTER)
    with pytest.raises(Crashed):
        storage.create("a", b"1")
    for call in (lambda: storage.delete("a"), lambda: storage.list(""), lambda: storage.create("b", b"")):
        with pytest.raises(Crashed):
            call()
    assert content(inner) == {"a": b"1"}


def test_error_strikes_once() -> None:
    storage = FaultStorage(MemoryStorage(), 0, Fault.ERROR_NOT_DONE)
    with pytest.raises(StorageError, match="on purpose"):
        storage.create("a", b"1")
    storage.create("a", b"1")
    assert storage.injected


def test_lock_of_a_dead_process_is_free() -> None:
    inner = MemoryStorage()
    storage = FaultStorage(inner, 1, Fault.BEFORE)
    with pytest.raises(Crashed), storage.lock(1):
        storage.create("a", b"1")
    with inner.lock(0):
        pass


def test_tree_delete_can_stop_half_way() -> None:
    inner = MemoryStorage()
    for name in "abcd":
        inner.create(f"t/{name}", b"")
    with pytest.raises(Crashed):
        FaultStorage(inner, 0, Fault.TORN).delete_tree("t")
    assert [status.name for status in inner.list("t")] == ["c", "d"]


def test_foreign_error_of_the_action_is_reported_with_its_point() -> None:
    def careless(storage) -> None:
        try:
            storage.create("a", b"")
        except StorageError:
            raise KeyError("a") from None

    with pytest.raises(AssertionError, match=r"call 0 create\(a\) ERROR_BUT_DONE surfaced as KeyError"):
        list(crash_points(careless, MemoryStorage))


def test_action_that_does_not_repeat_itself_is_reported() -> None:
    runs = []

    def shrinking(storage) -> None:
        runs.append(1)
        storage.create("a", b"")
        if len(runs) == 1:
            storage.create("b", b"")

    with pytest.raises(AssertionError, match="never reached"):
        list(crash_points(shrinking, MemoryStorage))
