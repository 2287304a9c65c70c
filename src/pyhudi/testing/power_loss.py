"""What a power loss can undo on a journaling file system: deletes that no later sync has carried to the disk.

The local storage syncs everything it creates before it answers and never syncs a delete (see `pyhudi.storage.local_storage`).
The journal keeps the order of changes, so after a loss the newest deletes since the last sync may be undone, in any
number, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.crash_points import Action
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage

T = TypeVar("T")

_SYNCED = frozenset({"create", "replace", "open_output", "close_output", "make_dir"})


class PowerLossStorage(InterceptedStorage):
    """Remembers the files deleted since the last synced call, so that a test can bring them back."""

    def __init__(self, inner: MemoryStorage) -> None:
        """Watch the deletes on `inner`."""
        super().__init__(inner)
        self.disk = inner
        self._unsynced: list[tuple[str, bytes]] = []

    def states_after_loss(self) -> Iterator[tuple[int, MemoryStorage]]:
        """Yield each state the disk may be in, with the number of deletes that were undone."""
        for undone in range(len(self._unsynced) + 1):
            state = self.disk.copy()
            for path, data in self._unsynced[len(self._unsynced) - undone :]:
                state.replace(path, data)
            yield undone, state
            state.drop()

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        unsynced = self._files_of(call)
        result = super()._pass(call, effect, torn)
        self._unsynced += unsynced
        if call.method in _SYNCED:
            self._unsynced.clear()
        return result

    def _files_of(self, call: Call) -> list[tuple[str, bytes]]:
        if call.method == "delete":
            status = self.disk.stat(call.path)
            return [(call.path, self.disk.read(call.path))] if status is not None and not status.is_dir else []
        if call.method == "delete_tree":
            return [(path, self.disk.read(path)) for path in _files_below(self.disk, call.path)]
        return []


def power_losses(action: Action, make_storage: Callable[[], MemoryStorage]) -> Iterator[tuple[str, MemoryStorage]]:
    """Cut the power after each call of an action and yield every state the disk may be in then, with its
    description.
    """
    recorded = RecordingStorage(make_storage())
    action(recorded)
    for number, call in enumerate(recorded.calls):
        disk = make_storage()
        lossy = PowerLossStorage(disk)
        try:
            action(FaultStorage(lossy, number, Fault.AFTER))
        except Crashed:
            for undone, state in lossy.states_after_loss():
                yield f"power lost after call {number} {call}, {undone} deletes undone", state
        disk.drop()


def _files_below(storage: MemoryStorage, folder: str) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        for status in storage.list(waiting.pop()):
            if status.is_dir:
                waiting.append(status.path)
            else:
                yield status.path
