"""The random life of a table of some kind, with a dictionary as its model: writes, changes of the schema, services, readers of the past.

The same seed makes the same table and takes the same steps. After each step the rows are compared, also through a handle that was opened
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pyarrow as pa

from pyhudi.errors import ConflictError, UnsupportedError, UsageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.lives.table_kinds import KEYS, TableKind, random_kind

Row = dict[str, Any]
#: The kind of table, or what is of the past, does not allow the step; a handle that is older than an upgrade says to open the table again.
REFUSALS: Final = (UsageError, UnsupportedError, ConflictError)
_VALUES: Final[Mapping[pa.DataType, tuple[Any, ...]]] = {
    pa.string(): ("", "x", "yy", "ü" * 5, "long" * 50, "N"),
    pa.int32(): tuple(range(-100, 100, 7)),
    pa.int64(): tuple(range(-100, 100, 7)),
    pa.float64(): (-50.0, -0.5, 0.0, 1.5, 30.0),
}
_MATCHES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lambda value, limit: value < limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: value == limit,
    "!=": lambda value, limit: value != limit,
}


@dataclass(frozen=True)
class State:
    """The rows as they were after a commit; times by which it is read again."""

    requested: str
    completed: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class TableLife:
    """A table and its model: rows by record key, of an index of partitions with the partition."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.kind: TableKind = random_kind(self.random)
        self.columns: dict[str, pa.DataType] = {"v": pa.int32(), "w": pa.string()}
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.past: list[State] = []
        self.version = self.kind.version
        self.steps: list[str] = []
        self.refused = 0
        self._clock = 0
        self.storage = MemoryStorage()
        self.table = self._create()
        self.older = HudiTable(self.storage)

    def _create(self) -> HudiTable:
        kind = self.kind
        return HudiTable.create(
            self.storage.uri,
            self.schema,
            name="lives",
            keys=kind.key_columns,
            partition_by=kind.partition_columns,
            order_by=["ts"] if kind.is_ordered else [],
            table_type=kind.table_type,
            options=kind.created_with,
        )

    @property
    def schema(self) -> pa.Schema:
        return self.kind.schema(self.columns)

    def take(self, name: str, step: Callable[[TableLife], None]) -> None:
        """Take a step, which may be refused by name and changes nothing then; compare all rows."""
        self.steps.append(name)
        if self.random.random() < 0.2:
            self.table, self.older = self.older, self.table
        try:
            step(self)
        except REFUSALS as error:
            self.refused += 1
            if isinstance(error, ConflictError):
                self.table = HudiTable(self.storage)
        self.check(self.table)
        self.check(self.older)
        self._remember()

    def check(self, table: HudiTable) -> None:
        """Compare all rows, their number, and those that a filter retains."""
        assert comparable(table.to_arrow().to_pylist(), self.schema) == comparable(self.rows.values(), self.schema), self.about(
            "rows differ"
        )
        assert table.count() == len(self.rows), self.about("count differs")
        if not self.rows:
            return
        row = self.random.choice(list(self.rows.values()))
        keys = [(name, "=", row[name]) for name in self.kind.key_columns]
        assert table.count(filter=keys) == sum(all(other[name] == value for name, _, value in keys) for other in self.rows.values())
        column, operator = self.random.choice(list(self.columns)), self.random.choice(list(_MATCHES))
        if (limit := self.value(column)) is not None:
            stored = (row.get(column) for row in self.rows.values())
            expected = sum(value is not None and _MATCHES[operator](value, limit) for value in stored)
            assert table.count(filter=[(column, operator, limit)]) == expected, self.about(f"filter {column} {operator} {limit!r}")

    def draws(self) -> tuple[Any, int]:
        """What later draws depend on."""
        return self.random.getstate(), self._clock

    def draw_again(self, draws: tuple[Any, int]) -> None:
        """Let the draws that follow be those that followed then."""
        self.random.setstate(draws[0])
        self._clock = draws[1]

    def value(self, column: str) -> Any:
        """A value for a data column, sometimes null."""
        return None if self.random.random() < 0.1 else self.random.choice(_VALUES[self.columns[column]])

    def key_of(self, row: Row) -> tuple[Any, ...]:
        """What says which record a row is."""
        names = self.kind.key_columns + (self.kind.partition_columns if self.kind.moves is None else [])
        return tuple(row[name] for name in names)

    def draw(self, most: int, *, new: bool = False) -> list[Row]:
        """Rows of different records, with ordering values above all before; `new` ones only, or of any record."""
        drawn = dict[tuple[Any, ...], Row]()
        for _ in range(self.random.randrange(1, most + 1)):
            row = {name: KEYS[kind][1](self.random.randrange(25)) for name, kind in zip(self.kind.key_columns, self.kind.keys, strict=True)}
            row |= dict(
                zip(self.kind.partition_columns, (self.random.choice(("a", "b-c", "d e", "é")), self.random.randrange(2)), strict=False)
            )
            key = self.key_of(row)
            if not (new and key in self.rows):
                self._clock += 1
                drawn[key] = row | {"ts": self._clock} | {column: self.value(column) for column in self.columns}
        return list(drawn.values())

    def data(self, rows: Iterable[Row]) -> pa.Table:
        """Rows as the table takes them."""
        names = self.schema.names
        return pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows], self.schema)

    def store(self, rows: Iterable[Row], *, moves: bool = True) -> None:
        """Put rows into the model; a record that does not move has the partition that it had."""
        for row in rows:
            key = self.key_of(row)
            stays = {name: self.rows[key][name] for name in self.kind.partition_columns} if key in self.rows and not moves else {}
            self.rows[key] = row | stays

    def change(self, change: Callable[[Row], Row | None]) -> None:
        """Put another row in place of each row of the model, or none."""
        changed = {key: change(row) for key, row in self.rows.items()}
        self.rows = {key: row for key, row in changed.items() if row is not None}

    def _remember(self) -> None:
        completed = [action for action in self.table.history().to_pylist() if action["state"] == "completed"]
        if completed:
            ends = max(action["completed"] or action["requested"] for action in completed)
            begins = max(action["requested"] for action in completed)
            self.past.append(State(begins, ends, tuple(self.columns), tuple(self.rows.values())))

    def about(self, problem: str) -> str:
        """Describe a problem with the steps before it."""
        return f"{problem} after {self.steps}, of {self.kind}"


def comparable(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> list[str]:
    """Rows as comparable in order, for comparisons."""
    return sorted(repr([row.get(name) for name in schema.names]) for row in rows)
