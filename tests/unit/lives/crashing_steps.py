"""A step whose process dies, is interrupted or gets an error from the storage at any of its calls; the life goes on from what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from pyhudi.errors import HudiError
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.fault_injection import Crashed, FaultStorage, faults_of
from pyhudi.testing.intercepted_storage import Call
from tests.unit.lives.table_life import REFUSALS, Row, TableLife, comparable

Step = Callable[[TableLife], None]
_FAILURES: Final = (Crashed, HudiError, KeyboardInterrupt)


@dataclass(frozen=True)
class Model:
    """What a table should hold."""

    rows: dict[tuple[object, ...], Row]
    columns: dict[str, pa.DataType]
    version: str

    @classmethod
    def of(cls, life: TableLife) -> Model:
        """Return that of a life."""
        return cls(dict(life.rows), dict(life.columns), life.version)

    def use(self, life: TableLife) -> None:
        """Make it that of a life."""
        life.rows, life.columns, life.version = dict(self.rows), dict(self.columns), self.version

    def describes(self, table: HudiTable, life: TableLife) -> bool:
        """Tell whether the table has these columns and rows."""
        schema, stored = life.kind.schema(self.columns), table.to_arrow()
        names = [name for name in stored.schema.names if not name.startswith("_hoodie_")]
        return sorted(names) == sorted(schema.names) and comparable(stored.to_pylist(), schema) == comparable(self.rows.values(), schema)


def crash(life: TableLife, steps: Sequence[Step]) -> None:
    """Take one of the steps, which fails at one of its calls to the storage: the rows are those before or after it."""
    step, draws, before = life.random.choice(steps), life.draws(), Model.of(life)
    after, calls = _undisturbed(life, step)
    if not calls:  # nothing to do, such as an update of an empty table
        after.use(life)
        return
    number = life.random.randrange(len(calls))
    fault = life.random.choice(faults_of(calls[number]))
    life.draw_again(draws)
    before.use(life)
    returned = _run(life, step, FaultStorage(life.storage, number, fault))
    life.steps[-1] = f"{step.__name__} cut at {calls[number]}: {fault.name}"
    life.table, life.older = HudiTable(life.storage), HudiTable(life.storage)
    possible = [after] if returned else [before, after]
    model = next((model for model in possible if model.describes(life.table, life)), None)
    assert model is not None, life.about("neither the rows before nor those after")
    model.use(life)
    life.version = str(int(life.table.config.version))


def _undisturbed(life: TableLife, step: Step) -> tuple[Model, list[Call]]:
    """Take the step on a copy of the table; return what it should hold then, and the calls."""
    copy = life.storage.copy()
    recorded = RecordingStorage(copy)
    try:
        life.table = HudiTable(recorded)
        step(life)
    except REFUSALS:
        pass
    finally:
        copy.drop()
    return Model.of(life), recorded.calls


def _run(life: TableLife, step: Step, storage: Storage) -> bool:
    """Take the step on a storage that fails; tell whether it returned all the same."""
    try:
        life.table = HudiTable(storage)
        step(life)
    except _FAILURES:
        return False
    return True
