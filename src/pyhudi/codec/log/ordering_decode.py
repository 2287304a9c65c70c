"""Reading one ordering value of a delete from the union of wrapper records.

Rules: `HoodieDeleteRecord.avsc`, `OrderingValues`; `docs/design/0060-log-format.md` has what Apache Hudi writes. A
wrapper record has one field and thus no bytes of its own: the branch of the union, then the value.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from typing import TypeAlias

from pyhudi.codec.varint import read_varint
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, OrderingType

_Reader: TypeAlias = Callable[[bytes, int], tuple[object, int]]

_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_DECIMAL_SCALE = 15
_MOST_DECIMAL_BYTES = 32
_EXACT = Context(prec=80)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)
#: In several values the branch after the last is one more way to write a day.
_DATE_AMONG_SEVERAL = 12
#: Several fields make a list of at most this many values; nobody orders by more.
_MOST_FIELDS = 1024


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Return bytes that follow their length, and the place behind them."""
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
    read = _READERS.get(branch)
    if read is None:
        raise UnsupportedError(f"type {branch} of an ordering value in a delete block; a newer Hudi wrote it")
    return read(data, at)


def _read_null(_: bytes, at: int) -> tuple[object, int]:
    return None, at


def _read_boolean(data: bytes, at: int) -> tuple[object, int]:
    return data[at] != 0, at + 1


def _read_real(form: struct.Struct) -> _Reader:
    return lambda data, at: (form.unpack_from(data, at)[0], at + form.size)


def _read_text(data: bytes, at: int) -> tuple[object, int]:
    raw, at = read_bytes(data, at)
    return raw.decode(), at


def _read_decimal(data: bytes, at: int) -> tuple[object, int]:
    raw, at = read_bytes(data, at)
    return decimal_of(raw, _DECIMAL_SCALE), at


def _read_time(branch: int) -> _Reader:
    def read(data: bytes, at: int) -> tuple[object, int]:
        number, at = read_varint(data, at)
        return _to_time(number, branch), at

    return read


def _to_time(number: int, branch: int) -> dt.date | dt.time | dt.datetime:
    try:
        if branch == OrderingType.DATE:
            return dt.date.fromordinal(_FIRST_DAY + number)
        timestamp = _EPOCH + number * _MICROSECOND
    except (OverflowError, ValueError):
        raise UnsupportedError(f"the ordering value {number} of a delete is a day or time outside the years 1 to 9999") from None
    return timestamp.time() if branch == OrderingType.TIME else timestamp


_READERS: dict[int, _Reader] = {
    OrderingType.NULL: _read_null,
    OrderingType.BOOLEAN: _read_boolean,
    OrderingType.INT: read_varint,
    OrderingType.LONG: read_varint,
    OrderingType.FLOAT: _read_real(_FLOAT),
    OrderingType.DOUBLE: _read_real(_DOUBLE),
    OrderingType.BYTES: read_bytes,
    OrderingType.STRING: _read_text,
    OrderingType.DATE: _read_time(OrderingType.DATE),
    OrderingType.DECIMAL: _read_decimal,
    OrderingType.TIME: _read_time(OrderingType.TIME),
    OrderingType.TIMESTAMP: _read_time(OrderingType.TIMESTAMP),
}
