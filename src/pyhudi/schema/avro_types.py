"""Avro types read as Arrow types: every schema that Hudi's writers leave in commits and footers.

Rules: Avro 1.11 specification (names are resolved against the enclosing namespace), Hudi's `HoodieAvroUtils` for the
null that may be first or last in a union.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pyhudi.errors import UnsupportedError

#: Key of a column's comment among the metadata of its Arrow field.
COMMENT = b"comment"

_PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
}
_LOGICAL = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}


def read_type(avro: Any) -> pa.DataType:
    """Return the Arrow type of a parsed Avro schema; a record becomes a struct.

    Raises:
        UnsupportedError: a union of several types, or a type unknown to Avro.
    """
    arrow, _ = _TypeReader().read(avro, "")
    return arrow


class _TypeReader:
    """Reads one schema; remembers named types, which later places may call by name."""

    def __init__(self) -> None:
        self._named: dict[str, pa.DataType] = {}

    def read(self, avro: Any, namespace: str) -> tuple[pa.DataType, bool]:
        """Return type and whether null is allowed."""
        if isinstance(avro, list):
            branches = [branch for branch in avro if branch != "null"]
            if len(branches) > 1:
                raise UnsupportedError(f"The table's schema holds a union of several types, {branches}; it is not served.")
            arrow = self.read(branches[0], namespace)[0] if branches else pa.null()
            return arrow, len(branches) < len(avro)
        if isinstance(avro, str):
            return self._by_name(avro, namespace), avro == "null"
        return self._complex(avro, namespace), False

    def _by_name(self, name: str, namespace: str) -> pa.DataType:
        if name in _PRIMITIVES:
            return _PRIMITIVES[name]
        match = self._named.get(f"{namespace}.{name}" if namespace and "." not in name else name)
        if match is None:
            raise UnsupportedError(f"The table's schema holds the unknown type '{name}'; it is not served.")
        return match

    def _complex(self, avro: dict[str, Any], namespace: str) -> pa.DataType:
        kind = avro["type"]
        logical = avro.get("logicalType")
        if logical == "decimal":
            return self._remember(avro, namespace, pa.decimal128(avro["precision"], avro.get("scale", 0)))
        if logical in _LOGICAL:
            return _LOGICAL[logical]
        if kind == "record":
            return self._record(avro, namespace)
        if kind == "array":
            item, nullable = self.read(avro["items"], namespace)
            return pa.list_(pa.field("element", item, nullable=nullable))
        if kind == "map":
            value, nullable = self.read(avro["values"], namespace)
            return pa.map_(pa.string(), pa.field("value", value, nullable=nullable))
        if kind == "fixed":
            return self._remember(avro, namespace, pa.binary())
        if kind == "enum":
            return self._remember(avro, namespace, pa.string())
        return self.read(kind, namespace)[0]

    def _record(self, avro: dict[str, Any], namespace: str) -> pa.DataType:
        inner = _space(avro, namespace)
        fields = []
        for field in avro["fields"]:
            arrow, nullable = self.read(field["type"], inner)
            comment = {COMMENT: str(field["doc"]).encode()} if field.get("doc") else None
            fields.append(pa.field(field["name"], arrow, nullable=nullable, metadata=comment))
        return self._remember(avro, namespace, pa.struct(fields))

    def _remember(self, avro: dict[str, Any], namespace: str, arrow: pa.DataType) -> pa.DataType:
        if "name" in avro:
            space = _space(avro, namespace)
            name = str(avro["name"]).rsplit(".", 1)[-1]
            self._named[f"{space}.{name}" if space else name] = arrow
        return arrow


def _space(avro: dict[str, Any], enclosing: str) -> str:
    name = str(avro.get("name", ""))
    return name.rsplit(".", 1)[0] if "." in name else avro.get("namespace", enclosing)
