"""Defects that are put into the code of transactions on purpose: the checker of histories notices each of them."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Iterator

import pytest

import pyhudi.txn.optimistic as optimistic
import pyhudi.txn.write_conflicts as write_conflicts
from pyhudi.errors import HudiError
from pyhudi.service.rollback import execute_rollback
from pyhudi.storage.storage_protocol import HeldLock
from pyhudi.timeline.clock import InstantClock
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.write_instant import TimelineWriter
from pyhudi.txn.heartbeats import Heartbeat
from pyhudi.txn.locked_table import table_state
from pyhudi.txn.transaction import Transaction
from pyhudi.txn.write_conflicts import completed_since
from tests.unit.late_files import late_files_stay
from tests.unit.txn.simulated_world import Lease, SimulatedStorage, Troubles
from tests.unit.txn.simulation import simulate

#: The module; its package shows the function of that name.
failed_writes = importlib.import_module("pyhudi.service.rollback.failed_writes")
#: Seeds that are tried until one shows the defect.
MOST_SEEDS = 150
FAILING = Troubles(failing=0.02)
HELD_UP = Troubles(held_up=True)
CLOCKS = Troubles(skew_ms=5_000)
Patch = pytest.MonkeyPatch


def no_check_of_conflicts(patch: Patch) -> None:
    patch.setattr(optimistic, "check_conflicts", lambda before, now, mine, strategy: ())


def check_before_the_lock_is_taken(patch: Patch) -> None:
    """The timeline that is compared was read before the lock of the completion was to be had."""
    real_check, real_completing = write_conflicts.check_conflicts, optimistic.OptimisticTransaction.completing
    early: dict[int, Timeline] = {}

    @contextlib.contextmanager
    def completing(self, write) -> Iterator[None]:
        early[id(self._before)] = table_state(self.table.storage, self.table.clock, self.table.ids).timeline
        with real_completing(self, write):
            yield

    def check(before, now, mine, strategy):
        return real_check(before, dataclasses.replace(now, timeline=early[id(before)]), mine, strategy)

    patch.setattr(optimistic.OptimisticTransaction, "completing", completing)
    patch.setattr(optimistic, "check_conflicts", check)


def only_later_writes_are_candidates(patch: Patch) -> None:
    """What was pending at the beginning and has completed since is forgotten."""

    def later(before: Timeline, now: Timeline):
        newest = before.greatest_time()
        return tuple(one for one in completed_since(before, now) if one.requested > newest)

    patch.setattr(write_conflicts, "completed_since", later)


def lock_that_excludes_nobody(patch: Patch) -> None:
    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        self.stat("lock")
        yield Lease(dataclasses.replace(self.world, holder=(0, 1 << 60)), (0, 1 << 60))

    patch.setattr(SimulatedStorage, "lock", lock)


def lock_that_expires_unnoticed(patch: Patch) -> None:
    patch.setattr(Lease, "is_held", lambda self: True)
    patch.setattr(TimelineWriter, "complete", _complete_whatever_is_pending)


def _complete_whatever_is_pending(self, instant, completed_time, content, check=None):
    return self._create(dataclasses.replace(instant, state=instant.state.COMPLETED, completed=completed_time), content)


def times_of_the_clock_alone(patch: Patch) -> None:
    """A time is what the clock of the machine says, whatever is on the timeline."""
    patch.setattr(InstantClock, "next", lambda self: self._now())


def times_from_before_the_lock(patch: Patch) -> None:
    """The time of completion is the one after that of the beginning."""
    real = TimelineWriter.complete

    def complete(self, instant, completed_time, content, check):
        early = f"{int(instant.requested) + 1}" if instant.action.writes_data else completed_time
        return real(self, instant, early, content, check)

    patch.setattr(TimelineWriter, "complete", complete)


def heartbeats_of_others_are_ignored(patch: Patch) -> None:
    patch.setattr(failed_writes, "is_alive", lambda *_: False)
    patch.setattr(failed_writes, "check_writer_has_died", lambda *_: None)


def no_heartbeat_is_sent(patch: Patch) -> None:
    patch.setattr(Heartbeat, "_write", lambda self: None)
    patch.setattr(Heartbeat, "check_alive", lambda self: None)


def lost_answer_is_a_failure(patch: Patch) -> None:
    def give_up(self, instant, content, error):
        raise error

    patch.setattr(TimelineWriter, "_resolve", give_up)


def rollback_deletes_no_files(patch: Patch) -> None:
    patch.setattr(execute_rollback, "planned_files", lambda plan: {})
    late_files_stay(patch)


def a_writer_that_was_rolled_back_leaves_what_it_wrote_since(patch: Patch) -> None:
    patch.setattr(optimistic, "delete_files_of", lambda storage, instant: None)
    late_files_stay(patch)


def the_loser_is_acknowledged(patch: Patch) -> None:
    patch.setattr(Transaction, "commit", lambda self, results, **_: None)


DEFECTS: list[tuple[Callable[[Patch], None], Troubles, int]] = [
    (no_check_of_conflicts, Troubles(), 0),
    (check_before_the_lock_is_taken, Troubles(), 0),
    (only_later_writes_are_candidates, Troubles(), 0),
    (lock_that_excludes_nobody, Troubles(), 0),
    (lock_that_expires_unnoticed, HELD_UP, 0),
    (times_of_the_clock_alone, CLOCKS, 0),
    (times_from_before_the_lock, Troubles(), 0),
    (heartbeats_of_others_are_ignored, Troubles(), 0),
    (no_heartbeat_is_sent, Troubles(), 0),
    (lost_answer_is_a_failure, FAILING, 0),
    (rollback_deletes_no_files, FAILING, 1),
    (a_writer_that_was_rolled_back_leaves_what_it_wrote_since, HELD_UP, 0),
    (the_loser_is_acknowledged, Troubles(), 0),
]


def test_files_that_a_writer_wrote_after_its_rollback_are_noticed_if_it_dies(monkeypatch: Patch) -> None:
    late_files_stay(monkeypatch)
    assert simulate(2_001_742, Troubles(failing=0.003, held_up=True, skew_ms=5_000), crashes=2)


@pytest.mark.parametrize(("defect", "troubles", "crashes"), DEFECTS, ids=lambda value: getattr(value, "__name__", ""))
def test_defect_is_noticed(defect: Callable[[Patch], None], troubles: Troubles, crashes: int, monkeypatch: Patch) -> None:
    defect(monkeypatch)
    first = 1990 if troubles.held_up else 0  # what a writer leaves that is held up shows in few schedules, of which 1995 is one
    for seed in range(first, first + MOST_SEEDS):
        try:
            faults = simulate(seed, troubles, crashes=crashes)
            assert not any(fault.startswith("TypeError") for fault in faults)  # a defect that does not fit the code shows nothing
            if faults:
                return
        except (HudiError, KeyError):  # a table that cannot be read any more, or commits that were published under another name
            return
    pytest.fail("nothing was noticed")
