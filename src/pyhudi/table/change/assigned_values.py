"""The values that an update or a merge assigns: SQL text, constants or pyarrow expressions, evaluated and cast to the table's columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.types as pt

from pyhudi.errors import SchemaError, UsageError, did_you_mean
from pyhudi.read.filter.predicate import parse_predicate, parse_value
from pyhudi.read.filter.row_predicate import check_condition
from pyhudi.read.filter.tuple_filter import FilterLike, expression_of
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.merge_clause import key_assigned

#: Expressions by the column that they are assigned to: SQL text, a pyarrow expression, or a constant.
Assignments: TypeAlias = Mapping[str, object]
#: SQL text, a pyarrow expression, or a list of tuples.
Condition: TypeAlias = FilterLike
_KINDS = (
    lambda kind: pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind),
    lambda kind: pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind),
    pt.is_boolean,
    lambda kind: pt.is_date(kind) or pt.is_timestamp(kind),
)


def assigned_columns(stated: object, table: pa.Schema, what: str) -> dict[str, object]:
    """Return the assignments under the names that the table's columns have.

    Raises:
        UsageError: they are no mapping, or empty.
        SchemaError: there is no such column, or it is assigned twice.
    """
    if not isinstance(stated, Mapping) or not stated:
        raise UsageError(f"{what} needs the new values by column, such as {{'price': 'price * 2'}}, not {stated!r:.100}.")
    names = {name.lower(): name for name in table.names}
    result: dict[str, object] = {}
    for name, value in stated.items():
        if not isinstance(name, str) or name.lower() not in names:
            raise SchemaError(f"{what} assigns {name!r}, which is no column of the table.{did_you_mean(str(name), table.names)}")
        if names[name.lower()] in result:
            raise SchemaError(f"{what} assigns {name} twice.")
        result[names[name.lower()]] = value
    return result


def check_no_key(names: Iterable[str], config: TableConfig, what: str) -> None:
    """Refuse assignments to columns that say which row a row is.

    Raises:
        SchemaError: a column is part of the record key or the partition.
    """
    fixed = {name.lower() for name in (*config.record_key_fields, *config.partition_fields)}
    for name in names:
        if name.lower() in fixed:
            raise SchemaError(key_assigned(what, name))


def evaluate(
    values: Assignments, rows: pa.Table, table: pa.Schema, what: str, ambiguous: Collection[str] = ()
) -> dict[str, pa.ChunkedArray]:
    """Return the values of each assigned column for some rows, in the types of the table's columns.

    Args:
        values: expressions by column of the table.
        rows: what the expressions are over.
        table: the columns of the table.
        what: the call, for messages.
        ambiguous: names of columns that need a qualifier.

    Raises:
        UsageError: an expression cannot be understood or fails, as a division by zero does.
        SchemaError: a value cannot be stored in its column.
    """
    expressions = {name: _expression(value, rows.schema, ambiguous) for name, value in values.items()}
    result = {}
    for name, expression in expressions.items():
        try:
            column = ds.dataset(rows).to_table(columns={name: expression}, use_threads=False).column(name)
        except (pa.ArrowException, KeyError, TypeError) as error:
            raise UsageError(f"{what}: the value of {name}, {values[name]!s:.200}, cannot be computed: {error}") from None
        result[name] = store_as(column, table.field(name), what)
    return result


def condition_mask(condition: Condition, rows: pa.Table, what: str, ambiguous: Collection[str] = ()) -> pa.ChunkedArray:
    """Return for each row whether a condition is true.

    Raises:
        UsageError: it is no condition over the columns.
    """
    if isinstance(condition, str):
        expression = parse_predicate(condition, rows.schema, ambiguous).expression
    elif isinstance(condition, pc.Expression):
        expression = condition
    elif isinstance(condition, list):
        expression = expression_of(condition, rows.schema)
    else:
        raise UsageError(f"{what}: the condition is {condition!r:.100}; give SQL text or a pyarrow expression.")
    check_condition(expression, rows.schema)
    column = ds.dataset(rows).to_table(columns={"mask": expression}, use_threads=False).column("mask")
    return pc.fill_null(column, False)


def store_as(column: pa.ChunkedArray, field: pa.Field, what: str) -> pa.ChunkedArray:
    """Return values in the type of the column that they are stored in.

    Numbers go into columns of numbers and so on, where no digits before the point and no fractions of whole numbers are lost; decimals are
    rounded half up to the digits of their column. A text is no number, as in Spark's ANSI mode.

    Raises:
        SchemaError: a value cannot be stored.
    """
    given, requested = column.type, field.type
    if given == requested:
        return column
    if not pt.is_null(given) and any(kind(given) != kind(requested) for kind in _KINDS):
        raise SchemaError(f"{what}: a value of type {given} cannot be stored in {field.name}, which has type {requested}; use CAST.")
    try:
        if pt.is_decimal(requested) and pt.is_decimal(given) and given.scale > requested.scale:
            column = pc.round(column, ndigits=requested.scale, round_mode="half_towards_infinity")
        if pt.is_decimal(requested) and pt.is_integer(given):
            column = column.cast(pa.decimal128(38, requested.scale))  # Arrow asks for room for every integer of the type
        return column.cast(requested)
    except (pa.ArrowException, TypeError) as error:
        raise SchemaError(f"{what}: a value cannot be stored in {field.name}, which has type {requested}: {error}") from None


def _expression(value: object, schema: pa.Schema, ambiguous: Collection[str]) -> pc.Expression:
    if isinstance(value, pc.Expression):
        return value
    if not isinstance(value, str):
        return _constant(value)
    try:
        return parse_value(value, schema, ambiguous)
    except UsageError as error:
        hint = f" A text is an expression; as a constant it has quotes inside: \"'{value}'\"."
        raise UsageError(f"{error}{hint if value.isalnum() else ''}") from None


def _constant(value: object) -> pc.Expression:
    try:
        return pc.scalar(value)
    except (pa.ArrowException, TypeError) as error:
        raise UsageError(f"the value {value!r:.100} is no expression and no constant: {error}") from None
