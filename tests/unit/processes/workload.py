"""The changes that writers of a soak make, and what each of them makes of the rows of the table."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from pyhudi.table.hudi_table import HudiTable
from pyhudi.write.write_result import WriteResult

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
SHARED = "shared"
#: Records that writers only add to, so that each lost update shows in the sum.
COUNTERS = (900, 901)
_SHARED_KEYS = range(910, 916)
#: Records that are there from the beginning and are never deleted: Apache Hudi compares file groups, so two writers may insert one key.
LASTING = range(920, 926)
OWN_KEYS = 8

#: City and value by record key.
Rows = Mapping[int, tuple[str, int]]


@dataclass(frozen=True)
class Change:
    """One write: `kind` is upsert, delete, add, overwrite or drop (of a partition)."""

    kind: str
    rows: tuple[tuple[int, str, int], ...] = ()
    partition: str = ""

    def apply(self, rows: Rows) -> dict[int, tuple[str, int]]:
        """Return the rows of the table after this change."""
        named = {key: (city, value) for key, city, value in self.rows}
        if self.kind == "upsert":
            return {**rows, **named}
        if self.kind == "delete":
            return {key: row for key, row in rows.items() if key not in named}
        if self.kind == "add":
            return {key: (row[0], row[1] + 1) if key in named else row for key, row in rows.items()}
        return {**{key: row for key, row in rows.items() if row[0] != self.partition}, **named}

    def write(self, table: HudiTable, options: Mapping[str, str]) -> WriteResult:
        """Make the change on a table."""
        data = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in self.rows], SCHEMA)
        if self.kind == "upsert":
            return table.upsert(data, options=options)
        if self.kind == "delete":
            return table.delete(data, options=options)
        if self.kind == "add":
            return table.update({"value": "value + 1"}, f"id = {self.rows[0][0]}", options=options)
        if self.kind == "overwrite":
            return table.overwrite(data, partitions=[self.partition], options=options)
        return table.delete(partitions=[self.partition], options=options)

    def to_json(self) -> dict[str, Any]:
        """Return the change as values of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Change:
        """Return the change that `to_json` gave."""
        return cls(values["kind"], tuple((row[0], row[1], row[2]) for row in values["rows"]), values["partition"])


def first_change() -> Change:
    """Return what the table holds at the beginning."""
    return Change("upsert", tuple((key, SHARED, 0) for key in (*COUNTERS, *LASTING)))


def next_change(chance: random.Random, writer: int, value: int, *, lasting: bool = False) -> Change:
    """Return a change of a writer to its own partition, to the shared one, or to both at once.

    With `lasting`, it inserts and deletes in its own only.
    """
    own = f"city{writer}"
    mine = [(100 * writer + number, own, value) for number in chance.sample(range(OWN_KEYS), 2)]
    shared = (chance.choice(LASTING if lasting else _SHARED_KEYS), SHARED, value)
    match chance.randrange(12):
        case 0 | 1 | 2 | 3:
            return Change("upsert", tuple(mine))
        case 4 | 5:
            return Change("upsert", (shared,))
        case 6:
            return Change("upsert", (mine[0], shared))
        case 7 | 8:
            return Change("add", ((chance.choice(COUNTERS), SHARED, 0),))
        case 9:
            return Change("delete", (chance.choice((mine[0], mine[1] if lasting else shared)),))
        case 10:
            return Change("overwrite", tuple(mine), own)
    return Change("drop", partition=own) if chance.random() < 0.3 else Change("delete", (mine[0], mine[1] if lasting else shared))
