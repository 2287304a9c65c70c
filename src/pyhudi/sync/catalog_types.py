"""Types of columns as Hive and as Spark write them.

Rules: `HiveSchemaUtil` (the form for the metastore: lower case, no blanks), `SparkDataSourceTableUtils`; Spark's JSON of a schema.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import UnsupportedError


def hive_type(kind: pa.DataType, *, support_timestamp: bool) -> str:
    """Return the type of a column in Hive; without `support_timestamp` timestamps are the numbers that the files hold.

    Example:
        >>> hive_type(pa.struct({"Name": pa.string(), "tags": pa.list_(pa.int64())}), support_timestamp=True)
        'struct<name:string,tags:array<bigint>>'
    """

    def nested(inner: pa.DataType) -> str:
        return hive_type(inner, support_timestamp=support_timestamp)

    if pt.is_struct(kind):
        fields = (f"{field.name.lower().replace('-', '_')}:{nested(field.type)}" for field in kind)
        return f"struct<{','.join(fields)}>"
    if pt.is_map(kind):
        return f"map<{nested(kind.key_type)},{nested(kind.item_type)}>"
    if pt.is_list(kind) or pt.is_large_list(kind):
        return f"array<{nested(kind.value_type)}>"
    if pt.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pt.is_timestamp(kind):
        return "timestamp" if support_timestamp else "bigint"
    simple = _simple(kind, "int", "bigint")
    if simple is None:
        raise UnsupportedError(f"a column of type {kind} has no type in Hive")
    return simple


def spark_type(kind: pa.DataType) -> Any:
    """Return the type of a column in the JSON of a Spark schema.

    Example:
        >>> spark_type(pa.list_(pa.timestamp("us", tz="UTC")))
        {'type': 'array', 'elementType': 'timestamp', 'containsNull': True}
    """
    if pt.is_struct(kind):
        return {"type": "struct", "fields": [spark_field(field) for field in kind]}
    if pt.is_map(kind):
        types = {"keyType": spark_type(kind.key_type), "valueType": spark_type(kind.item_type)}
        return {"type": "map", **types, "valueContainsNull": kind.item_field.nullable}
    if pt.is_list(kind) or pt.is_large_list(kind):
        return {"type": "array", "elementType": spark_type(kind.value_type), "containsNull": kind.value_field.nullable}
    if pt.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pt.is_timestamp(kind):
        return "timestamp_ntz" if kind.tz is None else "timestamp"
    simple = _simple(kind, "integer", "long")
    if simple is None:
        raise UnsupportedError(f"a column of type {kind} has no type in Spark")
    return simple


def spark_field(field: pa.Field, comment: str = "") -> dict[str, Any]:
    """Return a column in the JSON of a Spark schema."""
    metadata = {"comment": comment} if comment else {}
    return {"name": field.name, "type": spark_type(field.type), "nullable": field.nullable, "metadata": metadata}


def _simple(kind: pa.DataType, integer: str, long: str) -> str | None:
    if pt.is_int64(kind) or pt.is_time64(kind):
        return long
    if pt.is_integer(kind) or pt.is_time32(kind):
        return integer
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_dictionary(kind):
        return "string"
    if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_fixed_size_binary(kind):
        return "binary"
    names = {pa.float32(): "float", pa.float64(): "double", pa.bool_(): "boolean", pa.date32(): "date"}
    return names.get(kind)
