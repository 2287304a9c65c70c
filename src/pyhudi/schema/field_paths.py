"""Fields by their dotted names, which go into structs."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc


def type_at(schema: pa.Schema, name: str) -> pa.DataType | None:
    """Return the type of a column, which a dotted name finds in structs; None when there is none.

    Example:
        >>> type_at(pa.schema({"meta": pa.struct({"ts": pa.int64()})}), "meta.ts")
        DataType(int64)
    """
    head, *path = (name,) if name in schema.names else name.split(".")
    kind = schema.field(head).type if head in schema.names else None
    for part in path:
        inner = -1 if kind is None or not pa.types.is_struct(kind) else kind.get_field_index(part)
        kind = None if inner < 0 or kind is None else kind.field(inner).type
    return kind


def column_at(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """Return the values of a field that is there; it is null where a struct around it is.

    Example:
        >>> column_at(pa.table({"meta": [{"ts": 5}, None]}), "meta.ts").to_pylist()
        [5, None]
    """
    head, *path = name.split(".")
    column = rows.column(head)
    return pc.struct_field(column, path) if path else column


def head_column(field: str) -> str:
    """Return the column that a field is, or is inside of: names of columns have no dots."""
    return field.partition(".")[0]


def head_columns(fields: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that hold the fields, each once.

    Example:
        >>> head_columns(["meta.ts", "id", "meta.seq"])
        ('meta', 'id')
    """
    return tuple(dict.fromkeys(map(head_column, fields)))
