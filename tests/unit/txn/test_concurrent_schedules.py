"""Writers in lockstep by seeds: what was acknowledged is there once and in an order, and each time shows a prefix of it.

The history is checked by replay: the commits, in the order of their completion, give the rows of each time; what writers were told is among
them once. Defects put in on purpose are noticed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import pyhudi.txn.optimistic as optimistic
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import HudiError
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spec.instant import Instant
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.write_conflicts import completed_since
from tests.unit.table.tables import after_heartbeats, make_table, ride, rows_of

OCC = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.num.retries.on.conflict.failures": "2",
    "hoodie.archive.automatic": "false",
}
EARLY = "hoodie.write.concurrency.early.conflict.detection.enable"
CITIES = ("oslo", "rome")
WRITERS, WRITES = 3, 2
#: A schedule takes a third of a second of processor time, and each of four tests runs so many.
SLOW_SCHEDULES = int(os.environ.get("PYHUDI_SCHEDULES", "100"))


class _History:
    """What writers wrote, by the name of the write, and which of them were told that it is committed."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {"": []}  # compactions have no name and change no row
        self.acknowledged: set[str] = set()


def _writer(number: int, seed: int, history: _History, options: dict[str, str]) -> Callable[[Storage], object]:
    chance = random.Random(seed * 31 + number)

    def write(storage: Storage) -> None:
        table = HudiTable(storage, engine=LocalEngine(threads=1))
        for count in range(WRITES):
            name = f"{number}-{count}"
            keys = chance.sample(range(5), 2)
            history.rows[name] = [ride(key, CITIES[key % 2], value=10 * number + count + 1) for key in keys]
            with contextlib.suppress(HudiError):
                table.upsert(history.rows[name], options={**OCC, **options, "_write": name})
                history.acknowledged.add(name)

    return write


def faults_of_schedule(seed: int, kind: str, *, crashes: int = 0, **more: str) -> list[str]:
    """Run a schedule and return what is wrong afterwards."""
    history = _History()
    options = {"hoodie.metadata.enable": "true" if seed % 2 else "false", "hoodie.clean.automatic": "false"} | more
    storage = MemoryStorage()
    kind, _, version = kind.partition("-")
    created = {"hoodie.write.table.version": version} if version else {}
    table = make_table(storage, table_type=kind, partition_by=("city",), options=created)
    # The metadata table of version 6 is built by a write that is alone.
    table.upsert([ride(0)], options={**({} if version else OCC), **options, "_write": "first"})
    history.rows["first"] = [ride(0)]
    history.acknowledged.add("first")
    writers = [_writer(number, seed, history, options) for number in range(WRITERS)]
    errors = Lockstep(random.Random(seed), crashes=crashes).run(storage, writers)
    unexpected = [repr(error) for error in errors if error is not None and not isinstance(error, Crashed)]
    if crashes and kind == "MERGE_ON_READ":  # a plan binds: whoever compacts next runs what a dead writer began, and no write rolls it back
        after_heartbeats(storage, 3_600).services.compact(mode="execute")
    after_heartbeats(storage, 3_600).services.clean(options={**OCC, "hoodie.clean.commits.retained": "100"})
    return unexpected + _faults(storage, history)


def _faults(storage: MemoryStorage, history: _History) -> list[str]:
    table = HudiTable(storage)
    timeline = load_timeline(storage, table.config)
    instants = sorted(timeline.data_instants(), key=_time_of)
    names = [load_commit_metadata(storage, table.config, timeline, one).extra_metadata.get("_write", "") for one in instants]
    faults = [f"{name} is there {count} times" for name, count in Counter(names).items() if name and count > 1]
    faults += [f"{name} was acknowledged and is lost" for name in history.acknowledged - set(names)]
    state: dict[int, dict[str, Any]] = {}
    for instant, name in zip(instants, names, strict=True):
        state |= {row["id"]: row for row in history.rows[name]}
        rows = sorted(table.to_arrow(as_of=_time_of(instant)).to_pylist(), key=lambda row: row["id"])
        if rows != [state[key] for key in sorted(state)]:
            faults.append(f"at {_time_of(instant)} the table has {rows}, and the writes up to {name} make {state}")
    if rows_of(table) != [state[key] for key in sorted(state)]:
        faults.append(f"the table has {rows_of(table)} in the end")
    changed = [table.changes(since=_time_of(before), until=_time_of(one)).num_rows for before, one in itertools.pairwise(instants)]
    if changed != [len(history.rows[name]) for name in names[1:]]:
        faults.append(f"incremental reads give {changed} rows for the writes {names[1:]}")
    faults += timeline_faults(storage) + garbage(storage) + dangling_references(storage, row_count) + folders_without_metafile(storage)
    return faults + [str(row) for row in table.inspect.health().to_pylist()]


def _time_of(instant: Instant) -> str:
    """Return the time by which commits are in order: in version 6, which has no times of completion, that of the request."""
    return instant.completed or instant.requested


KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ", "COPY_ON_WRITE-6", "MERGE_ON_READ-6"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 4 + SLOW_SCHEDULES), marks=pytest.mark.slow)], ids=["some", "many"])
def test_writers_in_any_order_lose_and_double_nothing(kind: str, seeds: range) -> None:
    for seed in seeds:
        assert faults_of_schedule(seed, kind) == [], f"seed {seed}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seeds", [(*range(3), 5012), pytest.param(range(3, 3 + SLOW_SCHEDULES), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_writers_that_die_lose_and_double_nothing(kind: str, seeds: range) -> None:
    for seed in seeds:
        assert faults_of_schedule(seed, kind, crashes=1) == [], f"seed {seed}"


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 2 + SLOW_SCHEDULES), marks=pytest.mark.slow)], ids=["some", "many"])
def test_early_detection_loses_and_doubles_nothing(seeds: range) -> None:
    for seed in seeds:
        assert faults_of_schedule(seed, "MERGE_ON_READ", crashes=seed % 2, **{EARLY: "true"}) == [], f"seed {seed}"


def no_conflict_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimistic, "check_conflicts", lambda before, now, mine, strategy: completed_since(before, now.timeline))


def check_against_the_timeline_of_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimistic, "check_conflicts", lambda before, now, mine, strategy: ())


def lock_that_excludes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = ""):
        yield _Held()

    monkeypatch.setattr("pyhudi.testing.lockstep.SteppedStorage.lock", lock)


class _Held:
    def is_held(self) -> bool:
        return True


@pytest.mark.parametrize(
    "defect",
    [
        no_conflict_check,
        check_against_the_timeline_of_the_beginning,
        lock_that_excludes_nobody,
    ],
    ids=lambda defect: defect.__name__,
)
def test_defect_is_noticed(defect: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    for seed in range(40):
        with contextlib.suppress(HudiError):  # what a broken table cannot be read with is noticed as well
            if not faults_of_schedule(seed, "COPY_ON_WRITE"):
                continue
        return
    pytest.fail("nothing was noticed")
