"""Non-blocking writers, a compactor and a cleaner in lockstep by seeds: each acknowledged row is there once, and compactions change none.

The history is checked by replay. A key has the row of the greatest ordering value; without ordering fields that of the writer that began
last, of those that completed after the same compactions were planned. Defects put in on purpose are noticed.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import pyhudi.txn.write_conflicts as write_conflicts
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import HudiError
from pyhudi.index import bucket_numbers
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spec.instant import Action, Instant
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.write.pipeline import plan_rows
from tests.not_none import not_none
from tests.unit.table.tables import after_heartbeats, make_table, ride, rows_of
from tests.unit.txn.test_concurrent_schedules import CITIES, SLOW_SCHEDULES, _History

NBCC = {
    "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.archive.automatic": "false",
    "hoodie.clean.automatic": "false",
}
WRITERS, WRITES = 3, 2


def _writer(number: int, seed: int, history: _History, options: dict[str, str]) -> Callable[[Storage], object]:
    chance = random.Random(seed * 31 + number)

    def write(storage: Storage) -> None:
        table = HudiTable(storage, engine=LocalEngine(threads=1))
        for count in range(WRITES):
            name = f"{number}-{count}"
            keys, at = chance.sample(range(5), 2), 10 * chance.randrange(5) + number
            history.rows[name] = [ride(key, CITIES[key % 2], value=10 * number + count + 1, at=at) for key in keys]
            with contextlib.suppress(HudiError):
                table.upsert(history.rows[name], options={**options, "_write": name})
                history.acknowledged.add(name)

    return write


def _compactor(options: dict[str, str]) -> Callable[[Storage], object]:
    def compact(storage: Storage) -> None:
        table = HudiTable(storage, engine=LocalEngine(threads=1))
        for _ in range(2):
            with contextlib.suppress(HudiError):
                table.services.compact(mode="schedule", options=options)
                table.services.compact(mode="execute", options=options)

    return compact


def faults_of_schedule(seed: int, order_by: tuple[str, ...], *, crashes: int = 0) -> list[str]:
    """Run a schedule and return what is wrong afterwards."""
    history = _History()
    options = NBCC | {"hoodie.metadata.enable": "true" if seed % 2 else "false"}
    storage = MemoryStorage()
    make_table(storage, table_type="MERGE_ON_READ", partition_by=("city",), order_by=order_by)
    actors = [_writer(number, seed, history, options) for number in range(WRITERS)] + [_compactor(options)]
    errors = Lockstep(random.Random(seed), crashes=crashes).run(storage, actors)
    unexpected = [repr(error) for error in errors if error is not None and not isinstance(error, Crashed)]
    after_heartbeats(storage, 3_600).services.compact(mode="execute", options=options)
    after_heartbeats(storage, 3_600).services.clean(options={**options, "hoodie.clean.commits.retained": "100"})
    faults = unexpected + _faults(storage, history, is_ordered=bool(order_by))
    after_heartbeats(storage, 3_600).services.compact(options=options)
    return faults + _faults(storage, history, is_ordered=bool(order_by))


@dataclass(frozen=True)
class _Version:
    """A row, by what decides which row of its key counts."""

    order: tuple[Any, ...]
    name: str
    row: dict[str, Any]


def _faults(storage: MemoryStorage, history: _History, *, is_ordered: bool) -> list[str]:
    table = HudiTable(storage)
    timeline = load_timeline(storage, table.config)
    instants = sorted(timeline.data_instants(), key=lambda one: not_none(one.completed))
    commits = {one: load_commit_metadata(storage, table.config, timeline, one) for one in instants}
    names = [commits[one].extra_metadata.get("_write", "") for one in instants]
    faults = [f"{name} is there {count} times" for name, count in Counter(names).items() if name and count > 1]
    faults += [f"{name} was acknowledged and is lost" for name in history.acknowledged - set(names)]
    compacted = [(one.requested, set(commits[one].stats)) for one in instants if one.action is Action.COMMIT]

    def order(instant: Instant, row: dict[str, Any]) -> tuple[Any, ...]:
        before = [time for time, paths in compacted if time <= not_none(instant.completed) and row["city"] in paths]
        return (*((row["at"],) if is_ordered else ()), max(before, default=""), instant.requested)

    state: dict[int, _Version] = {}
    changed = []
    for instant, name in zip(instants, names, strict=True):
        for row in history.rows[name]:
            version = _Version(order(instant, row), name, row)
            state[row["id"]] = max(state.get(row["id"], version), version, key=lambda one: one.order)
        changed.append(sum(version.name == name for version in state.values()) if name else 0)
        rows = sorted(table.to_arrow(as_of=instant.completed).to_pylist(), key=lambda row: row["id"])
        if rows != [state[key].row for key in sorted(state)]:
            faults.append(f"at {instant.completed} the table has {rows}, and the writes up to {name} make {state}")
    if rows_of(table) != [state[key].row for key in sorted(state)]:
        faults.append(f"the table has {rows_of(table)} in the end")
    read = [table.changes(since=before.completed, until=one.completed).num_rows for before, one in itertools.pairwise(instants)]
    if read != changed[1:]:
        faults.append(f"incremental reads give {read} rows for the writes {names[1:]}, not {changed[1:]}")
    faults += timeline_faults(storage) + garbage(storage) + dangling_references(storage, row_count) + folders_without_metafile(storage)
    return faults + [str(row) for row in table.inspect.health().to_pylist()]


@pytest.mark.parametrize("order_by", [(), ("at",)], ids=["commit time", "event time"])
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 2 + SLOW_SCHEDULES), marks=pytest.mark.slow)], ids=["some", "many"])
def test_writers_in_any_order_lose_and_double_nothing(order_by: tuple[str, ...], seeds: range) -> None:
    for seed in seeds:
        assert faults_of_schedule(seed, order_by) == [], f"seed {seed}"


@pytest.mark.parametrize("order_by", [(), ("at",)], ids=["commit time", "event time"])
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 2 + SLOW_SCHEDULES), marks=pytest.mark.slow)], ids=["some", "many"])
def test_writers_and_compactors_that_die_lose_and_double_nothing(order_by: tuple[str, ...], seeds: range) -> None:
    for seed in seeds:
        assert faults_of_schedule(seed, order_by, crashes=1) == [], f"seed {seed}"


def own_file_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    shared = bucket_numbers.shared_file_id
    monkeypatch.setattr(plan_rows, "shared_file_id", lambda *known: f"{shared(*known)[:-1]}{next(numbers)}")
    monkeypatch.setattr(write_conflicts, "_excluding_groups", lambda other, ours: frozenset())


def no_check_of_pending_compactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_conflicts, "_check_compaction", lambda now, mine, other: None)


@pytest.mark.parametrize(
    ("defect", "order_by"), [(own_file_ids, ("at",)), (no_check_of_pending_compactions, ())], ids=["file ids", "compactions"]
)
@pytest.mark.slow
def test_defect_is_noticed(
    defect: Callable[[pytest.MonkeyPatch], None], order_by: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    defect(monkeypatch)
    for seed in range(40):
        with contextlib.suppress(HudiError):  # what a broken table cannot be read with is noticed as well
            if not faults_of_schedule(seed, order_by):
                continue
        return
    pytest.fail("nothing was noticed")
