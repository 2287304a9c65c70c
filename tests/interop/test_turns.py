"""Apache Hudi and pyhudi take turns on one merge-on-read table: upserts, late events, deletes, partial updates, compactions."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.write_table import write
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

TURNS = 24
NO_COMPACTION = {"hoodie.compact.inline": "false"}
COMPACTION_NOW = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}


class Table:
    """One table, its model, and what each side can do to it; `amount` is the ordering field and grows from turn to turn."""

    def __init__(self, path: Path, reference: ReferenceHudi, version: int, chance: random.Random) -> None:
        kind = Kind("turns", order_by=("amount",), table_type="MERGE_ON_READ", version=version)
        self.kind, self.compacting = replace(kind, options=NO_COMPACTION), replace(kind, options=COMPACTION_NOW)
        self.path, self.reference, self.chance = path, reference, chance
        self.model, self.amount = Model(("amount",)), 10
        kind.create(path)

    def some(self) -> tuple[int, int]:
        first = self.chance.randrange(30)
        return first, first + self.chance.randrange(1, 8)

    def pyhudi_upserts(self) -> None:
        blocks = self.chance.choice(["avro", "parquet"])
        options = {**NO_COMPACTION, "hoodie.logfile.data.block.format": blocks}
        HudiTable.open(self.path).upsert(self.model.upsert(trips(*self.some(), amount=self.amount)), options)

    def reference_upserts(self) -> None:
        self.kind.reference_writes(self.reference, self.path, "upsert", self.model.upsert(trips(*self.some(), amount=self.amount)))

    def late_events(self) -> None:
        """Rows older than the stored ones; a key that is missing is left out: there Apache Hudi brings the old base row back."""
        first, end = self.some()
        late = trips(first, end, amount=1)
        stand = pa.array([key in self.model.rows for key in late.column("id").to_pylist()])
        rows = self.model.upsert(late.filter(stand))
        if self.chance.random() < 0.5:
            HudiTable.open(self.path).upsert(rows, NO_COMPACTION)
        elif rows.num_rows:
            self.kind.reference_writes(self.reference, self.path, "upsert", rows)

    def pyhudi_deletes(self) -> None:
        HudiTable.open(self.path).delete(self.model.delete(trips(*self.some())), options=NO_COMPACTION)

    def reference_deletes(self) -> None:
        self.kind.reference_writes(self.reference, self.path, "delete", self.model.delete(trips(*self.some())))

    def partial_update(self) -> None:
        """New amounts for some rows, whose prices are not brought."""
        table = HudiTable.open(self.path)
        result = table.to_arrow(meta_columns=True).slice(0, 3)
        amounts = pa.array([self.amount] * result.num_rows, pa.int64())
        rows = result.drop_columns(["price"])
        rows = rows.set_column(rows.schema.get_field_index("amount"), "amount", amounts)
        for key in result.column("id").to_pylist():
            self.model.rows[key]["amount"] = self.amount
        write(table, Operation.UPSERT_PREPPED, rows, options=NO_COMPACTION, prepped=True, columns=("id", "city", "amount"))

    def pyhudi_compacts(self) -> None:
        HudiTable.open(self.path).services.compact()

    def reference_compacts(self) -> None:
        rows = self.model.upsert(trips(*self.some(), amount=self.amount))
        self.compacting.reference_writes(self.reference, self.path, "upsert", rows)


@pytest.mark.parametrize("version", [9, *(pytest.param(version, marks=pytest.mark.slow) for version in (8, 6))])
def test_both_sides_read_equal_rows_after_every_turn(version: int, reference: ReferenceHudi, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", reference, version, random.Random(version))
    moves: list[Callable[[], None]] = [
        table.pyhudi_upserts,
        table.reference_upserts,
        table.late_events,
        table.pyhudi_deletes,
        table.reference_deletes,
        *([] if version == 6 else [table.partial_update]),
        table.pyhudi_compacts,
        table.reference_compacts,
    ]
    table.pyhudi_upserts()
    for turn in range(TURNS):
        table.amount += 1
        # Every move once a round, in an order of chance.
        if turn % len(moves) == 0:
            table.chance.shuffle(moves)
        moves[turn % len(moves)]()
        assert_both_read(reference, table.path, table.model.sorted())
