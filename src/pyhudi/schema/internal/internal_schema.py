"""A table's schema with a number for every column, at any depth, which stays when the column is renamed, moved or widened.

Rules: `org.apache.hudi.internal.schema.InternalSchema` and its `Types`. Lists and maps number their elements, keys and values too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pyhudi.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Field:
    """A column, a field of a struct, or what a list or map holds."""

    id: int
    name: str
    type: FieldType
    optional: bool = True
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class RecordType:
    """A struct."""

    fields: tuple[Field, ...]

    def find(self, name: str) -> Field | None:
        """Return the field of a name, regardless of case."""
        exact = next((field for field in self.fields if field.name == name), None)
        return exact or next((field for field in self.fields if field.name.lower() == name.lower()), None)

    def by_id(self, number: int) -> Field | None:
        """Return the field of an id."""
        return next((field for field in self.fields if field.id == number), None)


@dataclass(frozen=True, slots=True)
class ListType:
    """A list; its element is a field named `element`."""

    element: Field


@dataclass(frozen=True, slots=True)
class MapType:
    """A map; its key and value are fields named `key` and `value`."""

    key: Field
    value: Field


#: Types without parts are strings such as `int`, `timestamp` or `decimal(10, 2)`.
FieldType: TypeAlias = str | RecordType | ListType | MapType


@dataclass(frozen=True, slots=True)
class InternalSchema:
    """A version of a table's schema, meta columns included; `version` is the requested time of the commit that made it, as a number."""

    version: int
    max_id: int
    record: RecordType

    def find(self, path: tuple[str, ...]) -> Field:
        """Return the field at a path such as `("address", "street")`; lists and maps are entered by `element`, `key` and `value`.

        Raises:
            SchemaError: there is none; names the columns there are.
        """
        result: Field | None = None
        parent: FieldType = self.record
        for depth, name in enumerate(path):
            result = _child(parent, name)
            if result is None:
                known = ", ".join(field.name for field in children(parent)) or "none"
                raise SchemaError(f"there is no column {'.'.join(path[: depth + 1])}; those there are: {known}.")
            parent = result.type
        assert result is not None, "a path has a name"
        return result


def children(kind: FieldType) -> tuple[Field, ...]:
    """Return the parts of a type."""
    if isinstance(kind, RecordType):
        return kind.fields
    if isinstance(kind, ListType):
        return (kind.element,)
    if isinstance(kind, MapType):
        return (kind.key, kind.value)
    return ()


def walk(kind: FieldType) -> Iterator[Field]:
    """Yield all fields below a type, at any depth."""
    for field in children(kind):
        yield field
        yield from walk(field.type)


def _child(kind: FieldType, name: str) -> Field | None:
    if isinstance(kind, RecordType):
        return kind.find(name)
    return next((field for field in children(kind) if field.name == name.lower()), None)
