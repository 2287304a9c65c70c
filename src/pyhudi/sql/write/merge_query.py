"""A MERGE as one query: the rows it changes, each with its location, what happens to it and its new values.

Spark joins and evaluates, so any condition and expression works that Spark knows. A row that its update leaves as it is
comes out marked, so that merging the same source twice writes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, DoubleType, LongType, MapType, StructField, TimestampType, VariantType

from pyhudi.cache import cached_property
from pyhudi.errors import SchemaError, with_subject
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.spark.writer.local_join import AS_COLUMNS, AS_VALUES, Join, JoinLimits, LocalJoin, joined_rows, local_join
from pyhudi.spark.writer.source_merge import SourceMerge
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import quote
from pyhudi.sql.write.assignments import Assignment, column_of
from pyhudi.sql.write.column_assignment import Target, cast_text, require_storable
from pyhudi.sql.write.merge_equalities import equalities
from pyhudi.sql.write.merge_text import Clause, MergeText
from pyhudi.sql.write.write_target import WriteTarget
from pyhudi.write.merge_clause import ClauseAction, MatchKind, missing_in_source
from pyhudi.write.tagging.change_facts import UNCHANGED_COLUMN
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS
from pyhudi.write.tagging.virtual_key_lookup import OLD_PREFIX

_CLAUSE = "_pyhudi_clause"
#: Types of columns that are fast to read, and of which two versions of a record seldom have the same value.
_TELLING: Final = (TimestampType, LongType, DoubleType)


@dataclass(frozen=True, slots=True)
class _Branch:
    """One WHEN clause with the expression of every column of the target, cast to the column's type."""

    number: int
    clause: Clause
    values: dict[str, str]
    assigned: tuple[str, ...]


class MergeQuery:
    """Builds the query of one MERGE."""

    def __init__(self, statement: Statement, target: WriteTarget, text: MergeText) -> None:
        self._statement = statement
        self._target = target
        self._text = text

    def build(self) -> str:
        """Return the query: location columns or what they follow from, `_pyhudi_delete`, `_pyhudi_unchanged`, and the target's columns.

        Raises:
            SchemaError: a clause assigns a column that does not exist, twice, or a value that cannot be stored.
        """
        parts = []
        if joined := self._joined:
            parts.append((joined, self._join()))
        if self._by_source:
            parts.append((self._by_source, f"{self._text.target} LEFT ANTI JOIN {self._text.source} ON {self._text.on}"))
        columns = ", ".join(map(quote, (*self._location, DELETE_COLUMN, UNCHANGED_COLUMN, *self._target.columns)))
        changes = [
            f"SELECT {columns} FROM (SELECT {', '.join(self._list_columns(branches))} FROM {relation}) WHERE {_CLAUSE} IS NOT NULL"  # noqa: S608
            for branches, relation in parts
        ]
        return f"{self._text.with_clause} {' UNION ALL '.join(changes)}"

    def build_locally(self, max_bytes: int) -> DataFrame | None:
        """Return the same rows from a join that is made in this process, without a Spark job; None where it is Spark's work.

        That is so for a condition other than equal columns, for NOT MATCHED BY SOURCE, for what only the whole statement gives a meaning
        (parameters, subqueries), and for many rows.

        Args:
            max_bytes: up to how much of source and table is read in this process.

        Raises:
            SchemaError: as `build`.
        """
        local = self._local_join(max_bytes, AS_VALUES)
        rows = None if local is None else joined_rows(local)
        if rows is None:
            return None
        return rows.selectExpr(*self._list_columns(self._joined)).where(f"{_CLAUSE} IS NOT NULL").drop(_CLAUSE)

    @cached_property
    def stores_source_rows(self) -> bool:
        """True if the MERGE only stores rows of its source as they are, by `UPDATE SET *` and `INSERT *` without conditions."""
        if self._by_source or any(one.condition or one.assignments is not None for one in self._text.clauses):
            return False
        source, target = self._source, self._target.schema
        if len(source) != len(self._source_rows.columns) or not all(name.lower() in source for name in target.names):
            return False
        return all(source[field.name.lower()].dataType == field.dataType for field in target)

    def collect_locally(self, max_bytes: int) -> pa.Table | None:
        """Return the rows of `build_locally` for a MERGE that stores rows of its source, without asking Spark; None as there.

        Args:
            max_bytes: up to how much of source and table is read in this process.
        """
        assert self.stores_source_rows, "asked before"
        local = self._local_join(max_bytes, AS_COLUMNS)
        if local is None:
            return None
        columns = [(name, self._source[name.lower()].name) for name in self._target.columns]
        return SourceMerge(local, columns, self._compared_first).changes()

    @property
    def _compared_first(self) -> str | None:
        """The column that tells most versions of a record apart: the ordering field, else one of numbers or times; None without one."""
        config = self._target.table.config
        naming = {*config.record_key_fields, *config.partition_fields}
        numbers = (field.name for field in self._target.schema if isinstance(field.dataType, _TELLING))
        return next((name for name in (*config.ordering_fields, *numbers) if name in self._target.columns and name not in naming), None)

    def _local_join(self, max_bytes: int, limits: JoinLimits) -> LocalJoin | None:
        """Return the join of source and table where this process may make it."""
        text, kinds = self._text, self._joined_kinds
        pairs = equalities(text)
        if pairs is None or self._by_source or self._target.has_virtual_keys or self._statement.args or text.has_subqueries:
            return None
        table = self._statement.run_sql(f"SELECT * FROM {text.target}")  # noqa: S608 - the user's own
        join = Join(pairs, matched=MatchKind.MATCHED in kinds, unmatched=MatchKind.NOT_MATCHED in kinds)
        return local_join(self._target.snapshot, table, self._source_rows, join, max_bytes, limits)

    def changed_columns(self) -> tuple[str, ...] | None:
        """Return the columns that the MERGE changes in live records; None when it may bring whole rows for them.

        A row that is inserted may meet a record of its key, which it then replaces.
        """
        if any(branch.clause.action is ClauseAction.INSERT for branch in self._branches):
            return None
        return tuple(dict.fromkeys(name for branch in self._branches for name in branch.assigned))

    @cached_property
    def _location(self) -> dict[str, tuple[str, str]]:
        """The location columns of a record: the target's columns that they come from, and their types.

        With virtual keys these are the columns of key and partition, by which the record is looked up.
        """
        if not self._target.has_virtual_keys:
            return {name: (name, "STRING") for name in LOCATION_COLUMNS}
        named = self._target.table.config.naming_columns
        return {OLD_PREFIX + name: (name, self._target.schema[name].dataType.simpleString()) for name in named}

    @cached_property
    def _joined(self) -> list[_Branch]:
        return [branch for branch in self._branches if branch.clause.rows is not MatchKind.NOT_MATCHED_BY_SOURCE]

    @cached_property
    def _joined_kinds(self) -> set[MatchKind]:
        return {branch.clause.rows for branch in self._joined}

    @cached_property
    def _by_source(self) -> list[_Branch]:
        return [branch for branch in self._branches if branch.clause.rows is MatchKind.NOT_MATCHED_BY_SOURCE]

    @cached_property
    def _matched(self) -> str:
        """The condition that a row of the join has a record of the target: one of the columns that name it has a value."""
        fields = self._target.table.config.record_key_fields if self._target.has_virtual_keys else LOCATION_COLUMNS[:1]
        named = (f"{self._text.target_name}.{'.'.join(map(quote, field.split('.')))} IS NOT NULL" for field in fields)
        return f"({' OR '.join(named)})"

    @cached_property
    def _branches(self) -> list[_Branch]:
        return [self._branch(number, clause) for number, clause in enumerate(self._text.clauses)]

    def _join(self) -> str:
        text, kinds = self._text, self._joined_kinds
        if kinds == {MatchKind.MATCHED}:
            return f"{text.target} JOIN {text.source} ON {text.on}"
        if kinds == {MatchKind.NOT_MATCHED}:
            return f"{text.source} LEFT ANTI JOIN {text.target} ON {text.on}"
        return f"{text.target} RIGHT OUTER JOIN {text.source} ON {text.on}"

    def _list_columns(self, branches: Sequence[_Branch]) -> list[str]:
        inserts_only = all(branch.clause.action is ClauseAction.INSERT for branch in branches)
        location_columns = [
            f"{f'CAST(NULL AS {kind})' if inserts_only else f'{self._text.target_name}.{quote(stored)}'} AS {quote(name)}"
            for name, (stored, kind) in self._location.items()
        ]
        columns = [f"{self._case(branches, name)} AS {quote(name)}" for name in self._target.columns]
        chosen = " ".join(f"WHEN {self._applies(branch, branches)} THEN {branch.number}" for branch in branches)
        deletes = [str(branch.number) for branch in branches if branch.clause.action is ClauseAction.DELETE]
        return [
            *location_columns,
            f"CASE {chosen} END AS {_CLAUSE}",
            f"{_CLAUSE} IN ({', '.join(deletes)}) AS {DELETE_COLUMN}" if deletes else f"false AS {DELETE_COLUMN}",
            f"{self._unchanged(branches)} AS {UNCHANGED_COLUMN}",
            *columns,
        ]

    def _applies(self, branch: _Branch, branches: Sequence[_Branch]) -> str:
        conditions = [f"({branch.clause.condition})"] if branch.clause.condition else []
        if len({one.clause.rows for one in branches}) > 1:
            conditions.insert(0, self._matched if branch.clause.rows is MatchKind.MATCHED else f"NOT {self._matched}")
        return " AND ".join(conditions) or "true"

    def _case(self, branches: Sequence[_Branch], column: str) -> str:
        values = [(branch.number, branch.values[column]) for branch in branches if column in branch.values]
        null_value = cast_text("NULL", self._target.schema[column].dataType)
        if not values:
            return null_value
        whens = " ".join(f"WHEN {number} THEN {value}" for number, value in values)
        return f"CASE {_CLAUSE} {whens} ELSE {null_value} END"

    def _unchanged(self, branches: Sequence[_Branch]) -> str:
        """Return the condition under which an update leaves its row as it is; values without an equality count as changed."""
        whens = []
        for branch in branches:
            if branch.clause.action is not ClauseAction.UPDATE or any(
                not _comparable(self._target.schema[name].dataType) for name in branch.assigned
            ):
                continue
            same = " AND ".join(f"({branch.values[name]}) <=> {self._text.target_name}.{quote(name)}" for name in branch.assigned)
            whens.append(f"WHEN {branch.number} THEN {same}")
        return f"CASE {_CLAUSE} {' '.join(whens)} ELSE false END" if whens else "false"

    def _branch(self, number: int, clause: Clause) -> _Branch:
        if clause.action is ClauseAction.DELETE:
            return _Branch(number, clause, {}, ())
        assigned = dict(self._assign_columns(clause))
        values = self._cast_to_column(assigned, clause)
        if clause.action is ClauseAction.UPDATE:
            retained = {name: f"{self._text.target_name}.{quote(name)}" for name in self._target.columns}
            return _Branch(number, clause, {**retained, **values}, tuple(values))
        return _Branch(number, clause, values, tuple(values))

    def _assign_columns(self, clause: Clause) -> Iterator[tuple[str, str]]:
        """Yield each assigned column of the target with its value's text."""
        stated = clause.assignments if clause.assignments is not None else self._by_name(clause)
        names: set[str] = set()
        for one in stated:
            name = column_of(self._target, one.parts, "MERGE INTO")
            if name in names:
                raise with_subject(
                    SchemaError(f"MERGE INTO {self._target.name} assigns {name} twice in one clause."), ".".join(one.parts), 1
                )
            names.add(name)
            yield name, one.value

    @cached_property
    def _source_rows(self) -> DataFrame:
        return self._statement.run_sql(f"{self._text.with_clause} SELECT * FROM {self._text.source}")  # noqa: S608 - the user's own

    @cached_property
    def _source(self) -> dict[str, StructField]:
        """The source's columns by their names in lower case."""
        return {field.name.lower(): field for field in self._source_rows.schema.fields}

    def _by_name(self, clause: Clause) -> list[Assignment]:
        given = self._source
        missing = [name for name in self._target.columns if name.lower() not in given]
        if missing:
            raise with_subject(SchemaError(missing_in_source(f"MERGE INTO {self._target.name}", clause.action, missing)), "*")
        source_name = self._text.source_name
        return [Assignment((name,), f"{source_name}.{quote(given[name.lower()].name)}") for name in self._target.columns]

    def _cast_to_column(self, assigned: dict[str, str], clause: Clause) -> dict[str, str]:
        """Return the values cast to the types of their columns, after Spark has said that they can be stored there."""
        fields = [self._target.schema[name] for name in assigned]
        given = self._fields_of_values(assigned, clause) if clause.assignments else [self._source[name.lower()] for name in assigned]
        for field, value in zip(fields, given, strict=True):
            require_storable(
                self._statement.session, value.dataType, Target.of(field), f"MERGE INTO {self._target.name}", cast_strings=True
            )
        return {field.name: cast_text(assigned[field.name], field.dataType) for field in fields}

    def _fields_of_values(self, assigned: dict[str, str], clause: Clause) -> list[StructField]:
        """Return what Spark says of the values that a clause assigns."""
        relation = {
            MatchKind.MATCHED: f"{self._text.target} JOIN {self._text.source}",
            MatchKind.NOT_MATCHED: self._text.source,
            MatchKind.NOT_MATCHED_BY_SOURCE: self._text.target,
        }[clause.rows]
        listed = ", ".join(f"{value} AS {quote(name)}" for name, value in assigned.items())
        return self._statement.run_sql(f"{self._text.with_clause} SELECT {listed} FROM {relation}").schema.fields  # noqa: S608


def _comparable(kind: DataType) -> bool:
    text = kind.simpleString()
    return not isinstance(kind, MapType | VariantType) and "map<" not in text and "variant" not in text
