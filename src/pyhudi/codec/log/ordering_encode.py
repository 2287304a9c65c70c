"""Writing one ordering value of a delete, in the form that Apache Hudi's readers compare with the column.

Rules: as in `ordering_value`.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Sequence
from decimal import Context, Decimal

from pyhudi.codec.varint import prefix_length, write_varint
from pyhudi.errors import SchemaError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, OrderingType

_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_DECIMAL_SCALE = 15
_EXACT = Context(prec=80)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)


def encode_ordering(value: object, types: Sequence[OrderingType]) -> bytes:
    """Return the bytes of an ordering value.

    Null is less than every value of a column; Apache Hudi's readers fail over one, so that it is written as the least
    value of its type.

    Args:
        value: as in `DeletedKeys`.
        types: what the ordering fields are on disk; a tuple of values needs one for each. As INT a day counts from
            1970, as LONG a time in microseconds; Apache Hudi writes and compares columns of days and times so. Without
            types there is nothing to compare: a null then is a delete by commit time.

    Raises:
        SchemaError: the value is not of its type.
    """
    if value is COMMIT_TIME_DELETE or (value is None and not types):
        return write_varint(OrderingType.INT) + b"\x00"
    if not isinstance(value, tuple) and len(types) > 1:
        value = (None,) * len(types) if value is None else (value,)
    if not isinstance(value, tuple):
        return _encode_single(value, types[0] if types else None)
    if len(value) != len(types):
        raise SchemaError(f"the ordering value {value!r} of a delete does not fit {len(types)} ordering fields")
    parts = [_encode_single(one, kind) for one, kind in zip(value, types, strict=True)]
    return b"".join((write_varint(OrderingType.SEVERAL), write_varint(1), write_varint(len(parts)), *parts, b"\x00"))


def _encode_single(value: object, kind: OrderingType | None) -> bytes:
    encode = _ENCODERS.get(kind) if kind is not None else None
    if kind is None or encode is None:
        raise SchemaError(f"the ordering value {value!r} of a delete needs a type, not {kind}")
    try:
        return write_varint(kind) + encode(_LEAST[kind] if value is None else value)
    except (TypeError, ValueError, AttributeError, ArithmeticError, struct.error):
        raise SchemaError(f"the ordering value {value!r} of a delete is not a {kind.name.lower()}") from None


def _encode_boolean(value: object) -> bytes:
    if not isinstance(value, bool):
        raise TypeError
    return b"\x01" if value else b"\x00"


def _encode_int(value: object) -> bytes:
    return _integer(_days(value) if isinstance(value, dt.date) else value, 32)


def _encode_long(value: object) -> bytes:
    return _integer(_micros(value) if isinstance(value, dt.datetime) else value, 64)


def _integer(value: object, bits: int) -> bytes:
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise TypeError
    return write_varint(value)


def _days(value: object) -> int:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise TypeError
    return value.toordinal() - _FIRST_DAY


def _micros(value: object) -> int:
    """Return microseconds since 1970; a time without zone counts as one of UTC."""
    if not isinstance(value, dt.datetime):
        raise TypeError
    return (value - (_EPOCH if value.tzinfo else _EPOCH.replace(tzinfo=None))) // _MICROSECOND


def _real_of(form: struct.Struct) -> Callable[[object], bytes]:
    def encode(value: object) -> bytes:
        return form.pack(value)

    return encode


def _encode_bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError
    return prefix_length(value)


def _encode_string(value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError
    return prefix_length(value.encode())


def _encode_date(value: object) -> bytes:
    return write_varint(_days(value))


def _encode_decimal(value: object) -> bytes:
    if not isinstance(value, Decimal):
        raise TypeError
    scaled = value.scaleb(_DECIMAL_SCALE, _EXACT)
    unscaled = int(scaled)
    if unscaled != scaled:
        raise ValueError
    return prefix_length(unscaled.to_bytes((unscaled + (unscaled < 0)).bit_length() // 8 + 1, "big", signed=True))


def _encode_time(value: object) -> bytes:
    if not isinstance(value, dt.time):
        raise TypeError
    of_day = dt.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return write_varint(of_day // _MICROSECOND)


def _encode_timestamp(value: object) -> bytes:
    return write_varint(_micros(value))


_ENCODERS: dict[OrderingType, Callable[[object], bytes]] = {
    OrderingType.BOOLEAN: _encode_boolean,
    OrderingType.INT: _encode_int,
    OrderingType.LONG: _encode_long,
    OrderingType.FLOAT: _real_of(_FLOAT),
    OrderingType.DOUBLE: _real_of(_DOUBLE),
    OrderingType.BYTES: _encode_bytes,
    OrderingType.STRING: _encode_string,
    OrderingType.DATE: _encode_date,
    OrderingType.DECIMAL: _encode_decimal,
    OrderingType.TIME: _encode_time,
    OrderingType.TIMESTAMP: _encode_timestamp,
}
#: What stands for null. A decimal of more digits than Spark has would be one more value that cannot be read.
_LEAST: dict[OrderingType, object] = {
    OrderingType.BOOLEAN: False,
    OrderingType.INT: -(1 << 31),
    OrderingType.LONG: -(1 << 63),
    OrderingType.FLOAT: float("-inf"),
    OrderingType.DOUBLE: float("-inf"),
    OrderingType.BYTES: b"",
    OrderingType.STRING: "",
    OrderingType.DATE: dt.date.min,
    OrderingType.DECIMAL: Decimal(1 - 10**23),
    OrderingType.TIME: dt.time.min,
    OrderingType.TIMESTAMP: dt.datetime.min.replace(tzinfo=dt.UTC),
}
