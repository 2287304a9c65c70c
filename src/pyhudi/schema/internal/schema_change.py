"""What ALTER TABLE does to an internal schema. Every change is a new value; numbers of columns that are dropped are never given again.

Rules: `TableChanges`, `InternalSchemaChangeApplier`, `SchemaChangeUtils` (which types may become which).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.internal.as_arrow import arrow_type, new_type, type_name
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType, children

Path = tuple[str, ...]
#: `None` leaves a column where it is or adds it last, `""` is FIRST, another text is AFTER that column.
Position = str | None

_NUMBERS = ("int", "long", "float", "double")
_BECOMES = {
    "int": {"long", "float", "double", "string"},
    "long": {"float", "double", "string"},
    "float": {"double", "string"},
    "double": {"string"},
    "date": {"string"},
    "string": {"date"},
}


def add_column(
    schema: InternalSchema, path: Path, arrow: pa.DataType, *, doc: str | None = None, position: Position = None
) -> InternalSchema:
    """Add a nullable column, or a field of a struct.

    Raises:
        SchemaError: it is there already, what shall hold it is no struct, or the column that it shall follow does not exist.
    """
    numbers = count(schema.max_id + 1)
    field = Field(next(numbers), path[-1], "", optional=True, doc=doc)
    field = replace(field, type=new_type(arrow, numbers))

    def added(record: RecordType) -> RecordType:
        if record.find(path[-1]) is not None:
            raise SchemaError(f"there is a column {'.'.join(path)} already.")
        return _move_field(RecordType((*record.fields, field)), path[-1], position)

    return replace(_at(schema, path[:-1], added), max_id=next(numbers) - 1)


def drop_column(schema: InternalSchema, path: Path) -> InternalSchema:
    """Drop a column or a field of a struct.

    Raises:
        SchemaError: there is none, or a struct would be left without fields.
    """
    dropped = schema.find(path)

    def without(record: RecordType) -> RecordType:
        retained = tuple(field for field in record.fields if field.id != dropped.id)
        if not retained:
            raise SchemaError(f"{'.'.join(path)} is the only field of its struct; drop the whole column.")
        return RecordType(retained)

    return _at(schema, path[:-1], without)


def rename_column(schema: InternalSchema, path: Path, name: str) -> InternalSchema:
    """Give a column or a field of a struct another name.

    Raises:
        SchemaError: there is none, or the name is taken.
    """
    renamed = schema.find(path)

    def with_name(record: RecordType) -> RecordType:
        taken = record.find(name)
        if taken is not None and taken.id != renamed.id:
            raise SchemaError(f"{'.'.join(path)} cannot be renamed to {name}: there is a column of that name already.")
        return RecordType(tuple(replace(field, name=name) if field.id == renamed.id else field for field in record.fields))

    return _at(schema, path[:-1], with_name)


def move_column(schema: InternalSchema, path: Path, position: str) -> InternalSchema:
    """Put a column elsewhere among its neighbours.

    Raises:
        SchemaError: there is none, or the column that it shall follow does not exist.
    """
    field = schema.find(path)
    return _at(schema, path[:-1], lambda record: _move_field(record, field.name, position))


def retype_column(schema: InternalSchema, path: Path, arrow: pa.DataType) -> InternalSchema:
    """Give a column another type.

    Raises:
        SchemaError: values of the old type cannot be read as the new one.
    """
    field = schema.find(path)
    if arrow_type(field.type) == arrow:
        return schema
    if children(field.type) or pt.is_nested(arrow) or not may_become(field.type, arrow):
        old = arrow_type(field.type)
        raise SchemaError(f"{'.'.join(path)} has type {old} and cannot become {arrow}: files written before could not be read so.")
    return _change_field(schema, path, lambda changed: replace(changed, type=type_name(arrow)))


def describe_column(schema: InternalSchema, path: Path, doc: str) -> InternalSchema:
    """Give a column a comment."""
    return _change_field(schema, path, lambda changed: replace(changed, doc=doc))


def allow_null(schema: InternalSchema, path: Path) -> InternalSchema:
    """Let a column hold nulls."""
    return _change_field(schema, path, lambda changed: replace(changed, optional=True))


def may_become(kind: FieldType, arrow: pa.DataType) -> bool:
    """Tell whether values of a type can be read as another one.

    Example:
        >>> may_become("int", pa.int64()), may_become("long", pa.int32())
        (True, False)
    """
    if not isinstance(kind, str):
        return False
    old = arrow_type(kind)
    if pt.is_decimal(arrow):
        if pt.is_decimal(old):
            return bool(arrow.scale >= old.scale and arrow.precision - arrow.scale >= old.precision - old.scale)
        return kind in (*_NUMBERS, "string")
    if pt.is_decimal(old):
        return bool(pt.is_string(arrow))
    return not pt.is_nested(arrow) and type_name(arrow) in _BECOMES.get(kind, set())


def _change_field(schema: InternalSchema, path: Path, change: Callable[[Field], Field]) -> InternalSchema:
    schema.find(path)  # says what is wrong with the path
    return replace(schema, record=_map(schema.record, path, change))


def _at(schema: InternalSchema, path: Path, change: Callable[[RecordType], RecordType]) -> InternalSchema:
    """Change the struct at a path, the whole schema when the path is empty."""
    if not path:
        return replace(schema, record=change(schema.record))

    def inside(field: Field) -> Field:
        if not isinstance(field.type, RecordType):
            raise SchemaError(f"{'.'.join(path)} is no struct: it has no fields of its own.")
        return replace(field, type=change(field.type))

    return _change_field(schema, path, inside)


def _map(kind: FieldType, path: Sequence[str], change: Callable[[Field], Field]) -> RecordType:
    changed = _descend(kind, path, change)
    assert isinstance(changed, RecordType), "a schema is a struct"
    return changed


def _descend(kind: FieldType, path: Sequence[str], change: Callable[[Field], Field]) -> FieldType:
    if not path:
        return kind

    def on(field: Field) -> Field:
        return change(field) if len(path) == 1 else replace(field, type=_descend(field.type, path[1:], change))

    if isinstance(kind, RecordType):
        target = kind.find(path[0])
        return RecordType(tuple(on(field) if field is target else field for field in kind.fields))
    if isinstance(kind, ListType):
        return ListType(on(kind.element))
    if isinstance(kind, MapType):
        return MapType(kind.key, on(kind.value)) if path[0].lower() == "value" else MapType(on(kind.key), kind.value)
    return kind


def _move_field(record: RecordType, name: str, position: Position) -> RecordType:
    if position is None:
        return record
    field = record.find(name)
    assert field is not None, "the column was found before"
    rest = [one for one in record.fields if one is not field]
    if not position:
        return RecordType((field, *rest))
    behind = RecordType(tuple(rest)).find(position)
    if behind is None:
        raise SchemaError(f"{name} cannot be after {position}: there is no such column beside it.")
    at = rest.index(behind) + 1
    return RecordType((*rest[:at], field, *rest[at:]))
