"""Kryo's stream, as far as lists of deletes need it.

An object is its class, then either the number of an object that came before or its fields. A class is a number, or at
its first use its name. Nothing here makes an object of a class: who reads says which classes may come, and how their
fields are read.
"""

from __future__ import annotations

from typing import Final

from pyhudi.errors import CorruptTableError, UnsupportedError

UTF8: Final = "org.apache.avro.util.Utf8"
#: What `KryoStream.known` returns for an object that did not come before.
NEW: Final = object()
#: Classes that Kryo, or Hudi's use of it, numbers; the last three are one class in 0.12, 0.13 and 1.x.
_NUMBERED = {0: "int", 1: "String", 2: "float", 3: "boolean", 7: "long", 8: "double", 10: UTF8, 27: UTF8, 44: UTF8}


class KryoStream:
    """A place in the stream, the names and objects met so far. Reading behind the end raises IndexError."""

    __slots__ = ("_names", "_objects", "at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self._names: list[str] = []
        self._objects: list[object] = []

    def byte(self) -> int:
        """Read one byte."""
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
        """Read a number whose lowest bit is its sign."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def take(self, length: int) -> bytes:
        """Read that many bytes."""
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
        length = self.byte() & 0x7F
        if length >= 0x40:
            length = (length & 0x3F) | self.number() << 6
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
        index = self.number()
        if index == len(self._names):
            self._names.append(self.string())
        return self._names[index]

    def expect(self, *names: str) -> str:
        """Read a class that must be one of these."""
        name = self.class_name()
        if name not in names:
            raise UnsupportedError(f"a delete block holds an object of class {name!s:.100}, pyhudi reads {' or '.join(names)}")
        return name

    def known(self) -> object:
        """Read whether an object came before: that object, None, or `NEW`."""
        marker = self.number()
        return None if marker == 0 else NEW if marker == 1 else self._objects[marker - 2]

    def reserve(self) -> int:
        """Give the next number to an object whose fields follow."""
        self._objects.append(None)
        return len(self._objects) - 1

    def keep(self, position: int, value: object) -> None:
        """Say what the object of that number is."""
        self._objects[position] = value

    def text(self) -> str | None:
        """Read a text that may have come before."""
        result = self.known()
        if result is NEW:
            index = self.reserve()
            result = self.string()
            self.keep(index, result)
        if result is not None and not isinstance(result, str):
            raise CorruptTableError("a delete block refers to something else where a text must be")
        return result
