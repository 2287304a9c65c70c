"""One ordering value of a delete, from and to its place in the union of wrapper records.

Rules: `HoodieDeleteRecord.avsc`, `OrderingValues`; `docs/design/0060-log-format.md` has what Apache Hudi writes. A
wrapper record has one field and thus no bytes of its own: the branch of the union, then the value.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Sequence
from decimal import Context, Decimal

from pyhudi.errors import CorruptTableError, SchemaError, UnsupportedError
from pyhudi.spec.delete_record import COMMIT_TIME_DELETE, OrderingType

_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_DECIMAL_SCALE = 15
_MOST_DECIMAL_BYTES = 32
_EXACT = Context(prec=80)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)
_MOST_VARINT_BYTES = 10
#: Among several values the branch after the last is one more way to write a day.
_DATE_AMONG_SEVERAL = 12
#: Several fields make a list of at most this many values; nobody orders by more.
_MOST_FIELDS = 1024


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number as Avro writes it and the place behind it; IndexError when the bytes end within."""
    value = 0
    for place in range(_MOST_VARINT_BYTES):
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise CorruptTableError(f"an overlong number at byte {at} of a delete block")


def varint(value: int) -> bytes:
    """Return a number as Avro writes it."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Return bytes that stand behind their length, and the place behind them."""
    length, at = read_varint(data, at)
    if not 0 <= length <= len(data) - at:
        raise CorruptTableError(f"a text of {length} bytes at byte {at} of a delete block, {len(data) - at} are left")
    return data[at : at + length], at + length


def decimal_of(unscaled: bytes, scale: int) -> Decimal:
    """Return a decimal whose digits are a big-endian number."""
    if len(unscaled) > _MOST_DECIMAL_BYTES:
        raise CorruptTableError(f"a decimal of {len(unscaled)} bytes in a delete block")
    return Decimal(int.from_bytes(unscaled, "big", signed=True)).scaleb(-scale, _EXACT)


def read_ordering(data: bytes, at: int) -> tuple[object, int]:
    """Return an ordering value and the place behind it; IndexError when the bytes end within."""
    branch, at = read_varint(data, at)
    if branch == OrderingType.SEVERAL:
        return _read_several(data, at)
    value, at = _read_single(data, at, branch)
    return COMMIT_TIME_DELETE if branch == OrderingType.INT and value == 0 else value, at


def _read_several(data: bytes, at: int) -> tuple[tuple[object, ...] | None, int]:
    """Read the nullable array of values."""
    branch, at = read_varint(data, at)
    if branch == 0:
        return None, at
    values: list[object] = []
    while True:
        count, at = read_varint(data, at)
        if count < 0:
            _, at = read_varint(data, at)
        if count == 0:
            return tuple(values), at
        if len(values) + abs(count) > _MOST_FIELDS:
            raise CorruptTableError(f"{abs(count)} ordering values of one delete")
        for _ in range(abs(count)):
            branch, at = read_varint(data, at)
            value, at = _read_single(data, at, OrderingType.DATE if branch == _DATE_AMONG_SEVERAL else branch)
            values.append(value)


def _read_single(data: bytes, at: int, branch: int) -> tuple[object, int]:
    match branch:
        case OrderingType.NULL:
            return None, at
        case OrderingType.FLOAT:
            return _FLOAT.unpack_from(data, at)[0], at + _FLOAT.size
        case OrderingType.DOUBLE:
            return _DOUBLE.unpack_from(data, at)[0], at + _DOUBLE.size
        case OrderingType.BYTES:
            return read_bytes(data, at)
        case OrderingType.STRING:
            raw, at = read_bytes(data, at)
            return raw.decode(), at
        case OrderingType.DECIMAL:
            raw, at = read_bytes(data, at)
            return decimal_of(raw, _DECIMAL_SCALE), at
    number, at = read_varint(data, at)
    match branch:
        case OrderingType.BOOLEAN:
            return bool(number), at
        case OrderingType.INT | OrderingType.LONG:
            return number, at
        case OrderingType.DATE | OrderingType.TIME | OrderingType.TIMESTAMP:
            return _moment(number, branch), at
    raise UnsupportedError(f"type {branch} of an ordering value in a delete block; a newer Hudi wrote it")


def _moment(number: int, branch: int) -> dt.date | dt.time | dt.datetime:
    try:
        if branch == OrderingType.DATE:
            return dt.date.fromordinal(_FIRST_DAY + number)
        moment = _EPOCH + number * _MICROSECOND
    except (OverflowError, ValueError):
        raise UnsupportedError(f"the ordering value {number} of a delete is a day or time outside the years 1 to 9999") from None
    return moment.time() if branch == OrderingType.TIME else moment


def encode_ordering(value: object, types: Sequence[OrderingType]) -> bytes:
    """Return the bytes of an ordering value.

    Args:
        value: as in `DeletedKeys`.
        types: what the ordering fields are on disk; a tuple of values needs one for each.

    Raises:
        SchemaError: the value is not of its type.
    """
    if value is COMMIT_TIME_DELETE:
        return varint(OrderingType.INT) + b"\x00"
    if not isinstance(value, tuple):
        return _encode_single(value, types[0] if types else None)
    if len(value) != len(types):
        raise SchemaError(f"{len(value)} ordering values of a delete for {len(types)} ordering fields")
    parts = [_encode_single(one, kind) for one, kind in zip(value, types, strict=True)]
    return b"".join((varint(OrderingType.SEVERAL), varint(1), varint(len(parts)) if parts else b"", *parts, b"\x00"))


def _encode_single(value: object, kind: OrderingType | None) -> bytes:
    if value is None:
        return varint(OrderingType.NULL)
    encode = _ENCODERS.get(kind) if kind is not None else None
    if kind is None or encode is None:
        raise SchemaError(f"the ordering value {value!r} of a delete needs a type, not {kind}")
    try:
        return varint(kind) + encode(value)
    except (TypeError, ValueError, AttributeError, ArithmeticError, struct.error):
        raise SchemaError(f"the ordering value {value!r} of a delete is not a {kind.name.lower()}") from None


def _encode_boolean(value: object) -> bytes:
    if not isinstance(value, bool):
        raise TypeError
    return b"\x01" if value else b"\x00"


def _integer_of(bits: int) -> Callable[[object], bytes]:
    def encode(value: object) -> bytes:
        if not isinstance(value, int) or isinstance(value, bool) or not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise TypeError
        return varint(value)

    return encode


def _real_of(form: struct.Struct) -> Callable[[object], bytes]:
    def encode(value: object) -> bytes:
        return form.pack(value)

    return encode


def _sized(raw: bytes) -> bytes:
    return varint(len(raw)) + raw


def _encode_bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError
    return _sized(value)


def _encode_string(value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError
    return _sized(value.encode())


def _encode_date(value: object) -> bytes:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise TypeError
    return varint(value.toordinal() - _FIRST_DAY)


def _encode_decimal(value: object) -> bytes:
    if not isinstance(value, Decimal):
        raise TypeError
    scaled = value.scaleb(_DECIMAL_SCALE, _EXACT)
    unscaled = int(scaled)
    if unscaled != scaled:
        raise ValueError
    return _sized(unscaled.to_bytes((unscaled + (unscaled < 0)).bit_length() // 8 + 1, "big", signed=True))


def _encode_time(value: object) -> bytes:
    if not isinstance(value, dt.time):
        raise TypeError
    of_day = dt.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return varint(of_day // _MICROSECOND)


def _encode_timestamp(value: object) -> bytes:
    if not isinstance(value, dt.datetime):
        raise TypeError
    return varint((value - _EPOCH) // _MICROSECOND)


_ENCODERS: dict[OrderingType, Callable[[object], bytes]] = {
    OrderingType.BOOLEAN: _encode_boolean,
    OrderingType.INT: _integer_of(32),
    OrderingType.LONG: _integer_of(64),
    OrderingType.FLOAT: _real_of(_FLOAT),
    OrderingType.DOUBLE: _real_of(_DOUBLE),
    OrderingType.BYTES: _encode_bytes,
    OrderingType.STRING: _encode_string,
    OrderingType.DATE: _encode_date,
    OrderingType.DECIMAL: _encode_decimal,
    OrderingType.TIME: _encode_time,
    OrderingType.TIMESTAMP: _encode_timestamp,
}
