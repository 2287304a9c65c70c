"""A table that lives through random writes, compactions, crashes and re-openings, with a dictionary as its model.

`table_machine(driver)` gives a Hypothesis state machine; its `TestCase` runs under pytest:

    TestTrips = table_machine(TripsDriver()).TestCase

Hypothesis shrinks a failure to the fewest writes that show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pyhudi.errors import HudiError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.invariants import folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.merge_oracle import Oracle, Row

KEYS = st.integers(0, 12)
PARTITIONS = st.sampled_from(["oslo", "rome"])
VALUES = st.integers(0, 99)


class Driver(Protocol):
    """How the machine uses the table under test; rows have the columns `id`, `city` (the partition) and `value`."""

    def create(self, storage: Storage) -> None:
        """Create the table, without rows."""
        ...

    def write(self, storage: Storage, operation: Operation, rows: Sequence[Row]) -> object:
        """Write rows in one commit, on one thread; for deletes the rows tell keys and partitions."""
        ...

    def compact(self, storage: Storage, mode: str) -> object:
        """Schedule a compaction, execute what is planned, or both, on one thread; nothing happens to a table without logs."""
        ...

    def read(self, storage: Storage) -> list[dict[str, Any]]:
        """Return all visible rows."""
        ...


def _rows(keys: st.SearchStrategy[int] = KEYS) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({"id": keys, "city": PARTITIONS, "value": VALUES})
    return st.lists(row, min_size=1, max_size=6, unique_by=lambda row: (row["id"], row["city"]))


WRITES = st.sampled_from(
    [
        Operation.UPSERT,
        Operation.DELETE,
        Operation.INSERT_OVERWRITE,
        Operation.INSERT_OVERWRITE_TABLE,
        Operation.DELETE_PARTITION,
    ]
)


MODES = st.sampled_from(["schedule", "execute", "both"])
#: A compaction that is planned and not begun is no garbage.
_PLAN = ".compaction.requested"


class TableMachine(RuleBasedStateMachine):
    """Rules of a table's life; `driver` and `ordering` are set by `table_machine`."""

    driver: Driver
    ordering: str | None

    @initialize()
    def create(self) -> None:
        """Begin with an empty table."""
        self.storage = MemoryStorage()
        self.oracle = Oracle("id", "city", ordering=self.ordering)
        self.driver.create(self.storage)
        self.recovered = True
        self.half_compacted = False

    @rule(mode=MODES)
    def compact(self, mode: str) -> None:
        """Compact undisturbed; what a compaction left that died goes with the next one that runs."""
        self.driver.compact(self.storage, mode)
        self.half_compacted = self.half_compacted and mode == "schedule"

    @rule(mode=MODES, at=st.integers(0, 60), fault=st.sampled_from(list(Fault)))
    def compact_with_fault(self, mode: str, at: int, fault: Fault) -> None:
        """Compact over a storage that fails at some call; no row changes, whatever happens."""
        try:
            self.driver.compact(FaultStorage(self.storage, at, fault), mode)
        except (Crashed, HudiError, KeyboardInterrupt) as error:
            note(f"compaction ({mode}) failed at call {at}: {error}")
            self.half_compacted = True

    @rule(rows=_rows())
    def insert(self, rows: list[dict[str, Any]]) -> None:
        """Insert the rows that are new: an insert of existing keys would double them, as it does in Hudi."""
        new = [row for row in rows if (row["city"], row["id"]) not in self.oracle.stored]
        if new:
            self._write(Operation.INSERT, new)

    @rule(operation=WRITES, rows=_rows())
    def write(self, operation: Operation, rows: list[dict[str, Any]]) -> None:
        """Write rows undisturbed."""
        self._write(operation, rows)

    @rule(operation=WRITES, rows=_rows(), at=st.integers(0, 80), fault=st.sampled_from(list(Fault)))
    def write_with_fault(self, operation: Operation, rows: list[dict[str, Any]], at: int, fault: Fault) -> None:
        """Write rows over a storage that fails at some call, or not at all when the write makes fewer."""
        failing = FaultStorage(self.storage, at, fault)
        after = self.oracle.after(operation, rows)
        try:
            self.driver.write(failing, operation, rows)
        except (Crashed, HudiError, KeyboardInterrupt) as error:
            note(f"{operation} failed at call {at}: {error}")
            self.recovered = False
            stored_rows = self.driver.read(self.storage)
            if after.agrees(stored_rows):
                self.oracle = after
            else:
                assert self.oracle.agrees(stored_rows), f"neither before nor after: {self.oracle.difference(stored_rows)}"
        else:
            self.oracle = after
            self.recovered = self.recovered and not failing.injected

    @invariant()
    def rows_are_those_of_the_oracle(self) -> None:
        """Read the table again and compare."""
        rows = self.driver.read(self.storage)
        assert self.oracle.agrees(rows), self.oracle.difference(rows)

    @invariant()
    def timeline_is_well_formed(self) -> None:
        """Check what holds also between a crash and its recovery."""
        assert timeline_faults(self.storage) == []
        assert folders_without_metafile(self.storage) == []

    @invariant()
    def recovered_table_holds_no_garbage(self) -> None:
        """Check what a successful write leaves behind, its own and that of others before it."""
        if self.recovered and not self.half_compacted:
            assert [path for path in garbage(self.storage) if not path.endswith(_PLAN)] == []

    def teardown(self) -> None:
        """Forget the table."""
        self.storage.drop()

    def _write(self, operation: Operation, rows: Sequence[Row]) -> None:
        after = self.oracle.after(operation, rows)
        self.driver.write(self.storage, operation, rows)
        self.oracle = after
        self.recovered = True


def table_machine(driver: Driver, ordering: str | None = None) -> type[TableMachine]:
    """Return the state machine for a table that `driver` works; `ordering` names its ordering field."""
    return type("TableMachineOfDriver", (TableMachine,), {"driver": driver, "ordering": ordering})
