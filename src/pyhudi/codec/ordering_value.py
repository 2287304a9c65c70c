"""Reading one ordering value of a delete from the union of wrapper records.

Rules: `HoodieDeleteRecord.avsc`, `OrderingValues`; `docs/design/0060-log-format.md` has what Apache Hudi writes. A
wrapper record has one field and thus no bytes of its own: the branch of the union, then the value.
"""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Context, Decimal

from pyhudi.errors import CorruptTableError, UnsupportedError
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
