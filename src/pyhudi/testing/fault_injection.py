"""A storage that fails at one chosen call: the process dies there, the storage answers with an error, or the user
presses Ctrl-C.

A process that died does nothing any more, so after the cut every call raises `Crashed` and changes nothing, whatever
clean-up the code under test still tries. `Crashed` is no `Exception`: code that swallows errors does not swallow it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TypeVar

from pyhudi.errors import StorageError
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call, InterceptedStorage

T = TypeVar("T")


class Fault(enum.Enum):
    """What happens at the chosen call."""

    BEFORE = "the process dies before the call"
    AFTER = "the process dies after the call"
    TORN = "the process dies half-way through the call"
    ERROR_BUT_DONE = "the call is done, the answer is an error"
    ERROR_NOT_DONE = "the call is not done, the answer is an error"
    INTERRUPT = "the call is done, and Ctrl-C interrupts the process"


#: Calls that can be cut half-way.
_TEARABLE = frozenset({"create", "replace", "close_output", "delete_tree"})


def faults_of(call: Call) -> tuple[Fault, ...]:
    """Return the faults that make a difference at a call: one that only reads can fail, and nothing else."""
    if call.method not in CHANGING_CALLS:
        return (Fault.BEFORE, Fault.ERROR_NOT_DONE)
    if call.method == "lock":  # taking it and telling otherwise would be a lock that never ends
        return (Fault.BEFORE, Fault.AFTER, Fault.ERROR_NOT_DONE, Fault.INTERRUPT)
    if call.method in _TEARABLE:
        return tuple(Fault)
    return tuple(fault for fault in Fault if fault is not Fault.TORN)


class Crashed(BaseException):
    """The process under test is dead."""


class FaultStorage(InterceptedStorage):
    """Passes calls on until call number `at` (from 0), where `fault` strikes once.

    Example:
        >>> from pyhudi.storage.memory_storage import MemoryStorage
        >>> storage = FaultStorage(MemoryStorage(), 0, Fault.ERROR_NOT_DONE)
        >>> storage.create("a", b"")
        Traceback (most recent call last):
        pyhudi.errors.StorageError: create(a) failed on purpose: the call is not done, the answer is an error
    """

    def __init__(self, inner: Storage, at: int, fault: Fault) -> None:
        """Fail once, at the call of that number."""
        super().__init__(inner)
        self._at = at
        self._fault = fault
        self._count = 0
        self._crashed = False

    @property
    def injected(self) -> bool:
        """True once the fault has happened."""
        return self._count > self._at

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        if self._crashed:
            raise Crashed(f"{call} of a dead process")
        number, self._count = self._count, self._count + 1
        return effect() if number != self._at else self._strike(call, effect, torn)

    def _strike(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None) -> T:
        if self._fault in (Fault.AFTER, Fault.ERROR_BUT_DONE, Fault.INTERRUPT):
            effect()
        if self._fault is Fault.TORN and torn is not None:
            torn()
        if self._fault in (Fault.ERROR_BUT_DONE, Fault.ERROR_NOT_DONE):
            raise StorageError(f"{call} failed on purpose: {self._fault.value}")
        if self._fault is Fault.INTERRUPT:
            raise KeyboardInterrupt
        self._crashed = True
        raise Crashed(f"{call}: {self._fault.value}")

    def _clean_up(self, path: str) -> None:
        if not self._crashed:
            super()._clean_up(path)
