"""The table's schema in Avro, as commits and base files carry it, and in Arrow, as the kernels use it.

Rules: the JSON that Hudi's Spark writers put into a commit's `schema` (names of nested types are the path to them,
every nullable type is a union with null, decimals are fixed). The text is compact, in the key order of Avro's Java
library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import pyarrow as pa

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.schema.avro_types import COMMENT, read_type
from pyhudi.schema.meta_columns import META_COLUMNS, is_meta_column

_PRIMITIVES: dict[pa.DataType, Any] = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.time32("ms"): {"type": "int", "logicalType": "time-millis"},
    pa.time64("us"): {"type": "long", "logicalType": "time-micros"},
}
_NAME = re.compile(r"[^\W\d]\w*")


def arrow_to_avro(schema: pa.Schema, table_name: str) -> str:
    """Return the Avro JSON of the data columns of a table.

    Args:
        schema: columns of the types that `pyhudi.schema.evolve` gives; meta columns are left out.
        table_name: name of the table; other than letters, digits and `_` is masked with `__`.

    Raises:
        SchemaError: a name cannot be in Avro, or a type cannot be stored.

    Example:
        >>> arrow_to_avro(pa.schema({"id": pa.int64()}), "t")
        '{"type":"record","name":"t_record","namespace":"hoodie.t","fields":[{"name":"id","type":["null","long"],"default":null}]}'
    """
    name = _mask_nulls(table_name)
    fields = [field for field in schema if not is_meta_column(field.name)]
    return _dump(_record(fields, f"{name}_record", f"hoodie.{name}"))


def with_meta_fields(avro_json: str) -> str:
    """Return the schema with the five meta fields first, as base files and log blocks carry it."""
    record = _load(avro_json)
    meta = [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_COLUMNS]
    data = [field for field in record["fields"] if not is_meta_column(field["name"])]
    return _dump({**record, "fields": [*meta, *data]})


def only_fields(avro_json: str, names: Collection[str]) -> str:
    """Return the schema with its meta fields and, of the data, only the fields named."""
    record = _load(avro_json)
    retained = [field for field in record["fields"] if is_meta_column(field["name"]) or field["name"] in names]
    return _dump({**record, "fields": retained})


@lru_cache(maxsize=64)
def avro_to_arrow(avro_json: str) -> pa.Schema:
    """Return the Arrow schema of a table's Avro schema, meta fields included where it has them.

    Raises:
        CorruptTableError: the text is no Avro record schema.
        UnsupportedError: it holds a type that has no place in a table (a union of several types).
    """
    record = _load(avro_json)
    try:
        return pa.schema(list(read_type(record)))
    except (KeyError, TypeError, AttributeError) as error:
        raise CorruptTableError(f"The table's Avro schema is damaged near {error}: {avro_json[:200]}") from error


def _record(fields: list[pa.Field], name: str, namespace: str) -> dict[str, Any]:
    written = []
    for field in fields:
        if not _NAME.fullmatch(field.name):
            raise SchemaError(
                f"Column '{field.name}' cannot be stored: names in a Hudi table hold letters, digits and '_' only, "
                "and do not begin with a digit. Rename it."
            )
        avro = _union(field.type, field.name, f"{namespace}.{name}", nullable=field.nullable)
        comment = (field.metadata or {}).get(COMMENT)
        doc = {"doc": comment.decode()} if comment else {}
        default = {"default": None} if field.nullable else {}
        written.append({"name": field.name, "type": avro, **doc, **default})
    return {"type": "record", "name": name, "namespace": namespace, "fields": written}


def _union(arrow: pa.DataType, name: str, namespace: str, *, nullable: bool) -> Any:
    avro = _type(arrow, name, namespace)
    return ["null", avro] if nullable else avro


def _type(arrow: pa.DataType, name: str, namespace: str) -> Any:
    """The Avro type of an Arrow type; a nested type is named after the path that leads to it."""
    if arrow in _PRIMITIVES:
        return _PRIMITIVES[arrow]
    if pa.types.is_timestamp(arrow) and arrow.unit in ("us", "ms"):
        local = "" if arrow.tz else "local-"
        return {"type": "long", "logicalType": f"{local}timestamp-{'micros' if arrow.unit == 'us' else 'millis'}"}
    if pa.types.is_decimal128(arrow):
        return _decimal(arrow, f"{namespace}.{name}")
    if pa.types.is_struct(arrow):
        return _record(list(arrow), name, namespace)
    if pa.types.is_list(arrow):
        item = arrow.value_field
        return {"type": "array", "items": _union(item.type, name, namespace, nullable=item.nullable)}
    if pa.types.is_map(arrow) and pa.types.is_string(arrow.key_type):
        value = arrow.item_field
        return {"type": "map", "values": _union(value.type, name, namespace, nullable=value.nullable)}
    raise SchemaError(f"Column '{name}' has type {arrow}, which a Hudi table cannot store.")


def _decimal(arrow: pa.Decimal128Type, namespace: str) -> dict[str, Any]:
    bits = (10**arrow.precision - 1).bit_length() + 1
    return {
        "type": "fixed",
        "name": "fixed",
        "namespace": namespace,
        "size": -(-bits // 8),
        "logicalType": "decimal",
        "precision": arrow.precision,
        "scale": arrow.scale,
    }


def _mask_nulls(table_name: str) -> str:
    masked = re.sub(r"\W", "__", table_name)
    return re.sub(r"^\d", "__", masked)


def _load(avro_json: str) -> dict[str, Any]:
    try:
        record = json.loads(avro_json)
    except ValueError as error:
        raise CorruptTableError(f"The table's Avro schema is no JSON ({error}): {avro_json[:200]}") from error
    if not isinstance(record, dict) or record.get("type") != "record" or not isinstance(record.get("fields"), list):
        raise CorruptTableError(f"The table's Avro schema is not a record: {avro_json[:200]}")
    return record


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)
