"""What a table must hold after a series of writes, kept in a dictionary: Apache Hudi of tests that compare rows.

One key is unique in its partition; commit time decides between two versions of a row, or a column of theirs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyhudi.spec.actions.commit import Operation

Row = Mapping[str, Any]


@dataclass(slots=True)
class Oracle:
    """Rows by partition value and key; `key` and `partition` name the columns. Upserts with less in the column `ordering` come late."""

    key: str
    partition: str
    stored: dict[tuple[Any, Any], Row] = field(default_factory=dict)
    ordering: str | None = None

    def copy(self) -> Oracle:
        """Return an oracle with the same rows and a life of its own."""
        return Oracle(self.key, self.partition, dict(self.stored), self.ordering)

    def after(self, operation: Operation, rows: Sequence[Row]) -> Oracle:
        """Return the oracle of the table after one more write; this one stays.

        Raises:
            ValueError: the operation is none that the oracle knows.
        """
        later = self.copy()
        match operation:
            case Operation.INSERT | Operation.UPSERT | Operation.BULK_INSERT:
                later.put(rows)
            case Operation.DELETE:
                for row in rows:
                    later.stored.pop(self._identity(row), None)
            case Operation.INSERT_OVERWRITE | Operation.DELETE_PARTITION:
                touched = {row[self.partition] for row in rows}
                later.stored = {index: row for index, row in later.stored.items() if index[0] not in touched}
                later.put(rows if operation is Operation.INSERT_OVERWRITE else ())
            case Operation.INSERT_OVERWRITE_TABLE:
                later.stored = {}
                later.put(rows)
            case _:
                raise ValueError(f"the oracle does not know {operation}")
        return later

    def agrees(self, rows: Iterable[Row]) -> bool:
        """Tell whether a table's rows, in any order, are these, each as often."""
        return _count_row(rows) == _count_row(self.stored.values())

    def difference(self, rows: Iterable[Row]) -> str:
        """Return in words which rows are missing and which are too many."""
        actual, expected = _count_row(rows), _count_row(self.stored.values())
        return f"missing: {sorted((expected - actual).elements())}; too many: {sorted((actual - expected).elements())}"

    def put(self, rows: Iterable[Row]) -> None:
        """Add rows, each in place of the one of its key unless it comes late."""
        for row in rows:
            before = self.stored.get(self._identity(row))
            if before is None or self.ordering is None or row[self.ordering] >= before[self.ordering]:
                self.stored[self._identity(row)] = dict(row)

    def _identity(self, row: Row) -> tuple[Any, Any]:
        return row[self.partition], row[self.key]


def _count_row(rows: Iterable[Row]) -> Counter[str]:
    return Counter(json.dumps(dict(row), sort_keys=True, default=str) for row in rows)
