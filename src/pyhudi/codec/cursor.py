"""Reading forward through bytes of unknown honesty: every length is checked against what is left before it is used."""

from __future__ import annotations

import struct
from collections.abc import Callable

from pyhudi.codec.varint import read_unsigned, read_varint
from pyhudi.errors import CorruptTableError

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")


class Cursor:
    """A place in some bytes; `what` names them in errors."""

    __slots__ = ("at", "data", "what")

    def __init__(self, data: bytes, what: str, at: int = 0) -> None:
        self.data = data
        self.what = what
        self.at = at

    @property
    def left(self) -> int:
        """Number of bytes behind the place."""
        return len(self.data) - self.at

    def take(self, length: int) -> bytes:
        """Return the next bytes and step over them.

        Raises:
            CorruptTableError: so many are not left, or the length is negative.
        """
        if not 0 <= length <= self.left:
            raise CorruptTableError(f"{self.what} asks for {length} bytes at {self.at}, {self.left} are left")
        self.at += length
        return self.data[self.at - length : self.at]

    def read_int(self) -> int:
        """Return a big-endian 32-bit number."""
        return int(_INT.unpack(self.take(_INT.size))[0])

    def read_long(self) -> int:
        """Return a big-endian 64-bit number."""
        return int(_LONG.unpack(self.take(_LONG.size))[0])

    def read_varint(self) -> int:
        """Return a number as Avro writes it."""
        return self._number(read_varint)

    def read_unsigned(self) -> int:
        """Return a number as Protocol Buffers writes it; never negative."""
        return self._number(read_unsigned)

    def _number(self, read: Callable[[bytes, int], tuple[int, int]]) -> int:
        try:
            value, self.at = read(self.data, self.at)
        except IndexError:
            raise CorruptTableError(f"{self.what} ends within a number at {self.at}") from None
        except ValueError as error:
            raise CorruptTableError(f"{self.what} holds {error}") from None
        return value
