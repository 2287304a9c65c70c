"""INSERT INTO and INSERT OVERWRITE.

The source query runs in Spark; its columns are put to the table's by position or by name and cast by Spark's
store-assignment rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from pyhudi.errors import SchemaError, with_subject
from pyhudi.spark.catalog import relations
from pyhudi.spark.jvm import jvm
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import Options, merge_options, resolve, same_key
from pyhudi.sql.statement.sql_settings import operation_in
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import find_word, slice_text
from pyhudi.sql.write.column_assignment import Target, conform
from pyhudi.sql.write.insert_operation import (
    INTO,
    operation_of_insert,
    operation_of_overwrite,
    policy_of_strict_mode,
    stated_operation,
)
from pyhudi.sql.write.write_target import WriteTarget, open_target


@dataclass(frozen=True, slots=True)
class _Insert:
    """What Spark's parser says about an INSERT."""

    columns: tuple[str, ...]  # the column list; empty when there is none
    partition: dict[str, str | None]  # PARTITION (a = 'x', b): None for a column that the query gives
    overwrite: bool
    by_name: bool
    if_not_exists: bool


def insert(statement: Statement) -> DataFrame | None:
    """Run an INSERT on a Hudi table; None when the table is not a Hudi table."""
    plan = statement.plan
    name = next(iter(statement.names_of(plan.table())), None)
    entry = None if name is None else statement.table_named(name)
    if name is None or entry is None:
        return None
    stated = _Insert(
        columns=tuple(jvm.items_of(plan.userSpecifiedCols())),
        partition=_partition_spec(plan),
        overwrite=plan.overwrite(),
        by_name=plan.byName(),
        if_not_exists=plan.ifPartitionNotExists(),
    )
    if stated.if_not_exists:
        raise SchemaError(f"INSERT ... IF NOT EXISTS is not served on the Hudi table {entry.qualified_name}: leave it out.")
    relations.refresh_all(statement.session, statement.names_read(name))
    target = open_target(statement, entry)
    source = statement.ask_for_data(_query_text(statement, stated))
    rows = conform(source, _targets(target, stated, source), f"INSERT into {entry.qualified_name}")
    relation_options = relations.options_of(plan.table())
    options = resolve(merge_options(target.options, relation_options))
    named = operation_in(relation_options)
    if named is None and not any(same_key(key, INTO) for key in relation_options):  # options of the statement come before the session's
        named = target.stated_operation
    operation, partitions = _operation(target, stated, options, stated_operation(named))
    policy = policy_of_strict_mode(operation, options, target.table.config)
    return target.write(operation, rows, partitions=partitions, options={**policy, **relation_options})


def _partition_spec(plan: jvm.JavaObject) -> dict[str, str | None]:
    entries = jvm.entries_of(plan.partitionSpec())
    return {name: None if value == "None" else value.removeprefix("Some(")[:-1] for name, value in entries.items()}


def _query_text(statement: Statement, stated: _Insert) -> str:
    """Return the source query as it was written, with the WITH clause that precedes the INSERT."""
    tokens = statement.tokens
    first = find_word(tokens, "INSERT")
    assert first is not None, "the parser saw an INSERT"
    at = _after_name(statement, first)
    if stated.partition or tokens[at].is_word("PARTITION"):
        at = _after_brackets(statement, at + 1)
    if stated.by_name:
        at += 2
    if stated.columns:
        at = _after_brackets(statement, at)
    return f"{slice_text(statement.text, tokens[:first])} {slice_text(statement.text, tokens[at:])}"


def _after_name(statement: Statement, insert_at: int) -> int:
    """Return the index of the token after `INSERT INTO [TABLE] a.b.c [WITH (...)]`."""
    tokens, at = statement.tokens, insert_at + 2
    if tokens[at].is_word("TABLE") and tokens[at + 1].text not in {".", "(", "VALUES"}:
        at += 1
    at += 1
    while tokens[at].text == ".":
        at += 2
    if tokens[at].is_word("WITH") and tokens[at + 1].text == "(":
        at = _after_brackets(statement, at + 1)
    return at


def _after_brackets(statement: Statement, opening: int) -> int:
    tokens = statement.tokens
    depth = tokens[opening].depth
    return next(i for i in range(opening + 1, len(tokens)) if tokens[i].text == ")" and tokens[i].depth == depth) + 1


def _targets(target: WriteTarget, stated: _Insert, source: DataFrame) -> list[Target]:
    """Say for each column of the table where its value comes from."""
    names = {column.lower(): column for column in target.columns}
    static = {_known(target, names, name): value for name, value in stated.partition.items() if value is not None}
    if unknown := [name for name in static if name not in target.partition_columns]:
        problem = f"{unknown[0]} in PARTITION (...) is not a partition column of {target.name}: those are {target.partition_columns}."
        raise with_subject(SchemaError(problem), unknown[0])
    if stated.columns:
        order = [_known(target, names, name) for name in stated.columns]
        order += [name for name in target.partition_columns if name in static and name not in order]
    else:
        order = list(target.columns)
    fed = [name for name in order if name not in static]
    given = {name.lower(): i for i, name in enumerate(source.columns)} if stated.by_name else None
    return [Target.of(field, position=_position(field.name, fed, given), text=static.get(field.name)) for field in target.schema.fields]


def _position(name: str, fed: list[str], given: dict[str, int] | None) -> int | None:
    if given is not None:
        return given.get(name.lower())
    return fed.index(name) if name in fed else None


def _known(target: WriteTarget, names: dict[str, str], name: str) -> str:
    if name.lower() not in names:
        raise with_subject(SchemaError(f"{target.name} has no column {name}: its columns are {', '.join(target.columns)}."), name)
    return names[name.lower()]


def _operation(target: WriteTarget, stated: _Insert, options: Options, named: Operation | None) -> tuple[Operation, list[str] | None]:
    """Return the operation and, for INSERT OVERWRITE ... PARTITION, the partition paths it replaces.

    `named` is what `hoodie.datasource.write.operation` says.
    """
    if not stated.overwrite:
        return operation_of_insert(named, options, target.table.config), None
    if not target.partition_columns:
        return Operation.INSERT_OVERWRITE_TABLE, None
    if (static := target.static_partition(stated.partition)) is not None:
        return Operation.INSERT_OVERWRITE, [static]
    return operation_of_overwrite(named, dynamic=target.overwrites_partitions(names_columns=bool(stated.partition))), None
