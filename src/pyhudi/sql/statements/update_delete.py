"""UPDATE t SET column = expression, ... [WHERE condition], and DELETE FROM t [WHERE condition].

Spark's native scan evaluates condition and new values, so only the rows that change cross into Python, each with the
file it is in: no index look-up. The clauses are handed to Spark word by word, hence any expression works that
Spark can evaluate, subqueries included.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType

from pyhudi.errors import SchemaError, with_subject
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.visibility import Visibility
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import find_word, quote, slice_text, split
from pyhudi.sql.write.assignments import Assignment, assignment, column_of
from pyhudi.sql.write.column_assignment import Target, conform, text_errors
from pyhudi.sql.write.write_target import WriteTarget, change_rows
from pyhudi.write.merge_clause import key_assigned
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The parts of an UPDATE as they were written."""

    with_clause: str
    table: str  # name and alias
    assignments: tuple[Assignment, ...]
    where: str


def update(statement: Statement) -> DataFrame | None:
    """Run an UPDATE on a Hudi table; None when the table is not a Hudi table."""
    return change_rows(statement, statement.plan.table(), functools.partial(_update, statement))


def _update(statement: Statement, target: WriteTarget, read_snapshot: Visibility) -> DataFrame:
    clauses = _clauses(statement)
    assigned = _assign_columns(target, clauses)
    location = () if target.has_virtual_keys else LOCATION_COLUMNS
    partial = None if target.has_virtual_keys else target.partial_columns(assigned)
    # Columns that may not be null are read, since rows without them are refused, though what is written may leave them out.
    needed = target.columns if partial is None else {*partial, *(field.name for field in target.snapshot.schema if not field.nullable)}
    names = [name for name in target.columns if name in needed]
    values = ", ".join([*location, *(f"{assigned.get(name, quote(name))} AS {quote(name)}" for name in names)])
    text = f"{clauses.with_clause} SELECT {values} FROM {clauses.table} {clauses.where}"  # noqa: S608 - the user's own
    source = statement.run_sql(text)
    what = f"UPDATE of {target.name}"
    rows = conform(source, _targets(target, location, names), what, cast_strings=True)
    with text_errors(what):
        if target.has_virtual_keys:
            return target.write(Operation.UPSERT, rows)
        return target.write(Operation.UPSERT_PREPPED, rows, prepped=True, read_snapshot=read_snapshot, columns=partial)


def _targets(target: WriteTarget, location: Sequence[str], names: Sequence[str]) -> list[Target]:
    location_columns = [Target(name, StringType(), position) for position, name in enumerate(location)]
    columns = enumerate((target.schema[name] for name in names), start=len(location_columns))
    return location_columns + [Target.of(field, position=position) for position, field in columns]


def _clauses(statement: Statement) -> _Clauses:
    tokens, text = statement.tokens, statement.text
    start = find_word(tokens, "UPDATE")
    assert start is not None, "the parser saw an UPDATE"
    set_at = find_word(tokens, "SET", after=start + 2)
    assert set_at is not None, "the parser saw a SET clause"
    where_at = find_word(tokens, "WHERE", after=set_at)
    end = len(tokens) if where_at is None else where_at
    return _Clauses(
        with_clause=slice_text(text, tokens[:start]),
        table=slice_text(text, tokens[start + 1 : set_at]),
        assignments=tuple(assignment(text, part) for part in split(tokens[set_at + 1 : end], ",")),
        where=slice_text(text, tokens[end:]),
    )


def _assign_columns(target: WriteTarget, clauses: _Clauses) -> dict[str, str]:
    """Return the new value of each assigned column.

    Raises:
        SchemaError: the column does not exist, is assigned twice, or says where the row belongs (key and partition).
    """
    fixed = {name.lower() for name in (*target.table.config.record_key_fields, *target.partition_columns)}
    assigned: dict[str, str] = {}
    for stated in clauses.assignments:
        name = column_of(target, stated.parts, "UPDATE")
        if name.lower() in fixed:
            problem = key_assigned(f"UPDATE of {target.name}", name)
            raise with_subject(SchemaError(problem), ".".join(stated.parts))
        if name in assigned:
            raise with_subject(SchemaError(f"UPDATE of {target.name} assigns {name} twice."), ".".join(stated.parts), 1)
        assigned[name] = stated.value
    return assigned


def delete(statement: Statement) -> DataFrame | None:
    """Run a DELETE on a Hudi table; None when the table is not a Hudi table."""
    return change_rows(statement, statement.plan.table(), functools.partial(_delete, statement))


def _delete(statement: Statement, target: WriteTarget, read_snapshot: Visibility) -> DataFrame:
    tokens = statement.tokens
    start = find_word(tokens, "DELETE")
    assert start is not None, "the parser saw a DELETE"
    with_clause = slice_text(statement.text, tokens[:start])
    rest = slice_text(statement.text, tokens[start + 1 :])
    if target.has_virtual_keys:
        named = ", ".join(quote(name) for name in target.table.config.naming_columns)
        return target.write(Operation.DELETE, statement.run_sql(f"{with_clause} SELECT {named} {rest}"))
    rows = statement.run_sql(f"{with_clause} SELECT {', '.join(LOCATION_COLUMNS)} {rest}")
    return target.write(Operation.DELETE_PREPPED, rows, prepped=True, read_snapshot=read_snapshot)
