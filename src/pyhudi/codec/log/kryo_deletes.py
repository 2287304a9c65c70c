"""Lists of delete blocks of versions 1 and 2, which releases up to 0.13 wrote with Kryo.

Rules: bytes that Hudi 0.9, 0.12 and 0.13 wrote (`docs/design/0060-log-format.md`). Version 1 is an array of
(partition path, record key), version 2 an array of those with an ordering value. Only these shapes are read, by the
names of their classes; anything else is refused, so that no bytes can choose what is made of them.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from pyhudi.codec.log.ordering_decode import decimal_of
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.javacompat.kryo_stream import NEW, UTF8, KryoStream
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys

_KEY: Final = "org.apache.hudi.common.model.HoodieKey"
_DELETE: Final = "org.apache.hudi.common.model.DeleteRecord"
_FLOAT = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")
_MOST_SCALE = 1000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_HALF_A_DAY = dt.timedelta(hours=12)


def decode_kryo_deletes(data: bytes, at: int, version: int) -> DeletedKeys:
    """Return the deletes that are in `data` from `at` to its end.

    Raises:
        UnsupportedError: a class that is not known here.
        CorruptTableError: the bytes are not such an array.
    """
    stream = KryoStream(data, at)
    try:
        deleted = _array_of_keys(stream) if version == 1 else _array_of_deletes(stream)
    except (IndexError, struct.error):
        raise CorruptTableError("a delete block ends within its list") from None
    except (UnicodeError, ArithmeticError, ValueError) as error:
        raise CorruptTableError(f"a delete block holds a text or date that is none ({error})") from None
    if stream.at != len(data):
        raise CorruptTableError(f"a delete block has {len(data) - stream.at} bytes behind its list")
    return deleted


def _begin_array(stream: KryoStream, element: str) -> int:
    """Read up to the array's elements and return how many there are."""
    stream.expect(f"[L{element};")
    if stream.known() is not NEW:
        raise CorruptTableError("a delete block's list is null")
    stream.reserve()
    count = stream.number() - 1
    # Each element takes two bytes at least.
    if not 0 <= count <= (len(stream.data) - stream.at) // 2:
        raise CorruptTableError(f"a delete block says that it has {count} deletes in {len(stream.data) - stream.at} bytes")
    return count


def _array_of_keys(stream: KryoStream) -> DeletedKeys:
    pairs = [_key(stream) for _ in range(_begin_array(stream, _KEY))]
    return DeletedKeys(
        keys=tuple(key for key, _ in pairs),
        partition_paths=tuple(path for _, path in pairs),
        ordering=(COMMIT_TIME_DELETE,) * len(pairs),
    )


def _array_of_deletes(stream: KryoStream) -> DeletedKeys:
    deletes = [_delete(stream) for _ in range(_begin_array(stream, _DELETE))]
    return DeletedKeys(
        keys=tuple(key for (key, _), _ in deletes),
        partition_paths=tuple(path for (_, path), _ in deletes),
        ordering=tuple(value for _, value in deletes),
    )


def _delete(stream: KryoStream) -> tuple[tuple[str, str | None], object]:
    stream.expect(_DELETE)
    record = stream.known()
    if record is NEW:
        index = stream.reserve()
        record = _key(stream), _ordering(stream)
        stream.keep(index, record)
    match record:
        case ((str(key), str() | None as path), value):
            return (key, path), value
    raise CorruptTableError("a delete block refers to something else where a delete must be")


def _key(stream: KryoStream) -> tuple[str, str | None]:
    stream.expect(_KEY)
    path_and_key = stream.known()
    if path_and_key is NEW:
        index = stream.reserve()
        path = stream.text()
        path_and_key = stream.text(), path
        stream.keep(index, path_and_key)
    match path_and_key:
        case (str(key), str() | None as path):
            return key, path
    raise CorruptTableError("a delete block has a delete without record key")


def _ordering(stream: KryoStream) -> object:
    name = stream.class_name()
    if name is None:
        return None
    if name in _PLAIN:
        return _PLAIN[name](stream)
    if name == "String":
        return stream.text()
    read = _OBJECTS.get(name)
    if read is None:
        raise UnsupportedError(f"a delete block holds an ordering value of class {name:.100}, which pyhudi does not read")
    result = stream.known()
    if result is NEW:
        index = stream.reserve()
        result = read(stream)
        stream.keep(index, result)
    return result


def _integer(stream: KryoStream) -> int:
    return stream.signed() or COMMIT_TIME_DELETE


def _float(stream: KryoStream) -> object:
    return _FLOAT.unpack(stream.take(_FLOAT.size))[0]


def _double(stream: KryoStream) -> object:
    return _DOUBLE.unpack(stream.take(_DOUBLE.size))[0]


def _utf8(stream: KryoStream) -> str:
    return stream.take(stream.number() - 1).decode()


def _decimal(stream: KryoStream) -> Decimal:
    unscaled, scale = stream.take(stream.number() - 1), stream.signed()
    if abs(scale) > _MOST_SCALE:
        raise CorruptTableError(f"a delete block holds a decimal of scale {scale}")
    return decimal_of(unscaled, scale)


def _timestamp(stream: KryoStream) -> dt.datetime:
    """Read a time of whole milliseconds: Kryo drops the rest."""
    millis = stream.number()
    return _EPOCH + dt.timedelta(milliseconds=millis - (1 << 64) if millis >> 63 else millis)


def _date(stream: KryoStream) -> dt.date:
    """Read a day as the instant of its midnight in the writer's zone, which is not known: the nearest one of UTC."""
    return (_timestamp(stream) + _HALF_A_DAY).date()


def _local_date(stream: KryoStream) -> dt.date:
    return dt.date(stream.number(), stream.byte(), stream.byte())


_PLAIN: Mapping[str, Callable[[KryoStream], object]] = {
    "int": _integer,
    "long": KryoStream.signed,
    "float": _float,
    "double": _double,
    "boolean": lambda stream: stream.byte() == 1,
}
_OBJECTS: Mapping[str, Callable[[KryoStream], object]] = {
    UTF8: _utf8,
    "java.math.BigDecimal": _decimal,
    "java.sql.Date": _date,
    "java.sql.Timestamp": _timestamp,
    "java.time.LocalDate": _local_date,
}
