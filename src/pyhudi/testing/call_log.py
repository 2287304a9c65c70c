"""A storage that notes the calls made to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call, InterceptedStorage

T = TypeVar("T")


class RecordingStorage(InterceptedStorage):
    """Passes every call on and keeps it in `calls`, in order.

    Example:
        >>> from pyhudi.storage.memory_storage import MemoryStorage
        >>> storage = RecordingStorage(MemoryStorage())
        >>> storage.create("a", b"")
        >>> [str(call) for call in storage.calls]
        ['create(a)']
    """

    def __init__(self, inner: Storage) -> None:
        """Record the calls to `inner`."""
        super().__init__(inner)
        self.calls: list[Call] = []

    def changes(self) -> list[Call]:
        """Return the calls that were to change something."""
        return [call for call in self.calls if call.method in CHANGING_CALLS]

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        self.calls.append(call)
        return super()._pass(call, effect, torn)
