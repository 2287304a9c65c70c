"""All versions of a table's schema, and which one a file was written with; it travels as metadata of the table's Arrow schema.

Rules: `InternalSchemaCache`, `InternalSchemaUtils.searchSchema`: a file has the version of its commit's time, the greatest that is not
later. A commit that ran while a version was made says itself which one it wrote with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count

import pyarrow as pa

from pyhudi.errors import SchemaError
from pyhudi.schema.avro_types import COMMENT
from pyhudi.schema.internal.as_arrow import arrow_type, data_columns, new_type, type_name
from pyhudi.schema.internal.as_json import history_from_json, history_to_json
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType
from pyhudi.schema.meta_columns import is_meta_column

_ENTRY = b"hoodie.schema.history"
#: Version of a schema whose commit is still being written.
UNWRITTEN = (1 << 62) - 1


@dataclass(frozen=True, slots=True)
class SchemaHistory:
    """Versions, the oldest first. `current` is the one that a query sees; `stated` are versions by requested time of commits that do not
    have the one of their time.
    """

    versions: tuple[InternalSchema, ...]
    current: InternalSchema
    stated: Mapping[str, int] = field(default_factory=dict)

    def at(self, instant: str) -> InternalSchema:
        """Return the version that a commit of this requested time wrote."""
        version = self.stated.get(instant, int(instant) if instant.isdecimal() else 0)
        earlier = [schema for schema in self.versions if schema.version <= version]
        return earlier[-1] if earlier else self.versions[0]

    def changed(self, schema: InternalSchema) -> SchemaHistory:
        """Return the history with a new current version, which gets its number when it is written."""
        unwritten = replace(schema, version=UNWRITTEN)
        retained = tuple(version for version in self.versions if version.version != UNWRITTEN)
        return replace(self, versions=(*retained, unwritten), current=unwritten)

    def written(self, instant: str) -> SchemaHistory:
        """Return the history with a commit of this requested time, which writes the current version.

        A version that is new gets the number of the commit. One that is younger than the commit, such as a compaction that was planned
        before a column changed, is stated.
        """
        if self.current.version != UNWRITTEN:
            is_of_its_time = self.at(instant).version == self.current.version
            return self if is_of_its_time else replace(self, stated={**self.stated, instant: self.current.version})
        numbered = replace(self.current, version=int(instant))
        return replace(self, versions=(*self.versions[:-1], numbered), current=numbered)


def with_history(columns: pa.Schema, history: SchemaHistory | None) -> pa.Schema:
    """Return the columns with the history attached."""
    if history is None:
        return columns.remove_metadata()
    text = json.dumps(
        {"current": history.current.version, "stated": dict(history.stated), "history": history_to_json(history.versions)},
        separators=(",", ":"),
    )
    return columns.with_metadata({_ENTRY: text.encode()})


def history_of(columns: pa.Schema) -> SchemaHistory | None:
    """Return the history that columns carry; None for a table whose columns have no numbers."""
    match = (columns.metadata or {}).get(_ENTRY)
    return None if match is None else _parse_schema(match)


@lru_cache(maxsize=32)
def _parse_schema(text: bytes) -> SchemaHistory:
    entry = json.loads(text)
    versions = history_from_json(entry["history"])
    current = next(schema for schema in versions if schema.version == entry["current"])
    return SchemaHistory(versions, current, entry["stated"])


def reconciled(history: SchemaHistory, columns: pa.Schema) -> SchemaHistory:
    """Return the history whose current version has these data columns: known names keep their numbers, new ones get the next.

    Raises:
        SchemaError: a part of a column changes its kind.
    """
    if data_columns(history.current).equals(columns):
        return history
    numbers = count(history.current.max_id + 1)
    meta = [field for field in history.current.record.fields if is_meta_column(field.name)]
    data = _fields(history.current.record, list(columns), numbers)
    return history.changed(InternalSchema(UNWRITTEN, next(numbers) - 1, RecordType((*meta, *data))))


def _fields(known: RecordType, columns: list[pa.Field], numbers: count[int]) -> list[Field]:
    result = []
    for column in columns:
        old = known.find(column.name)
        comment = (column.metadata or {}).get(COMMENT)
        doc = comment.decode() if comment is not None else (old.doc if old else None)
        if old is None:
            number = next(numbers)
            result.append(Field(number, column.name, new_type(column.type, numbers), column.nullable, doc))
        else:
            kind = _type(old.type, column.type, column.name, numbers)
            result.append(Field(old.id, column.name, kind, old.optional or column.nullable, doc))
    return result


def _type(known: FieldType, arrow: pa.DataType, name: str, numbers: count[int]) -> FieldType:
    if isinstance(known, RecordType) and pa.types.is_struct(arrow):
        return RecordType(tuple(_fields(known, list(arrow), numbers)))
    if isinstance(known, ListType) and pa.types.is_list(arrow):
        element = _type(known.element.type, arrow.value_type, f"{name}.element", numbers)
        return ListType(replace(known.element, type=element))
    if isinstance(known, MapType) and pa.types.is_map(arrow):
        value = _type(known.value.type, arrow.item_type, f"{name}.value", numbers)
        return MapType(known.key, replace(known.value, type=value))
    if isinstance(known, str) and not pa.types.is_nested(arrow):
        return known if arrow_type(known) == arrow else type_name(arrow)
    raise SchemaError(f"Column '{name}' has type {arrow_type(known)} in the table and cannot become {arrow}.")
