"""What a filter leaves of the values of one column, and of the record keys.

Rules: `RecordLevelIndexSupport.filterQueriesWithRecordKey`, `SecondaryIndexSupport`. A key is known when a filter cannot be true
without each of its fields being one of some values.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from math import prod
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import HudiError
from pyhudi.kernels.keys.key_kernels import record_keys
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.read.filter.condition import And, Column, Compare, Condition, In, Operand, Or
from pyhudi.schema.field_paths import type_at
from pyhudi.schema.meta_columns import RECORD_KEY

#: So many keys are looked up; of more, the files are read.
MOST_KEYS: Final = 10_000


def column_named(name: str, schema: pa.Schema) -> Column | None:
    """Return a column of a schema, or by a name with dots a field of structs; None when there is none.

    Example:
        >>> column_named("spot.x", pa.schema({"spot": pa.struct({"x": pa.int32()})}))
        Column(path=('spot', 'x'), type=DataType(int32))
    """
    kind = type_at(schema, name)
    return None if kind is None else Column((name,) if name in schema.names else tuple(name.split(".")), kind)


def implied_values(condition: Condition, operand: Operand) -> list[pa.Scalar] | None:
    """Return values, of the operand's type, one of which it has wherever the condition is true; None when it may have any."""
    match condition:
        case Compare(tested, "=", value) if tested == operand:
            return _of_type([value], operand.type)
        case In(tested, values, _) if tested == operand and len(values) <= MOST_KEYS:
            return _of_type(values, operand.type)
        case And(parts):
            matches = [values for part in parts if (values := implied_values(part, operand)) is not None]
            return min(matches, key=len, default=None)
        case Or(parts):
            each = [implied_values(part, operand) for part in parts]
            return None if None in each else [value for values in each for value in values or ()]
    return None


def implied_keys(condition: Condition, schema: pa.Schema, key: KeyFields | None) -> set[str] | None:
    """Return record keys one of which each row has for which the condition is true; None when it may have any.

    Args:
        condition: the filter.
        schema: the table's columns, which tell the types of the key fields.
        key: how keys are made of fields; None when unknown.
    """
    stated = implied_values(condition, Column((RECORD_KEY,), pa.string()))
    if stated is not None:
        return {value.as_py() for value in stated if value.is_valid}
    return None if key is None else _make_path(condition, schema, key)


def keys_by_fields(condition: Condition, schema: pa.Schema, key: KeyFields, fields: Collection[str]) -> set[str] | None:
    """Return record keys, one of which agrees in some fields with that of each row for which the condition is true; None when any may.

    `fields` are key fields; what the keys have in the others does not matter.
    """
    whole = implied_keys(condition, schema, key)
    return _make_path(condition, schema, key, fields) if whole is None else whole


def _make_path(condition: Condition, schema: pa.Schema, key: KeyFields, fields: Collection[str] | None = None) -> set[str] | None:
    choices: list[list[pa.Scalar]] = []
    types: list[pa.DataType] = []
    for name in key.key_fields:
        column = column_named(name, schema)
        if column is None or not _has_one_text(column.type):
            return None
        types.append(column.type)
        if fields is not None and name not in fields:
            choices.append([pa.scalar(0, pa.int32()).cast(column.type)])
            continue
        values = implied_values(condition, column)
        if values is None:
            return None
        choices.append([value for value in values if value.is_valid])
    if prod(map(len, choices)) > MOST_KEYS:
        return None
    return set(_strings(choices, types, key))


def _strings(choices: list[list[pa.Scalar]], types: list[pa.DataType], key: KeyFields) -> Iterable[str]:
    combined = list(itertools.product(*choices))
    fields = [pa.field(name, kind) for name, kind in zip(key.key_fields, types, strict=True)]
    # Of scalars: Arrow has dates that Python has not.
    rows = pa.table(
        [pa.array([row[index] for row in combined], field.type) for index, field in enumerate(fields)], schema=pa.schema(fields)
    )
    yield from _keys_of(rows, key)
    if key.is_composite and len(fields) == 1:
        # Releases differ: a single field was also keyed by its bare value.
        yield from _keys_of(rows, KeyFields(key.key_fields, is_composite=False))


def _keys_of(rows: pa.Table, key: KeyFields) -> Iterable[str]:
    """Return the keys of rows, without those that no row can have because they are empty."""
    try:
        keys: list[str] = record_keys(rows, key).to_pylist()
    except HudiError:
        halves = (rows.slice(0, rows.num_rows // 2), rows.slice(rows.num_rows // 2))
        return itertools.chain.from_iterable(_keys_of(half, key) for half in halves) if rows.num_rows > 1 else ()
    return keys


def _has_one_text(kind: pa.DataType) -> bool:
    """Tell whether equal values have one text in keys, whoever wrote them; timestamps, reals and decimals have several."""
    return bool(pt.is_string(kind) or pt.is_integer(kind) or pt.is_date32(kind))


def _of_type(values: Iterable[pa.Scalar], kind: pa.DataType) -> list[pa.Scalar] | None:
    try:
        return [value if value.type == kind else value.cast(kind) for value in values]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None  # it compares with the column in a wider type
