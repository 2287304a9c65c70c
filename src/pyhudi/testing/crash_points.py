"""Cutting an action at every call it makes to the storage, in every way a call can fail.

The action runs once undisturbed to learn its calls, then once for each call and fault, each time over a fresh copy.
The caller looks at what is left: open it again, let the next writer recover, compare the rows with those before or
after the action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyhudi.errors import HudiError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage, faults_of
from pyhudi.testing.intercepted_storage import Call

#: Something that changes a table through the storage it is given.
Action = Callable[[Storage], object]


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """A call of an action, by its number and what it was, and the fault that strikes there."""

    number: int
    call: Call
    fault: Fault

    def __str__(self) -> str:
        return f"call {self.number} {self.call} {self.fault.name}"


@dataclass(frozen=True, slots=True)
class CrashRun:
    """What is left after a cut: the bare storage, and the error the action ended with (None: it returned all the
    same).
    """

    point: CrashPoint
    storage: MemoryStorage
    error: BaseException | None

    @property
    def returned(self) -> bool:
        """True when the action told its caller that it succeeded."""
        return self.error is None


def calls_of(action: Action, make_storage: Callable[[], MemoryStorage]) -> list[Call]:
    """Return the calls of an undisturbed run."""
    recorded = RecordingStorage(make_storage())
    action(recorded)
    return recorded.calls


def _faults_at(number: int, call: Call) -> tuple[Fault, ...]:
    """Return the faults that leave something of their own: dying before a call leaves what dying after the last change did."""
    return tuple(fault for fault in faults_of(call) if number == 0 or fault is not Fault.BEFORE)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of all crash points, for a run that has not the time for all.

    Part 0 has death after every call, and the lost answer of those that make a file: of such a step the timeline is made. Other faults
    take turns.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"part {self.number}"

    def has(self, point: CrashPoint) -> bool:
        """Tell whether a point belongs to it; each belongs to exactly one part."""
        decides = point.fault is Fault.AFTER or (point.fault is Fault.ERROR_BUT_DONE and point.call.method == "create")
        turn = 0 if decides else (point.number + list(Fault).index(point.fault)) % self.of
        return turn == self.number


def crash_points(
    action: Action,
    make_storage: Callable[[], MemoryStorage],
    faults: tuple[Fault, ...] = tuple(Fault),
    part: Part = Part(0, 1),
) -> Iterator[CrashRun]:
    """Run `action` once per call and fault that makes a difference on the storages that `make_storage` gives; yield what is left.

    The action must make the same calls each time (one thread, a fixed clock, fixed ids). Its storages are dropped
    after use.

    Raises:
        AssertionError: the fault was never reached, or the action died of an error that is not of pyhudi.

    Example:
        >>> runs = crash_points(lambda storage: storage.create("a", b"12"), MemoryStorage)
        >>> [run.point.fault.name for run in runs if run.storage.stat("a") is not None]
        ['AFTER', 'ERROR_BUT_DONE', 'INTERRUPT']
    """
    for number, call in enumerate(calls_of(action, make_storage)):
        for fault in _faults_at(number, call):
            point = CrashPoint(number, call, fault)
            if fault in faults and part.has(point):
                run = run_with_fault(action, make_storage(), point)
                yield run
                run.storage.drop()


def run_with_fault(action: Action, storage: MemoryStorage, point: CrashPoint) -> CrashRun:
    """Run an action on a storage and let the fault of `point` strike it.

    Raises:
        AssertionError: the fault was never reached, or the action died of an error that is not of pyhudi.
    """
    failing = FaultStorage(storage, point.number, point.fault)
    error: BaseException | None = None
    try:
        action(failing)
    except (Crashed, HudiError, KeyboardInterrupt) as raised:
        error = raised
    except Exception as raised:
        raise AssertionError(f"{point} surfaced as {raised!r}, not as an error of pyhudi") from raised
    if not failing.injected:
        raise AssertionError(f"{point} was never reached: the action does not repeat its calls")
    return CrashRun(point, storage, error)
