"""Who rolls back a failed write: the next write (EAGER), the next clean once heartbeats ended (LAZY), nobody (NEVER)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, OptionError, StorageError
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.heartbeats import heartbeat_path
from tests.unit.table.tables import after_heartbeats, make_table, ride, rows_of

_POLICY = "hoodie.clean.failed.writes.policy"
LAZY, NEVER = {_POLICY: "lazy"}, {_POLICY: "NEVER"}
NO_CLEANS = {"hoodie.clean.automatic": "false"}
KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in (6, 8, 9)]


class _Dying(InterceptedStorage):
    """The process dies when the tasks are done; its heartbeat file stays."""

    crashed = wrote = False
    name = "local"

    def _pass(self, call: Call, effect, torn=None):
        if self.crashed:
            raise Crashed
        self.wrote |= call.method == "close_output" and not call.path.startswith(".hoodie")
        return effect()

    def run(self, function, tasks):
        results = LocalEngine(threads=1).run(function, tasks)
        if self.wrote:
            self.crashed = True
            raise Crashed
        return results


class _Later:
    def __init__(self, seconds: int) -> None:
        self.by = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by


def died(kind: str = "COPY_ON_WRITE", version: int = 9, options=LAZY) -> tuple[MemoryStorage, str]:
    """Return a table with a write whose process died, and that write's time."""
    storage = MemoryStorage()
    table = make_table(storage, table_type=kind, options={"hoodie.write.table.version": str(version)})
    table.upsert([ride(1), ride(2)], options=NO_CLEANS)
    storage_of_writer = _Dying(storage)
    with pytest.raises(Crashed):
        HudiTable(storage_of_writer, engine=storage_of_writer).upsert([ride(2, value=7), ride(3)], options=options | NO_CLEANS)
    (failed,) = pending(storage)
    return storage, failed


def pending(storage: MemoryStorage) -> list[str]:
    return [one.requested for one in load_timeline(storage, HudiTable(storage).config).pending()]


def rollbacks(storage: MemoryStorage) -> int:
    return len(load_timeline(storage, HudiTable(storage).config).with_actions(Action.ROLLBACK).completed())


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_lazy_leaves_a_failed_write_to_the_next_clean(kind: str, version: int) -> None:
    storage, failed = died(kind, version)
    later = after_heartbeats(storage, 500)
    later.upsert([ride(4), ride(2, value=1)], options=LAZY | NO_CLEANS)
    assert pending(storage) == [failed]
    assert rows_of(later) == [ride(1), ride(2, value=1), ride(4)]
    later.services.clean(options=LAZY)
    assert (pending(storage), rollbacks(storage)) == ([], 1)
    assert storage.stat(heartbeat_path(failed)) is None
    assert rows_of(HudiTable(storage)) == [ride(1), ride(2, value=1), ride(4)]


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_clean_after_a_commit_rolls_back_under_lazy(kind: str, version: int) -> None:
    storage, _ = died(kind, version)
    after_heartbeats(storage, 500).upsert([ride(4)], options=LAZY)
    assert (pending(storage), rollbacks(storage)) == ([], 1)
    assert rows_of(HudiTable(storage)) == [ride(1), ride(2), ride(4)]


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_never_leaves_a_failed_write_until_it_is_named(kind: str, version: int) -> None:
    storage, failed = died(kind, version, NEVER)
    table = after_heartbeats(storage, 500)
    for number in range(3):
        table.upsert([ride(4 + number), ride(2, value=number)], options=NEVER)
    table.services.clean(options=NEVER)
    assert pending(storage) == [failed]
    assert rows_of(table) == [ride(1), ride(2, value=2), ride(4), ride(5), ride(6)]
    table.services.rollback(failed)
    assert pending(storage) == []
    assert rows_of(table) == [ride(1), ride(2, value=2), ride(4), ride(5), ride(6)]


def test_prewrite_policy_rolls_back_before_the_write_under_lazy() -> None:
    storage, _ = died()
    options = LAZY | NO_CLEANS | {"hoodie.prewrite.cleaner.policy": "ROLLBACK_FAILED_WRITES"}
    after_heartbeats(storage, 500).upsert([ride(4)], options=options)
    assert pending(storage) == []


@pytest.mark.parametrize("options", [LAZY, {}])
def test_write_whose_heartbeat_is_fresh_is_never_rolled_back(options) -> None:
    storage, failed = died()
    table = after_heartbeats(storage, 60)
    with pytest.raises(ConflictError, match="is being written"):
        table.upsert([ride(4)], options=options)
    with pytest.raises(ConflictError, match="is being written"):
        table.services.clean(options=options)
    with pytest.raises(ConflictError, match="is being written"):
        table.services.rollback(failed)
    assert pending(storage) == [failed]


def test_writers_that_beat_faster_are_dead_earlier() -> None:
    storage, _ = died()
    fast = LAZY | {"hoodie.client.heartbeat.interval_in_ms": "1000", "hoodie.client.heartbeat.tolerable.misses": "3"}
    after_heartbeats(storage, 10).upsert([ride(4)], options=fast)
    assert pending(storage) == []


def test_eager_writers_send_no_heartbeats_and_lazy_ones_do() -> None:
    class RecordingStorage(InterceptedStorage):
        beats = 0

        def _pass(self, call: Call, effect, torn=None):
            self.beats += call.method == "replace" and ".heartbeat" in call.path
            return effect()

    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    recorder = RecordingStorage(storage)
    HudiTable(recorder).upsert([ride(2)])
    assert recorder.beats == 0
    HudiTable(recorder).upsert([ride(3)], options=LAZY)
    assert recorder.beats == 1
    assert storage.list(".hoodie/.heartbeat") == []


@pytest.mark.parametrize("options", [LAZY, NEVER, {}])
def test_write_that_fails_rolls_itself_back(options) -> None:
    class Full(InterceptedStorage):
        def _pass(self, call: Call, effect, torn=None):
            if call.method == "open_output" and not call.path.startswith(".hoodie"):
                raise StorageError("no space")
            return effect()

    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    with pytest.raises(StorageError, match="no space"):
        HudiTable(Full(storage)).upsert([ride(2)], options=options)
    assert pending(storage) == []
    assert storage.list(".hoodie/.heartbeat") == []


def test_write_that_was_held_up_for_longer_than_its_heartbeat_lives_is_not_committed() -> None:
    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    clock = _Later(0)

    class Slow(LocalEngine):
        def run(self, function, tasks):
            results = super().run(function, tasks)
            clock.by += timedelta(seconds=500)
            return results

    with pytest.raises(ConflictError, match=r"heartbeat of .* expired"):
        HudiTable(storage, clock=clock, engine=Slow()).upsert([ride(2)], options=LAZY)
    assert rows_of(HudiTable(storage)) == [ride(1)]
    assert pending(storage) == []


def test_values_are_checked() -> None:
    with pytest.raises(OptionError, match=_POLICY):
        make_table().upsert([ride(1)], options={_POLICY: "SOMETIMES"})
    with pytest.raises(OptionError, match="interval_in_ms"):
        make_table().upsert([ride(1)], options={"hoodie.client.heartbeat.interval_in_ms": "10"})
    with pytest.raises(OptionError, match="interval_in_ms"):
        make_table().services.clean(options={"hoodie.client.heartbeat.interval_in_ms": "10"})
