"""Writers, services and readers in virtual time, by a seed: the code of transactions and services as it is, with data files of one byte.

Each write reads and replaces the newest file of some file groups, or all of them, so that a lost update shows as two writes on top of one
file. Storage calls are interleaved by `pyhudi.testing.lockstep`; each takes some virtual time, may fail, may be done and answer with an
error, or end its process. Clocks of writers differ, and a writer may be held up for longer than its heartbeat or its lock lasts.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

from pyhudi.errors import ConflictError, HudiError, StorageError, UnknownOutcomeError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.locks import renewal
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.files.marker import MarkerType, marker_path
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.completing_write import CompletingWrite
from pyhudi.txn.concurrency import Concurrency, ConcurrencyMode
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.optimistic import begin_optimistic
from pyhudi.txn.transaction import Transaction
from tests.unit.txn.history_checker import REPLACED, faults_of_history
from tests.unit.txn.simulated_services import SHARED, delete_savepoints, service
from tests.unit.txn.simulated_world import HELD_UP_MS, SimulatedStorage, SkewedClock, Troubles, World

#: The first groups, which several writers may begin; later ones have names that no other has.
GROUPS = ("g0-0", "g1-0", "g2-0")
SCHEMA = '{"type":"record","name":"r","fields":[{"name":"id","type":"long"}]}'
#: What a write of a mixed schedule does; others update.
OPERATIONS = (Operation.UPSERT, Operation.UPSERT, Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION)


def writer(world: World, number: int, writes: int, troubles: Troubles, seed: int) -> Callable[[Storage], None]:
    """Return a process that writes so many times, and tries no write again."""

    def run(stepped: Storage) -> None:
        chance = random.Random(f"{seed} {number}")
        storage = SimulatedStorage(stepped, world, number, troubles, chance)
        clock = SkewedClock(world, chance.randint(-troubles.skew_ms, troubles.skew_ms))
        for count in range(writes):
            name = f"{number}-{count}"
            operation = chance.choice(OPERATIONS) if troubles.services else Operation.UPSERT
            try:
                world.instants[name] = _write(storage, clock, name, operation, chance)
            except UnknownOutcomeError:
                continue
            except (ConflictError, StorageError) as error:
                world.refused.add(name)
                if not (troubles.failing or troubles.held_up or troubles.services) and not _is_expected(error):
                    world.faults.append(f"{name} was refused for no reason: {error}")
            else:
                world.acknowledged.append(name)

    return run


def _is_expected(error: HudiError) -> bool:
    return "completed first" in str(error)


def _write(storage: Storage, clock: SkewedClock, name: str, operation: Operation, chance: random.Random) -> str:
    """Write on top of the newest files of some groups, or in place of all of them, and return the instant."""
    roll_back = functools.partial(roll_back_failed_writes, settings=SHARED, writes=True)
    extra = {"_write": name}
    with begin_optimistic(
        storage,
        operation,
        wait_s=60,
        clock=clock,
        ids=SystemIds(),
        roll_back=roll_back,
        metadata_table=MetadataSettings(enabled=False),
        extra_metadata=extra,
        version=int(TableConfig(load_properties(storage)).version),
        failed_writes=SHARED,
        concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC),
    ) as txn:
        view = FileSystemView(storage, txn.table.config, txn.table.timeline)
        newest = {one.group.file_id: one.base_instant for one in view.latest_slices("")}
        txn.start(CommitMetadata())
        known = sorted(newest) or ([f"{name}-{number}" for number in range(3)] if txn.table.timeline.data_instants() else GROUPS)
        groups = {
            Operation.UPSERT: sorted(chance.sample(known, min(len(known), chance.randint(1, 2)))),
            Operation.INSERT_OVERWRITE: [f"{name}-0"],
            Operation.DELETE_PARTITION: [],
        }
        results = [_write_file(storage, txn, group, newest.get(group)) for group in groups[operation]]
        replaced = {"": tuple(sorted(newest))} if operation is not Operation.UPSERT else None
        with txn.completing(CompletingWrite(results, replaced)):
            txn.commit(results, schema_json=SCHEMA, replaced=replaced, extra_metadata={REPLACED: json.dumps(newest)} if replaced else {})
        return txn.instant


def _write_file(storage: Storage, txn: Transaction, group: str, before: str | None) -> TaskResult:
    path = str(BaseFileName(group, "0-0-0", txn.instant))
    storage.create(marker_path(txn.instant, path, MarkerType.CREATE if before is None else MarkerType.MERGE), b"")
    ensure_partition(storage, "", txn.instant)
    storage.create(path, b"x")
    stat = WriteStat(file_id=group, path=path, prev_commit=before or "null", partition_path="", num_writes=1, file_size_in_bytes=1)
    return TaskResult(replace(stat, total_write_bytes=1), None, path)


def reader(world: World, number: int, reads: int, seed: int) -> Callable[[Storage], None]:
    """Return a process that reads snapshots, and what was completed since the last one."""

    def run(stepped: Storage) -> None:
        storage = SimulatedStorage(stepped, world, number, Troubles(), random.Random(f"{seed} {number}"))
        world.handed_out.append([])
        mine, since = world.handed_out[-1], ""
        for _ in range(reads):
            timeline = load_full_timeline(storage, config_of(world)).with_archived()
            done = sorted((one.completed or "", one.requested) for one in timeline.data_instants())
            world.snapshots.append(tuple(requested for _, requested in done))
            mine += [requested for completed, requested in done if completed > since]
            since = max((completed for completed, _ in done), default="")

    return run


def config_of(world: World) -> TableConfig:
    """Return the properties of the table of a world."""
    return TableConfig(load_properties(world.storage))


class _NoThreads:
    """In place of the threads that renew heartbeats, in the time of the machine that runs the simulation."""

    def take(self, work: object) -> int:
        """Do nothing: a write takes less time than a heartbeat lives, unless it is held up."""
        del work
        return 0


def simulate(seed: int, troubles: Troubles, *, writers: int = 3, writes: int = 2, crashes: int = 0) -> list[str]:
    """Run a schedule and return what is wrong with its history."""
    with mock.patch.object(renewal, "workers", _NoThreads):
        return _simulate(World(random.Random(seed)), seed, troubles, writers, writes, crashes)


def _simulate(world: World, seed: int, troubles: Troubles, writers: int, writes: int, crashes: int) -> list[str]:
    if troubles.services:  # which need something to do
        writer(world, writers + 3, 3, Troubles(services=troubles.services), seed)(world.storage)
    processes = [writer(world, number, writes, troubles, seed) for number in range(writers)]
    processes += [service(world, writers, 3 if troubles.services else 2, troubles, seed), reader(world, writers + 1, 8, seed)]
    errors = Lockstep(world.chance, crashes=crashes, calls=150).run(world.storage, processes)
    world.faults += [repr(error) for error in errors if error is not None and not isinstance(error, Crashed)]
    world.now_ms += HELD_UP_MS
    delete_savepoints(HudiTable(world.storage))
    service(world, writers + 2, 1, Troubles(services=("clean",) if troubles.services else ()), seed)(world.storage)
    try:
        return world.faults + faults_of_history(world)
    finally:
        world.storage.drop()
