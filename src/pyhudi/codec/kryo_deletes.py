"""Lists of delete blocks of versions 1 and 2, which releases up to 0.13 wrote with Kryo.

Rules: bytes that Hudi 0.9, 0.12 and 0.13 wrote (`docs/design/0060-log-format.md`). Version 1 is an array of
(partition path, record key), version 2 an array of those with an ordering value. Only these shapes are read, by the
names of their classes; anything else is refused, so that no bytes can choose what is made of them.

In Kryo's stream an object is its class, then either the number of an object that came before or its fields. A class is
a number, or at its first use its name.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from pyhudi.codec.ordering_value import decimal_of
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.delete_record import COMMIT_TIME_DELETE, DeletedKeys

_KEY: Final = "org.apache.hudi.common.model.HoodieKey"
_DELETE: Final = "org.apache.hudi.common.model.DeleteRecord"
_UTF8: Final = "org.apache.avro.util.Utf8"
#: Classes that Kryo, or Hudi's use of it, numbers; the last three are one class in 0.12, 0.13 and 1.x.
_NUMBERED = {0: "int", 1: "String", 2: "float", 3: "boolean", 7: "long", 8: "double", 10: _UTF8, 27: _UTF8, 44: _UTF8}

_FLOAT = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")
_MOST_SCALE = 1000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_HALF_A_DAY = dt.timedelta(hours=12)
_NEW = object()


def decode_kryo_deletes(data: bytes, at: int, version: int) -> DeletedKeys:
    """Return the deletes that stand in `data` from `at` to its end.

    Raises:
        UnsupportedError: a class that is not known here.
        CorruptTableError: the bytes are not such an array.
    """
    stream = _Stream(data, at)
    try:
        deleted = _array_of_keys(stream) if version == 1 else _array_of_deletes(stream)
    except (IndexError, struct.error):
        raise CorruptTableError("a delete block ends within its list") from None
    except (UnicodeError, ArithmeticError, ValueError) as error:
        raise CorruptTableError(f"a delete block holds a text or date that is none ({error})") from None
    if stream.at != len(data):
        raise CorruptTableError(f"a delete block has {len(data) - stream.at} bytes behind its list")
    return deleted


class _Stream:
    """Kryo's stream: a place in it, the names and objects met so far."""

    __slots__ = ("_names", "_objects", "at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self._names: list[str] = []
        self._objects: list[object] = []

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """Read a number of 7 bits a byte; a ninth byte has 8."""
        value = shift = 0
        while True:
            byte = self.byte()
            if shift == 56:
                return value | byte << shift
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def take(self, length: int) -> bytes:
        if not 0 <= length <= len(self.data) - self.at:
            raise IndexError
        self.at += length
        return self.data[self.at - length : self.at]

    def string(self) -> str:
        """Read a text: short ASCII ends with a byte of which the highest bit is set, others tell their length."""
        first = self.data[self.at]
        if first < 0x80:
            length = 1
            while self.data[self.at + length - 1] < 0x80:
                length += 1
            raw = self.take(length)
            return (raw[:-1] + bytes((raw[-1] & 0x7F,))).decode("ascii")
        length, shift = self.byte() & 0x7F, 6
        if length >= 0x40:
            length &= 0x3F
            while True:
                byte = self.byte()
                length |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 or shift > 32:
                    break
        if length == 0:
            raise CorruptTableError("a delete block holds a text that is null")
        return self._units(length - 1)

    def _units(self, count: int) -> str:
        """Read that many UTF-16 code units of one to three bytes each."""
        raw = self.data[self.at : self.at + count]
        if raw.isascii():
            return self.take(count).decode("ascii")
        begin = self.at
        for _ in range(count):
            lead = self.data[self.at]
            self.at += 1 if lead < 0x80 else 2 if lead < 0xE0 else 3
        if self.at > len(self.data):
            raise IndexError
        text = self.data[begin : self.at].decode("utf-8", "surrogatepass")
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")

    def class_name(self) -> str | None:
        """Read a class; None where the object is null."""
        marker = self.number()
        if marker == 0:
            return None
        if marker > 1:
            return _NUMBERED.get(marker - 2, f"number {marker - 2}")
        place = self.number()
        if place == len(self._names):
            self._names.append(self.string())
        return self._names[place]

    def expect(self, *names: str) -> str:
        """Read a class that must be one of these."""
        name = self.class_name()
        if name not in names:
            raise UnsupportedError(f"a delete block holds an object of class {name}, pyhudi reads {' or '.join(names)}")
        return name

    def known(self) -> object:
        """Read whether an object came before: that object, None, or `_NEW`."""
        marker = self.number()
        return None if marker == 0 else _NEW if marker == 1 else self._objects[marker - 2]

    def reserve(self) -> int:
        """Give the next number to an object whose fields follow."""
        self._objects.append(None)
        return len(self._objects) - 1

    def keep(self, place: int, value: object) -> None:
        """Say what the object of that number is."""
        self._objects[place] = value

    def text(self) -> str | None:
        """Read a text that may have come before."""
        found = self.known()
        if found is _NEW:
            place = self.reserve()
            found = self.string()
            self.keep(place, found)
        if found is not None and not isinstance(found, str):
            raise CorruptTableError("a delete block refers to something else where a text must be")
        return found


def _begin_array(stream: _Stream, element: str) -> int:
    """Read up to the array's elements and return how many there are."""
    stream.expect(f"[L{element};")
    if stream.known() is not _NEW:
        raise CorruptTableError("a delete block's list is null")
    stream.reserve()
    count = stream.number() - 1
    # Each element takes two bytes at least.
    if not 0 <= count <= (len(stream.data) - stream.at) // 2:
        raise CorruptTableError(f"a delete block says that it has {count} deletes in {len(stream.data) - stream.at} bytes")
    return count


def _array_of_keys(stream: _Stream) -> DeletedKeys:
    pairs = [_key(stream) for _ in range(_begin_array(stream, _KEY))]
    return DeletedKeys(
        keys=tuple(key for key, _ in pairs),
        partition_paths=tuple(path for _, path in pairs),
        ordering=(COMMIT_TIME_DELETE,) * len(pairs),
    )


def _array_of_deletes(stream: _Stream) -> DeletedKeys:
    deletes = [_delete(stream) for _ in range(_begin_array(stream, _DELETE))]
    return DeletedKeys(
        keys=tuple(key for (key, _), _ in deletes),
        partition_paths=tuple(path for (_, path), _ in deletes),
        ordering=tuple(value for _, value in deletes),
    )


def _delete(stream: _Stream) -> tuple[tuple[str, str | None], object]:
    stream.expect(_DELETE)
    found = stream.known()
    if found is _NEW:
        place = stream.reserve()
        found = _key(stream), _ordering(stream)
        stream.keep(place, found)
    match found:
        case ((str(key), str() | None as path), value):
            return (key, path), value
    raise CorruptTableError("a delete block refers to something else where a delete must be")


def _key(stream: _Stream) -> tuple[str, str | None]:
    stream.expect(_KEY)
    found = stream.known()
    if found is _NEW:
        place = stream.reserve()
        path = stream.text()
        found = stream.text(), path
        stream.keep(place, found)
    match found:
        case (str(key), str() | None as path):
            return key, path
    raise CorruptTableError("a delete block has a delete without record key")


def _ordering(stream: _Stream) -> object:
    name = stream.class_name()
    if name is None:
        return None
    if name in _PLAIN:
        return _PLAIN[name](stream)
    if name == "String":
        return stream.text()
    read = _OBJECTS.get(name)
    if read is None:
        raise UnsupportedError(f"a delete block holds an ordering value of class {name}, which pyhudi does not read")
    found = stream.known()
    if found is _NEW:
        place = stream.reserve()
        found = read(stream)
        stream.keep(place, found)
    return found


def _integer(stream: _Stream) -> int:
    return stream.signed() or COMMIT_TIME_DELETE


def _float(stream: _Stream) -> object:
    return _FLOAT.unpack(stream.take(_FLOAT.size))[0]


def _double(stream: _Stream) -> object:
    return _DOUBLE.unpack(stream.take(_DOUBLE.size))[0]


def _utf8(stream: _Stream) -> str:
    return stream.take(stream.number() - 1).decode()


def _decimal(stream: _Stream) -> Decimal:
    unscaled, scale = stream.take(stream.number() - 1), stream.signed()
    if abs(scale) > _MOST_SCALE:
        raise CorruptTableError(f"a delete block holds a decimal of scale {scale}")
    return decimal_of(unscaled, scale)


def _timestamp(stream: _Stream) -> dt.datetime:
    """Read a time of whole milliseconds: Kryo drops the rest."""
    millis = stream.number()
    return _EPOCH + dt.timedelta(milliseconds=millis - (1 << 64) if millis >> 63 else millis)


def _date(stream: _Stream) -> dt.date:
    """Read a day as the instant of its midnight in the writer's zone, which is not known: the nearest one of UTC."""
    return (_timestamp(stream) + _HALF_A_DAY).date()


def _local_date(stream: _Stream) -> dt.date:
    return dt.date(stream.number(), stream.byte(), stream.byte())


_PLAIN: Mapping[str, Callable[[_Stream], object]] = {
    "int": _integer,
    "long": _Stream.signed,
    "float": _float,
    "double": _double,
    "boolean": lambda stream: stream.byte() == 1,
}
_OBJECTS: Mapping[str, Callable[[_Stream], object]] = {
    _UTF8: _utf8,
    "java.math.BigDecimal": _decimal,
    "java.sql.Date": _date,
    "java.sql.Timestamp": _timestamp,
    "java.time.LocalDate": _local_date,
}
