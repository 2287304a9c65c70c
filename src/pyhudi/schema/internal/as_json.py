"""Internal schemas as JSON: the entry `latest_schema` of a commit, and the history in `.hoodie/.schema`.

Rules: `SerDeHelper`: compact, in a fixed order of keys; the history holds the newest version first. Releases before 1.0 wrote some of
the keys with a hyphen; both spellings are read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyhudi.errors import CorruptTableError
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType


def to_json(schema: InternalSchema) -> str:
    """Return one version as JSON."""
    return _dump(_schema(schema))


def history_to_json(versions: Sequence[InternalSchema]) -> str:
    """Return all versions as JSON, the newest first."""
    newest_first = sorted(versions, key=lambda schema: -schema.version)
    return _dump({"schemas": [_schema(schema) for schema in newest_first]})


def from_json(text: str) -> InternalSchema:
    """Return the version that a JSON text holds.

    Raises:
        CorruptTableError: it holds none.
    """
    return _read(_load(text), text)


def history_from_json(text: str) -> tuple[InternalSchema, ...]:
    """Return the versions of a history, the oldest first.

    Raises:
        CorruptTableError: the text holds none.
    """
    entries = _load(text).get("schemas")
    if not isinstance(entries, list):
        raise CorruptTableError(f"The history of the table's schema is damaged: it has no list of schemas: {text[:200]}")
    return tuple(sorted((_read(entry, text) for entry in entries), key=lambda schema: schema.version))


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _load(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise CorruptTableError(f"The internal schema of the table is no JSON ({error}): {text[:200]}") from None
    if not isinstance(parsed, dict):
        raise CorruptTableError(f"The internal schema of the table is no JSON object: {text[:200]}")
    return parsed


def _schema(schema: InternalSchema) -> dict[str, Any]:
    return {"max_column_id": schema.max_id, "version_id": schema.version, **_type(schema.record)}


def _type(kind: FieldType) -> Any:
    if isinstance(kind, RecordType):
        return {"type": "record", "fields": [_field(field) for field in kind.fields]}
    if isinstance(kind, ListType):
        return {"type": "array", **_part("element", kind.element)}
    if isinstance(kind, MapType):
        return {"type": "map", "key_id": kind.key.id, "key": _type(kind.key.type), **_part("value", kind.value)}
    return kind


def _part(name: str, field: Field) -> dict[str, Any]:
    return {f"{name}_id": field.id, name: _type(field.type), f"{name}_optional": field.optional}


def _field(field: Field) -> dict[str, Any]:
    entry = {"id": field.id, "name": field.name, "optional": field.optional, "type": _type(field.type)}
    return entry if field.doc is None else {**entry, "doc": field.doc}


def _read(entry: Any, text: str) -> InternalSchema:
    try:
        record = _read_type(entry)
        if not isinstance(record, RecordType):
            raise TypeError("no record")  # noqa: TRY301 - reported below like all damage
        return InternalSchema(int(_get(entry, "version_id")), int(_get(entry, "max_column_id")), record)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptTableError(f"The internal schema of the table is damaged near {error}: {text[:200]}") from error


def _get(entry: dict[str, Any], name: str) -> Any:
    return entry[name] if name in entry else entry[name.replace("_", "-")]


def _read_type(entry: Any) -> FieldType:
    if isinstance(entry, str):
        return entry
    match entry["type"]:
        case "record":
            return RecordType(tuple(_read_field(field) for field in entry["fields"]))
        case "array":
            optional = bool(entry["element_optional"])
            return ListType(Field(int(_get(entry, "element_id")), "element", _read_type(entry["element"]), optional))
        case "map":
            key = Field(int(_get(entry, "key_id")), "key", _read_type(entry["key"]), optional=False)
            value = Field(int(_get(entry, "value_id")), "value", _read_type(entry["value"]), bool(entry["value_optional"]))
            return MapType(key, value)
    raise ValueError(entry["type"])


def _read_field(entry: dict[str, Any]) -> Field:
    return Field(int(entry["id"]), str(entry["name"]), _read_type(entry["type"]), bool(entry["optional"]), entry.get("doc"))
