"""The table of `state_machine`, with its services and readers of the past.

Between random writes it is cleaned, archived, clustered, compacted, savepointed, restored, rolled back, moved between table versions, and
its partitions expire.

The model keeps the rows after each commit. A state that cleaning retains must be readable as it was; one that it does not retain is as it
was or an error, never other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import HudiError, UnsupportedError, UsageError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.runner.run_report import RunReport
from pyhudi.table.runner.run_services import run_services
from pyhudi.table.runner.service_policy import ServicePolicy, TablePolicy
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.testing.state_machine import WRITES, TableMachine, _rows
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock

_PLAN = "hoodie.clustering.plan.strategy."
_CLUSTER = {f"{_PLAN}single.group.clustering.enabled": "true"}
#: What a clustering plans and how it orders rows, by the name of the service.
CLUSTERINGS = {
    "cluster": _CLUSTER,
    "cluster sorted": _CLUSTER | {f"{_PLAN}sort.columns": "value"},
    "cluster by z-order": _CLUSTER | {f"{_PLAN}sort.columns": "value,id", "hoodie.layout.optimize.strategy": "z-order"},
    "cluster by hilbert": _CLUSTER | {f"{_PLAN}sort.columns": "value,id", "hoodie.layout.optimize.strategy": "hilbert"},
    "cluster single files": {f"{_PLAN}class": "SparkSingleFileSortPlanStrategy", f"{_PLAN}sort.columns": "value"},
    "cluster by commits": {
        f"{_PLAN}class": "CommitBasedClusteringPlanStrategy",
        f"{_PLAN}earliest.commit.to.cluster": "20260101000000000",
    },
    "cluster by copies": {f"{_PLAN}class": "SparkStreamCopyClusteringPlanStrategy"},
    "cluster selected partitions": _CLUSTER | {f"{_PLAN}partition.selected": "oslo"},
    "cluster recent days": _CLUSTER | {"hoodie.clustering.plan.partition.filter.mode": "RECENT_DAYS"},
}
_ARCHIVE = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
_EXPIRY = {"hoodie.partition.ttl.management.strategy.type": "KEEP_BY_CREATION_TIME", "hoodie.partition.ttl.strategy.days.retain": "30"}
_VERSIONS = st.sampled_from(["6", "8", "9"])


class LaterClock:
    """A clock by which every partition has expired."""

    def now(self) -> datetime:
        return datetime(2028, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class State:
    """The rows after a commit; `is_retained` until a clean may have taken their files."""

    instant: str
    rows: Oracle
    is_retained: bool = True


def _table(storage: Storage, clock: StoppedClock | LaterClock | None = None) -> HudiTable:
    return HudiTable(storage, clock=clock or StoppedClock(), ids=CountedIds(), engine=LocalEngine(threads=1))


ROWS = _rows()


def _cluster(table: HudiTable, options: Mapping[str, str]) -> object:
    return table.services.cluster(options={"pyhudi.options.unknown": "refuse", **options})


def _log_compact(table: HudiTable) -> object:
    if not table.config.is_merge_on_read:
        return ()
    return table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})


def run_round(table: HudiTable) -> RunReport:
    """Run the services of a policy, one after the other; lifetimes have a rule of their own."""
    due = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.clustering.inline.max.commits": "1"}
    options = _CLUSTER | _ARCHIVE | due | {"hoodie.clean.commits.retained": "2"}
    policy = ServicePolicy((TablePolicy("t", ("clean", "compact", "cluster", "archive"), options),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HudiTable, "open", lambda *_: table)
        return run_services(policy, engine=LocalEngine(threads=1))


#: Services that change no rows, by name.
SERVICES: dict[str, Callable[[HudiTable], object]] = {
    "clean": lambda table: table.services.clean(options={"hoodie.clean.commits.retained": "2"}),
    "archive": lambda table: table.services.archive(options=_ARCHIVE),
    **{name: partial(_cluster, options=options) for name, options in CLUSTERINGS.items()},
    "savepoint": lambda table: table.services.savepoint(),
    "log compaction": _log_compact,
    "purge": lambda table: table.services.purge(["bern"]),
    "partition metafiles": lambda table: table.services.add_partition_metafiles(),
    "migrated metafiles": lambda table: table.services.migrate_partition_metafiles(),
    "clean files": lambda table: table.services.repair_clean_files(),
    "in a row": run_round,
}
#: The states after so many commits, those of services among them, stay after a clean.
_RETAINED = 2
#: After a clean that follows a write.
_RETAINED_BY_WRITES = 10


class ServiceMachine(TableMachine):
    """More rules of a table's life."""

    @initialize()
    def create(self) -> None:
        super().create()
        self.states: list[State] = []
        self.has_old_logs = False

    @invariant()
    def recovered_table_holds_no_garbage(self) -> None:
        """Check what a write leaves; log files of version 6 whose commit was rolled back stay, with blocks that say so."""
        if not self.has_old_logs:
            super().recovered_table_holds_no_garbage()

    def _after_rollback(self) -> None:
        config = _table(self.storage).config
        self.has_old_logs = self.has_old_logs or (config.is_merge_on_read and config.version == 6)

    @rule(values=st.lists(st.integers(0, 99), min_size=3, max_size=4))
    def write_often(self, values: list[int]) -> None:
        """Upsert the same rows in some commits, so that there is something to clean."""
        for value in values:
            self._write(Operation.UPSERT, [{"id": number, "city": "oslo", "value": value} for number in range(2)])

    @rule(name=st.sampled_from(sorted(SERVICES)))
    def serve(self, name: str) -> None:
        """Run a service undisturbed; there may be nothing to do, or nothing that it may do now."""
        try:
            SERVICES[name](_table(self.storage))
        except UsageError as error:
            note(f"{name}: {error}")
        self._after_service(name)

    @rule(name=st.sampled_from(sorted(SERVICES)), at=st.integers(0, 80), fault=st.sampled_from(list(Fault)))
    def serve_with_fault(self, name: str, at: int, fault: Fault) -> None:
        """Run a service over a storage that fails at some call; no row changes, whatever happens."""
        try:
            SERVICES[name](_table(FaultStorage(self.storage, at, fault)))
        except (Crashed, HudiError, KeyboardInterrupt) as error:
            note(f"{name} failed at call {at}: {error}")
            self.half_compacted = True
        if name in CLUSTERINGS or name == "in a row":  # a plan keeps out writers that change its file groups
            _table(self.storage).services.cluster(mode="execute")
        if name in ("archive", "in a row"):  # instants are half archived until the next run
            SERVICES[name](_table(self.storage))
        self._after_service(name)

    @rule(operation=WRITES, rows=ROWS, at=st.integers(0, 80), fault=st.sampled_from(list(Fault)))
    def write_with_fault(self, operation: Operation, rows: list[dict[str, Any]], at: int, fault: Fault) -> None:
        """Write rows as `TableMachine` does, and remember the commit that was made, if any."""
        before = self._last_commit()
        super().write_with_fault(operation, rows, at, fault)
        after = self._last_commit()
        if after is not None and after != before:
            self._remember(after)

    def _last_commit(self) -> str | None:
        last = load_timeline(self.storage, _table(self.storage).config).last_completed()
        return None if last is None else last.requested

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 20))
    def read_the_past(self, number: int) -> None:
        """Read the state of some commit."""
        self._check_past(self.states[number % len(self.states)])

    def _check_past(self, state: State) -> None:
        try:
            rows = _table(self.storage).to_arrow(as_of=state.instant).to_pylist()
        except HudiError:
            if state.is_retained:
                raise
            return
        assert state.rows.agrees(rows), f"{state.instant}: {state.rows.difference(rows)}"

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 20))
    def restore(self, number: int) -> None:
        """Restore the table to some commit, or be told why not."""
        state = self.states[number % len(self.states)]
        try:
            _table(self.storage).services.restore(state.instant)
        except (UsageError, UnsupportedError) as error:
            note(f"restore to {state.instant}: {error}")
            return
        self.oracle, self.recovered = state.rows, True
        self._after_rollback()
        self.states = self.states[: self.states.index(state) + 1]

    @precondition(lambda self: len(self.states) > 1)
    @rule()
    def roll_back_the_last_commit(self) -> None:
        """Roll back the latest commit, or be told why not."""
        try:
            _table(self.storage).services.rollback(self.states[-1].instant)
        except (UsageError, UnsupportedError) as error:
            note(f"rollback: {error}")
            return
        self.states.pop()
        self.oracle, self.recovered = self.states[-1].rows, True
        self._after_rollback()

    @rule()
    def delete_savepoints(self) -> None:
        """Delete all savepoints."""
        for savepoint in _table(self.storage).services.savepoints():
            _table(self.storage).services.delete_savepoint(savepoint.instant)

    @rule()
    def expire_partitions(self) -> None:
        """Drop the partitions that are older than they may be: none that was made after others expired, or that a plan holds."""
        done = _table(self.storage, LaterClock()).services.ttl(options=_EXPIRY)
        if done.instant is not None:
            self.oracle = self.oracle.after(Operation.DELETE_PARTITION, [{"city": one.path} for one in done.partitions])
            self._remember(done.instant)

    @rule(version=_VERSIONS)
    def change_version(self, version: str) -> None:
        """Move the table to another table version; what it has may not exist there."""
        services = _table(self.storage).services
        try:
            if int(version) > _table(self.storage).config.version:
                services.upgrade(version)
            else:
                services.downgrade(version)
        except (UsageError, UnsupportedError) as error:
            note(f"to version {version}: {error}")
            return
        # Times before an upgrade may be read by their completion, which older versions do not keep.
        self.states = [replace(state, is_retained=False) for state in self.states[:-1]] + self.states[-1:]

    def _write(self, operation: Operation, rows: Any) -> None:
        after = self.oracle.after(operation, rows)
        result = self.driver.write(self.storage, operation, rows)
        self.oracle, self.recovered = after, True
        if (instant := getattr(result, "instant", None)) is not None:
            self._remember(instant)

    def _remember(self, instant: str) -> None:
        self.states.append(State(instant, self.oracle))
        self._release_all_but(_RETAINED_BY_WRITES)

    def _after_service(self, name: str) -> None:
        if name in ("clean", "in a row"):
            self._release_all_but(_RETAINED)
        for state in self.states[-_RETAINED:]:
            self._check_past(state)

    def _release_all_but(self, count: int) -> None:
        """Say that a clean may have deleted files of the states before the latest ones."""
        config = _table(self.storage).config
        commits = [one.requested for one in load_timeline(self.storage, config).data_instants()][-count:]
        self.states = [state if state.instant in commits else replace(state, is_retained=False) for state in self.states]


def service_machine(driver: Driver) -> type[ServiceMachine]:
    """Return the state machine for a table that `driver` works."""
    return type("ServiceMachineOfDriver", (ServiceMachine,), {"driver": driver, "ordering": None})
