"""Bounds of column statistics, from and to the wrapper records that they are in on disk.

Rules: `ValueMetadata`, `HoodieAvroUtils.wrapValueIntoAvro`, `ParquetUtils.convertToNativeJavaType`;
docs/format/metadata-table.md#metadata-record. In indexes of V1 (tables before version 9) the wrapper's kind tells what the bound is; in V2
wrappers are of primitive types and the type is stored next to them. Apache Hudi writes timestamps and times of V1 as they are in Parquet,
that is, as LONG, and cannot unite them with bounds in `TimestampMicrosWrapper` (ClassCastException, seen with 1.2.0), which its schema has
and which are read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.record import ValueType

_NAMESPACE = "org.apache.hudi.avro.model."
_BY_WRAPPER = {
    "BooleanWrapper": ValueType.BOOLEAN,
    "IntWrapper": ValueType.INT,
    "LongWrapper": ValueType.LONG,
    "FloatWrapper": ValueType.FLOAT,
    "DoubleWrapper": ValueType.DOUBLE,
    "BytesWrapper": ValueType.BYTES,
    "StringWrapper": ValueType.STRING,
    "DateWrapper": ValueType.DATE,
    "DecimalWrapper": ValueType.DECIMAL,
    "TimeMicrosWrapper": ValueType.TIME_MICROS,
    "TimestampMicrosWrapper": ValueType.TIMESTAMP_MICROS,
    "LocalDateWrapper": ValueType.DATE,
}
#: The wrapper records in the order of the schema's union.
WRAPPERS: Final = tuple(_BY_WRAPPER)
_INTEGERS = frozenset({ValueType.INT, ValueType.DATE, ValueType.TIME_MILLIS})
_WRAPPERS = {
    ValueType.BOOLEAN: "BooleanWrapper",
    ValueType.FLOAT: "FloatWrapper",
    ValueType.DOUBLE: "DoubleWrapper",
    ValueType.BYTES: "BytesWrapper",
    ValueType.FIXED: "BytesWrapper",
    ValueType.DECIMAL: "BytesWrapper",
    ValueType.STRING: "StringWrapper",
    ValueType.UUID: "StringWrapper",
}
_V1_WRAPPERS = {ValueType.DATE: "DateWrapper", ValueType.DECIMAL: "DecimalWrapper"}


def decode_type(entry: Mapping[str, Any]) -> tuple[ValueType | None, str | None]:
    """Return the type that a statistics record names next to its bounds, and what more it says of it.

    Raises:
        CorruptTableError: the number is of no known type.
    """
    named = entry.get("valueType")
    if named is None:
        return None, None
    try:
        kind = ValueType(named["typeOrdinal"])
    except ValueError:
        raise CorruptTableError(f"column statistics have bounds of the unknown type {named['typeOrdinal']}") from None
    return (None if kind in (ValueType.V1, ValueType.NULL) else kind), named["additionalInfo"]


def decode_bound(wrapped: Any, kind: ValueType | None, info: str | None) -> tuple[ValueType | None, object]:
    """Return a bound's type and value; `wrapped` is the union's branch as (name, record), None for no bound."""
    if wrapped is None:
        return None, None
    name, fields = wrapped
    kind_of_wrapper = _BY_WRAPPER.get(str(name).rpartition(".")[2])
    if kind_of_wrapper is None:
        return None, None  # several values in one (ArrayWrapper): no single bound
    return typed_bound(kind_of_wrapper, fields["value"], kind, info)


def typed_bound(kind_of_wrapper: ValueType, value: Any, kind: ValueType | None, info: str | None) -> tuple[ValueType, object]:
    """Return the type and the value of a bound in a wrapper for bounds of a type; `kind` is the type that its record names."""
    return kind or kind_of_wrapper, _decimal(value, info) if kind is ValueType.DECIMAL else value


def kind_of_wrapper(name: str) -> ValueType | None:
    """Return the type of bounds in a wrapper whose record does not name one; None for no single bound."""
    return _BY_WRAPPER.get(name)


def encode_bound(value: object, kind: ValueType | None, info: str | None, *, with_type: bool) -> tuple[str, dict[str, object]] | None:
    """Return a bound as the union's branch; `with_type` is the way of indexes of V2."""
    if value is None or kind is None:
        return None
    if not with_type and kind in _V1_WRAPPERS:
        return _NAMESPACE + _V1_WRAPPERS[kind], {"value": value}
    if kind is ValueType.DECIMAL:
        assert isinstance(value, Decimal)
        value = _unscaled_value(value, info)
    wrapper = _WRAPPERS.get(kind) or ("IntWrapper" if kind in _INTEGERS else "LongWrapper")
    return _NAMESPACE + wrapper, {"value": value}


def _scale(info: str | None) -> int:
    try:
        return int((info or "").split(",")[1])
    except (IndexError, ValueError):
        raise CorruptTableError(f"column statistics have decimal bounds of precision and scale '{info}'") from None


def _decimal(value: object, info: str | None) -> Decimal:
    if not isinstance(value, bytes):
        raise CorruptTableError("column statistics have decimal bounds that are no bytes")
    number = int.from_bytes(value, "big", signed=True)
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -_scale(info)))


def _unscaled_value(value: Decimal, info: str | None) -> bytes:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    shift = exponent + _scale(info)
    number: int = int("".join(map(str, digits)) or "0") * 10**shift
    number = -number if sign else number
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)
