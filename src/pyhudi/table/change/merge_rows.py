"""A merge as the rows it changes: of each where it is stored, what happens to it, and its new values.

The rows are those of `MERGE INTO` (`pyhudi.sql.write.merge_query`), and the same write plans both (`pyhudi.write.tagging.change_facts`):
rows with location are changed where they were read, others are looked up by the table's index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError, UsageError, did_you_mean
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.read.execute import Selection
from pyhudi.read.late_columns import LateRows
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.table.change.assigned_values import Assignments, Condition, assigned_columns, check_no_key, condition_mask, evaluate, store_as
from pyhudi.table.change.source_join import JoinedRows, join_rows
from pyhudi.table.change.unchanged_rows import unchanged_rows
from pyhudi.write.merge_clause import ClauseAction, MatchKind, missing_in_source
from pyhudi.write.tagging.change_facts import UNCHANGED_COLUMN
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS
from pyhudi.write.tagging.virtual_key_lookup import OLD_PREFIX

SOURCE, TARGET = "source", "target"
_TABLE_ROW: Final = "_pyhudi_table_row"


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN clause; `assigned` is None for every column by its name in the source."""

    rows: MatchKind
    action: ClauseAction
    where: Condition | None
    assigned: Assignments | None


@dataclass(frozen=True, slots=True)
class MergeRows:
    """Computes the rows of a merge."""

    config: TableConfig
    schema: pa.Schema
    source: pa.Table
    on: Sequence[tuple[str, str]]
    clauses: Sequence[MergeClause]

    @property
    def what(self) -> str:
        """The call, for messages."""
        return f"merge into table {self.config.name}"

    def check(self) -> None:
        """Refuse clauses that are wrong whatever the rows are.

        Raises:
            SchemaError: a clause assigns a column that does not exist or is part of the record key or the partition, or takes columns that
                the source does not have.
        """
        for clause in self.clauses:
            if clause.assigned is not None and clause.action is not ClauseAction.DELETE:
                names = assigned_columns(clause.assigned, self.schema, self.what)
                if clause.action is ClauseAction.UPDATE:
                    check_no_key(names, self.config, self.what)
            elif clause.action is not ClauseAction.DELETE:
                given = {name.lower() for name in self.source.schema.names}
                missing = [name for name in self.schema.names if name.lower() not in given]
                if missing:
                    raise SchemaError(missing_in_source(self.what, clause.action, missing))

    def changed_columns(self) -> set[str] | None:
        """Return the columns that change in stored records; None when the merge may bring whole rows for them."""
        if any(clause.action is ClauseAction.INSERT for clause in self.clauses):
            return None
        updates = [clause for clause in self.clauses if clause.action is ClauseAction.UPDATE]
        return {name for clause in updates for name in (self.schema.names if clause.assigned is None else clause.assigned)}

    def columns_of_all_matches(self, columns: Sequence[str]) -> list[str]:
        """Return the stored columns that are needed of every row that matches; the others are only compared with new values.

        Args:
            columns: all columns that are read of the table.
        """
        needed = {ours for ours, _ in self.on}.union(origin for _, origin, _ in self._location())
        for clause in self.clauses:
            stated = [clause.where, *(clause.assigned or {}).values()]
            # An Arrow expression may be about a whole side of the merge; SQL text names columns.
            if clause.rows is MatchKind.NOT_MATCHED_BY_SOURCE or any(isinstance(value, pc.Expression) for value in stated):
                return list(columns)
            text = " ".join(str(value).lower() for value in stated)
            needed.update(name for name in columns if name.lower() in text or "`" in name)
            if clause.action is ClauseAction.UPDATE and clause.assigned is not None:
                needed.update(set(self.schema.names).difference(assigned_columns(clause.assigned, self.schema, self.what)))
        return [name for name in columns if name in needed or name not in self.schema.names]

    def compute(self, chosen: Selection) -> pa.Table:
        """Return location columns, `_pyhudi_delete`, `_pyhudi_unchanged` and the table's columns of the rows that change.

        Args:
            chosen: the table with its location columns and data columns.

        Raises:
            UsageError: an expression or a condition is wrong.
            SchemaError: a value cannot be stored in its column.
        """
        whole = any(clause.rows is MatchKind.NOT_MATCHED_BY_SOURCE for clause in self.clauses)
        first = self.columns_of_all_matches(chosen.columns)
        joined = join_rows(chosen, first, self.source, self.on, whole_table=whole, what=self.what)
        parts = [part for kind in MatchKind for part in self._changes(kind, joined)]
        return pa.concat_tables([self._result_schema(chosen).empty_table(), *parts])

    def _changes(self, kind: MatchKind, joined: JoinedRows) -> Iterator[pa.Table]:
        """Yield the changes of each clause about rows of one kind; a row is changed by the first clause that applies."""
        clauses = [clause for clause in self.clauses if clause.rows is kind]
        if not clauses:
            return
        rows, ambiguous = self._rows(kind, joined)
        if kind is MatchKind.MATCHED:
            rows = rows.append_column(_TABLE_ROW, pa.array(joined.table_indices))
        for clause in clauses:
            applies = None if clause.where is None else condition_mask(clause.where, rows, self.what, ambiguous)
            yield self._change(clause, rows if applies is None else rows.filter(applies), ambiguous, joined.table)
            rows = rows.slice(0, 0) if applies is None else rows.filter(pc.invert(applies))

    def _rows(self, kind: MatchKind, joined: JoinedRows) -> tuple[pa.Table, frozenset[str]]:
        """Return the rows of one kind with the columns `source` and `target`, and those whose name only one of them has."""
        sides: dict[str, pa.Table] = {}
        if kind is not MatchKind.NOT_MATCHED:
            sides[TARGET] = joined.table.rows.take(pa.array(joined.table_indices if kind is MatchKind.MATCHED else joined.unmatched_table))
        if kind is not MatchKind.NOT_MATCHED_BY_SOURCE:
            sides[SOURCE] = joined.source.take(pa.array(joined.source_indices if kind is MatchKind.MATCHED else joined.unmatched_source))
        columns: dict[str, pa.ChunkedArray] = {name: pa.chunked_array([_struct(side)]) for name, side in sides.items()}
        names = [name for side in sides.values() for name in side.schema.names]
        ambiguous = frozenset(name for name in names if names.count(name) > 1)
        for side in sides.values():
            columns |= {name: side.column(name) for name in side.schema.names if name not in ambiguous and name not in (SOURCE, TARGET)}
        return pa.table(columns), ambiguous

    def _change(self, clause: MergeClause, rows: pa.Table, ambiguous: frozenset[str], late: LateRows) -> pa.Table:
        stored = _fields(rows.column(TARGET)) if TARGET in rows.schema.names else {}
        values = self._values(clause, rows, ambiguous)
        unchanged = pa.repeat(pa.scalar(False), rows.num_rows)
        if clause.action is ClauseAction.UPDATE:
            indices = rows.column(_TABLE_ROW).to_numpy() if late.later else np.arange(rows.num_rows)
            unchanged = unchanged_rows(values, stored, self.schema, late, indices)
            values = {name: column for name, column in stored.items() if name in self.schema.names} | values
        columns: dict[str, object] = {}
        for name, origin, kind in self._location():
            columns[name] = stored[origin] if origin in stored else pa.nulls(rows.num_rows, kind)
        columns[DELETE_COLUMN] = pa.repeat(pa.scalar(clause.action is ClauseAction.DELETE), rows.num_rows)
        columns[UNCHANGED_COLUMN] = unchanged
        for field in self.schema:
            columns[field.name] = values[field.name] if field.name in values else pa.nulls(rows.num_rows, field.type)
        return pa.table(columns)

    def _values(self, clause: MergeClause, rows: pa.Table, ambiguous: frozenset[str]) -> dict[str, pa.ChunkedArray]:
        if clause.action is ClauseAction.DELETE:
            return {}
        if clause.assigned is not None:
            assigned = assigned_columns(clause.assigned, self.schema, self.what)
            return evaluate(assigned, rows, self.schema, self.what, ambiguous)
        given = {name.lower(): column for name, column in _fields(rows.column(SOURCE)).items()}
        return {field.name: store_as(given[field.name.lower()], field, self.what) for field in self.schema}

    def _location(self) -> list[tuple[str, str, pa.DataType]]:
        """Return the columns that say where a record is stored: their names, those that they are read from, and their types."""
        if self.config.populate_meta_fields:
            return [(name, name, pa.string()) for name in LOCATION_COLUMNS]
        return [(OLD_PREFIX + name, name, self.schema.field(name).type) for name in self.config.naming_columns]

    def _result_schema(self, chosen: Selection) -> pa.Schema:
        location = [pa.field(name, chosen.schema.field(origin).type) for name, origin, _ in self._location()]
        flags = [pa.field(DELETE_COLUMN, pa.bool_()), pa.field(UNCHANGED_COLUMN, pa.bool_())]
        return pa.schema([*location, *flags, *(pa.field(field.name, field.type) for field in self.schema)])


def merge_keys(on: object, config: TableConfig, schema: pa.Schema, source: pa.Schema) -> list[tuple[str, str]]:
    """Return the columns of the table that rows are matched by, with those of the source.

    Args:
        on: a column, several, or columns of the source by those of the table; None for the record key.
        config: the table's properties.
        schema: its columns.
        source: the columns of the source.

    Raises:
        UsageError: nothing says what rows are matched by.
        SchemaError: a column does not exist.
    """
    what = f"merge into table {config.name}"
    if on is None and not config.record_key_fields:
        raise UsageError(f"{what}: the table has no record key; say by on= which columns match.")
    stated = list(config.record_key_fields) if on is None else [on] if isinstance(on, str) else on
    try:
        pairs = list(stated.items()) if isinstance(stated, dict) else [(name, name) for name in stated]  # type: ignore[attr-defined]
    except TypeError:
        raise UsageError(f"{what}: on is {on!r:.100}; give a column, a list of columns, or a dict of columns of both sides.") from None
    if not pairs:
        raise UsageError(f"{what}: on names no column.")
    for ours, theirs in pairs:
        for name, columns, side in ((ours, schema.names, "table"), (theirs, source.names, "source")):
            if name not in columns:
                raise SchemaError(f"{what}: the {side} has no column {name!r} to match by.{did_you_mean(str(name), columns)}")
    return pairs


def _struct(side: pa.Table) -> pa.StructArray:
    arrays = [column.combine_chunks() for column in side.columns]
    arrays = [array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array for array in arrays]
    return pa.StructArray.from_arrays(arrays, names=side.schema.names)


def _fields(column: pa.ChunkedArray) -> dict[str, pa.ChunkedArray]:
    return {field.name: pc.struct_field(column, field.name) for field in column.type}
