"""The small table of the crash tests: one thread, a clock that is stopped, ids that are counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.create_new_table import create_table
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_table import write
from pyhudi.testing.crash_points import CrashPoint, CrashRun, Part, calls_of, run_with_fault
from pyhudi.testing.fault_injection import Fault, faults_of
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.merge_oracle import Oracle, Row

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
#: What the table grows into when rows bring a note.
WIDER_SCHEMA = SCHEMA.append(pa.field("note", pa.string()))
_numbers = itertools.count()
#: Every call of an action that changes something is cut in each run of the tests, every call in every way it can fail by the long proofs.
SHARE = Part(0, 6)
each_part = pytest.mark.parametrize(
    "part", [SHARE, *(pytest.param(Part(number, SHARE.of), marks=pytest.mark.slow) for number in range(1, SHARE.of))], ids=str
)


class StoppedClock:
    """The timeline's own rule then makes every time a millisecond later than the one before."""

    def now(self) -> datetime:
        return datetime(2026, 12, 1, 4, 5, 47, tzinfo=UTC)


class CountedIds:
    """Ids that no two writes of this process share, and that are the same text in length and order; not those of buckets."""

    def file_prefix(self) -> str:
        return f"c{next(_numbers):07}-0000-0000-0000-000000000000"

    def sync_marker(self) -> bytes:
        return next(_numbers).to_bytes(16, "big")


@dataclass(frozen=True)
class Driver:
    """Works a table of rides; see `pyhudi.testing.state_machine.Driver`."""

    keys: tuple[str, ...] = ("id",)
    partition_by: tuple[str, ...] = ("city",)
    created_with: Mapping[str, str] = field(default_factory=dict)
    written_with: Mapping[str, str] = field(default_factory=dict)
    table_type: str = "COPY_ON_WRITE"
    order_by: tuple[str, ...] = ()
    #: Cuts of what the metadata table takes more are in `test_cut_metadata_table`.
    metadata_table: bool = False

    def create(self, storage: Storage) -> None:
        create_table(
            storage,
            SCHEMA,
            name="rides",
            keys=self.keys,
            partition_by=self.partition_by,
            order_by=self.order_by,
            table_type=self.table_type,
            options=self.created_with,
            clock=StoppedClock(),
        )

    def write(self, storage: Storage, operation: Operation, rows: Sequence[Row]) -> Any:
        table = HudiTable(storage, clock=StoppedClock(), ids=CountedIds(), engine=LocalEngine(threads=1))
        if operation is Operation.DELETE_PARTITION:
            return table.delete(partitions=sorted({row["city"] for row in rows}))
        names = {name for row in rows for name in row}
        schema = pa.schema([column for column in WIDER_SCHEMA if column.name in names])
        data = pa.Table.from_pylist(list(rows), schema=schema)
        options = {"hoodie.metadata.enable": str(self.metadata_table).lower(), **self.written_with}
        return write(table, operation, data, options=options, engine=LocalEngine(threads=1))

    def compact(self, storage: Storage, mode: Any) -> Any:
        if self.table_type != "MERGE_ON_READ":
            return None
        table = HudiTable(storage, clock=StoppedClock(), ids=CountedIds())
        return table.services.compact(mode=mode, options={"hoodie.compact.inline.max.delta.commits": "1"}, engine=LocalEngine(threads=1))

    def read(self, storage: Storage) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = HudiTable(storage).to_arrow().to_pylist()
        return result


DRIVER = Driver()


def ride(number: int, city: str, value: int) -> dict[str, Any]:
    return {"id": number, "city": city, "value": value}


STORED = [ride(1, "oslo", 10), ride(2, "oslo", 20), ride(3, "rome", 30), ride(4, "rome", 40)]


def stored_table(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    """A table with two partitions, one of them written twice, and the oracle of its rows."""
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    driver.create(storage)
    for operation, rows in ((Operation.INSERT, STORED), (Operation.UPSERT, [ride(1, "oslo", 11)])):
        driver.write(storage, operation, rows)
        oracle = oracle.after(operation, rows)
    return storage, oracle


def cuts(
    action: Callable[[Storage], object], storage: MemoryStorage, faults: Iterable[Fault], concerns: Callable[[Call], bool] = lambda _: True
) -> Iterator[CrashRun]:
    """Run an action on copies of a storage, with each fault at each call that changes something and that it concerns."""
    for number, call in enumerate(calls_of(action, storage.copy)):
        if call.method in CHANGING_CALLS and concerns(call):
            for fault in set(faults) & set(faults_of(call)):
                run = run_with_fault(action, storage.copy(), CrashPoint(number, call, fault))
                yield run
                run.storage.drop()


def check_rows(storage: Storage, oracle: Oracle, what: Any) -> None:
    rows = DRIVER.read(storage)
    assert oracle.agrees(rows), f"{what}: {oracle.difference(rows)}"


def check_at_rest(storage: Storage, what: Any) -> None:
    """Check what must hold after a successful write, whatever happened before it."""
    assert garbage(storage) == [], what
    check_sound(storage, what)


def check_sound(storage: Storage, what: Any) -> None:
    """Check what must hold always."""
    assert timeline_faults(storage) == [], what
    assert dangling_references(storage, row_count) == [], what
    assert folders_without_metafile(storage) == [], what
