"""A MERGE that stores rows of its source as they are (`UPDATE SET *`, `INSERT *`): its changes without an expression for Spark to evaluate.

A stored row is compared with the row that replaces it, since rows that an update leaves as they are change nothing. Most pairs differ in
a single column, so that one is read first, and all columns for those that agree in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.same_values import same_values
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.spark.writer.local_join import LocalJoin, Matches
from pyhudi.write.tagging.change_facts import UNCHANGED_COLUMN
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS

_AT: Final = "_pyhudi_at"


@dataclass(frozen=True, slots=True)
class SourceMerge:
    """What to store: the columns of the table, and the columns of the source that they are given by, of the same types.

    `compared_first` is the column by which most replaced rows differ from their new values.
    """

    join: LocalJoin
    columns: Sequence[tuple[str, str]]
    compared_first: str | None

    def changes(self) -> pa.Table | None:
        """Return location columns, `_pyhudi_delete`, `_pyhudi_unchanged` and the table's columns, as the query of a MERGE does.

        None where source or matches have too many rows for this process.
        """
        given = self.join.source_rows()
        if given is None:
            return None
        names = [ours for ours, _ in self.columns]
        first = names if self.compared_first is None or not self.join.join.matched else [self.compared_first]
        changes = self._changes(given, np.arange(given.num_rows), first)
        if changes is None or len(first) == len(names):
            return None if changes is None else changes.drop_columns([_AT])
        alike = pc.unique(changes.column(_AT).filter(changes.column(UNCHANGED_COLUMN))).to_numpy()
        if len(alike):
            again = self._changes(given.take(pa.array(alike)), alike, names)
            if again is None:
                return None
            others = changes.filter(pc.invert(pc.is_in(changes.column(_AT), value_set=pa.array(alike))))
            changes = pa.concat_tables([others, again]).sort_by(_AT)
        return changes.drop_columns([_AT])

    def _changes(self, given: pa.Table, numbers: Indices, compared: Sequence[str]) -> pa.Table | None:
        """Return the changes by some rows of the source, whose numbers are in the column `_AT`, by comparing some columns."""
        location = LOCATION_COLUMNS if self.join.join.matched else ()
        joined = [ours.name for ours, _ in self.join.columns]
        matches = self.join.matches(given, [*dict.fromkeys([*location, *joined, *(compared if location else ())])])
        return None if matches is None else self._of_matches(matches, numbers, compared)

    def _of_matches(self, matches: Matches, numbers: Indices, compared: Sequence[str]) -> pa.Table:
        new, count = matches.given_rows(), len(matches.given_numbers)
        columns: dict[str, pa.Array | pa.ChunkedArray] = {_AT: pa.array(numbers[matches.given_numbers.to_numpy()])}
        if self.join.join.matched:
            stored = matches.stored_rows()
            columns |= {name: stored.column(name) for name in LOCATION_COLUMNS}
            theirs = dict(self.columns)
            unchanged = matches.stored_numbers.is_valid().to_numpy(zero_copy_only=False)
            for name in compared:
                values = new.column(theirs[name])
                # Spark has wider types of times and whole numbers than some files.
                unchanged = unchanged & same_values(values, stored.column(name).cast(values.type))
        else:
            columns |= {name: pa.nulls(count, pa.string()) for name in LOCATION_COLUMNS}
            unchanged = pa.repeat(pa.scalar(value=False), count)
        columns[DELETE_COLUMN] = pa.repeat(pa.scalar(value=False), count)
        columns[UNCHANGED_COLUMN] = unchanged
        return pa.table(columns | {ours: new.column(theirs) for ours, theirs in self.columns})
