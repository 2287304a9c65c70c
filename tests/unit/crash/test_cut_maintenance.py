"""Maintenance cut at every storage call: lifetimes, purges, rollbacks of completed commits, repairs, services in a row.

Rows are those before or after, the same call brings what is left to its end, and writers go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from pyhudi import HudiTable, register_partitioner
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.write_table import write
from pyhudi.testing.crash_points import calls_of
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.service_machine import run_round
from tests.unit.crash.tables import DRIVER, SCHEMA, CountedIds, Driver, StoppedClock, check_at_rest, check_rows, cuts, ride, stored_table
from tests.unit.crash.test_cut_clustering import ONE_THREAD

NEXT = (Operation.UPSERT, [ride(2, "oslo", 22), ride(8, "rome", 80)])
ROME = [ride(3, "rome", 30), ride(4, "rome", 40)]
LATEST = (Operation.UPSERT, [ride(1, "oslo", 12), ride(9, "bern", 90)])
METAFILE = "rome/.hoodie_partition_metadata"
KEEP_ONE = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}


class _LaterClock(StoppedClock):
    def now(self) -> datetime:
        return super().now() + timedelta(days=3)


def table_of(storage: Storage) -> HudiTable:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds(), engine=ONE_THREAD)


@dataclass(frozen=True)
class Maintenance:
    """An action on a table that `make` prepares, which returns the table and its rows before and after."""

    make: Callable[[Driver], tuple[MemoryStorage, Oracle, Oracle]]
    run: Callable[[Storage], object]


def with_expired(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    later = HudiTable(storage, clock=_LaterClock(), ids=CountedIds(), engine=ONE_THREAD)
    later.upsert([ride(1, "oslo", 12)], driver.written_with)
    oracle = oracle.after(Operation.UPSERT, [ride(1, "oslo", 12)])
    return storage, oracle, oracle.after(Operation.DELETE_PARTITION, ROME)


def expire(storage: Storage) -> object:
    table = HudiTable(storage, clock=_LaterClock(), ids=CountedIds(), engine=ONE_THREAD)
    return table.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "2"})


def with_dropped(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    driver.write(storage, Operation.DELETE_PARTITION, ROME)
    oracle = oracle.after(Operation.DELETE_PARTITION, ROME)
    return storage, oracle, oracle


def with_latest(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    driver.write(storage, *LATEST)
    return storage, oracle.after(*LATEST), oracle


def roll_back_latest(storage: Storage) -> object:
    table = table_of(storage)
    writes = [row["requested"] for row in table.history().to_pylist() if row["action"] in ("commit", "deltacommit")]
    return table.services.rollback(writes[2]) if len(writes) > 2 else table.services.rollback()


def without_metafile(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    storage.delete(METAFILE)
    return storage, oracle, oracle


def with_services_due(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    for number in range(3):
        write = (Operation.UPSERT, [ride(1, "oslo", 100 + number)])
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle, oracle


def run_all(storage: Storage) -> object:
    table = table_of(storage)
    done = table.services.clean(options=KEEP_ONE, engine=ONE_THREAD)
    return done, table.services.cluster(engine=ONE_THREAD), table.services.archive(options=KEEP_ONE)


def run_policy(storage: Storage) -> object:
    """All services of a policy, by the runner."""
    return run_round(table_of(storage))


def bulk_load(layout: dict[str, str]) -> Maintenance:
    """A bulk insert in some layout; a second one would double its rows, so that the same call is made only where none is there."""

    def run(storage: Storage) -> object:
        table, options = table_of(storage), {"hoodie.metadata.enable": "false", **layout}
        loaded = [row["id"] for row in table.to_arrow().to_pylist() if row["id"] >= 20]
        return loaded or write(table, Operation.BULK_INSERT, pa.Table.from_pylist(LOADED, SCHEMA), options=options, engine=ONE_THREAD)

    def make(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
        storage, oracle = stored_table(driver)
        return storage, oracle, oracle.after(Operation.BULK_INSERT, LOADED)

    return Maintenance(make, run)


LOADED = [ride(number, ("oslo", "rome", "bern")[number % 3], number * 7 % 11) for number in range(20, 29)]


class ByValue:
    """Odd values in one task, even ones in another."""

    sort_columns = ("value",)

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Return the task of each row."""
        return [value % 2 % tasks for value in rows["value"].to_pylist()]


register_partitioner("tests.ByValue", ByValue())


def unchanged(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    return storage, oracle, oracle


def overwrite_properties(storage: Storage) -> object:
    table = table_of(storage)
    return table.services.overwrite_properties({**table.config.properties, "hoodie.database.name": "sales"})


def with_empty_clean(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    """A clean whose completed file is empty: what it had planned is deleted by the next one."""
    storage, oracle, _ = with_services_due(driver)
    driver.compact(storage, "both")  # merge on read: log files alone leave a clean nothing to delete
    driver.write(storage, *LATEST)
    oracle = oracle.after(*LATEST)
    table_of(storage).services.clean(options=KEEP_ONE, engine=ONE_THREAD)
    (done,) = (one.path for one in storage.list(timeline_folder(storage)) if one.name.endswith(".clean"))
    storage.replace(done, b"")
    return storage, oracle, oracle


def repair_clean_files(storage: Storage) -> object:
    """Remove the empty files, and let the next clean do what they had planned."""
    services = table_of(storage).services
    return services.repair_clean_files(), services.clean(options=KEEP_ONE, engine=ONE_THREAD)


def with_planned_clustering(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    """A clustering of both partitions that no process has begun to run."""
    storage, oracle = stored_table(driver)
    table_of(storage).services.cluster(mode="schedule", options=SINGLE, engine=ONE_THREAD)
    return storage, oracle, oracle


def repair_plan_and_run(storage: Storage) -> object:
    """Take a file out of the plan, unless that has been done, and run the rest of it."""
    table = table_of(storage)
    name = next(row["base_file"] for row in table.inspect.slices().to_pylist() if row["partition_path"] == "oslo" and row["latest"])
    pending = [row["requested"] for row in table.history().to_pylist() if row["state"] == "requested"]
    repaired = [table.services.repair_clustering_plan(instant, [name]) for instant in pending]
    return repaired, table.services.cluster(mode="execute", engine=ONE_THREAD)


def timeline_folder(storage: Storage) -> str:
    return ".hoodie" if table_of(storage).config.version == 6 else ".hoodie/timeline"


def with_inflight_service(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    """A clustering that died in the middle of its run."""
    storage, oracle = stored_table(driver)
    table_of(storage).services.cluster(mode="schedule", options=SINGLE, engine=ONE_THREAD)
    calls = calls_of(lambda cut: table_of(cut).services.cluster(mode="execute", engine=ONE_THREAD), storage.copy)
    point = next(number for number, call in enumerate(calls) if call.method == "close_output" and call.path.startswith("rome/"))
    with pytest.raises(Crashed):
        table_of(FaultStorage(storage, point, Fault.AFTER)).services.cluster(mode="execute", engine=ONE_THREAD)
    return storage, oracle, oracle


def revert_and_run(storage: Storage) -> object:
    services = table_of(storage).services
    return services.cleanup_stale(0, include_writes=True), services.cluster(mode="execute", engine=ONE_THREAD)


def with_restore_due(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    """A restore that died after it had rolled back the latest commit."""
    storage, saved = stored_table(driver)
    instant = table_of(storage).services.savepoint().instant
    for write_ in (LATEST, NEXT):
        driver.write(storage, *write_)
    action = lambda cut: table_of(cut).services.restore(to=instant)  # noqa: E731
    calls = calls_of(action, storage.copy)
    deleted = [number for number, call in enumerate(calls) if call.method == "delete" and "/.hoodie" not in f"/{call.path}"]
    with pytest.raises(Crashed):
        action(FaultStorage(storage, deleted[0], Fault.AFTER))
    return storage, saved.after(*LATEST), saved


def change_type(storage: Storage) -> object:
    return table_of(storage).services.change_type("COW" if table_of(storage).config.is_merge_on_read else "MOR", engine=ONE_THREAD)


def take_up_restore(storage: Storage) -> object:
    table = table_of(storage)
    pending = any(one.action == "restore" for one in load_timeline(storage, table.config).pending())
    return table.services.restore() if pending else None


SINGLE = {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}
PARTITIONER = "hoodie.bulkinsert.user.defined.partitioner.class"
ACTIONS = {
    "lifetimes": Maintenance(with_expired, expire),
    "purge": Maintenance(with_dropped, lambda storage: table_of(storage).services.purge(["rome"])),
    "rollback of the latest commit": Maintenance(with_latest, roll_back_latest),
    "partition metafiles": Maintenance(without_metafile, lambda storage: table_of(storage).services.add_partition_metafiles()),
    "services in a row": Maintenance(with_services_due, run_all),
    "services of a policy": Maintenance(with_services_due, run_policy),
    "sorted load": bulk_load({"hoodie.bulkinsert.sort.mode": "GLOBAL_SORT"}),
    "load by partition": bulk_load({"hoodie.bulkinsert.sort.mode": "PARTITION_PATH_REPARTITION_AND_SORT"}),
    "load by a partitioner": bulk_load({PARTITIONER: "tests.ByValue"}),
    "properties": Maintenance(unchanged, overwrite_properties),
    "migrated metafiles": Maintenance(unchanged, lambda storage: table_of(storage).services.migrate_partition_metafiles()),
    "empty clean files": Maintenance(with_empty_clean, repair_clean_files),
    "plan of a clustering": Maintenance(with_planned_clustering, repair_plan_and_run),
    "revert of a service": Maintenance(with_inflight_service, revert_and_run),
    "restore taken up again": Maintenance(with_restore_due, take_up_restore),
    "table type": Maintenance(unchanged, change_type),
}
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false"}
MAINTAINED = replace(DRIVER, written_with=QUIET)
DRIVERS = {
    "copy-on-write": MAINTAINED,
    "merge-on-read": replace(MAINTAINED, table_type="MERGE_ON_READ"),
    "version 6": replace(MAINTAINED, created_with={"hoodie.write.table.version": "6"}),
    "metadata table": replace(MAINTAINED, metadata_table=True),
}
#: Kinds of tables that are cut by each fault: before and after a call, in it, and by Ctrl-C. The others are cut after each call.
EACH_FAULT = ("copy-on-write", "merge-on-read")
CASES = [
    pytest.param("lifetimes", "merge-on-read", (Fault.AFTER,)),
    *(
        pytest.param(action, kind, tuple(Fault) if kind in EACH_FAULT else (Fault.AFTER,), marks=pytest.mark.slow, id=f"{action}-{kind}")
        for action in ACTIONS
        for kind in DRIVERS
    ),
]


@pytest.mark.parametrize(("action", "kind", "faults"), CASES)
def test_cut_anywhere_rows_are_those_before_or_after_and_the_same_call_ends_it(action: str, kind: str, faults: tuple[Fault, ...]) -> None:
    driver, maintenance = DRIVERS[kind], ACTIONS[action]
    storage, before, after = maintenance.make(driver)
    for run in cuts(maintenance.run, storage, faults):
        rows = MAINTAINED.read(run.storage)
        assert before.agrees(rows) or after.agrees(rows), f"{run.point}: {before.difference(rows)}"
        if run.returned:
            check_rows(run.storage, after, run.point)
        maintenance.run(run.storage)
        check_rows(run.storage, after, run.point)
        driver.write(run.storage, *NEXT)
        check_rows(run.storage, after.after(*NEXT), run.point)
        check_at_rest(run.storage, run.point)
