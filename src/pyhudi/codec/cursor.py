"""Reading forward through bytes of unknown honesty: every length is checked against what is left before it is used."""

from __future__ import annotations

import struct

from pyhudi.errors import CorruptTableError

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_MAX_VARINT_BYTES = 10


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
        """Return a number as Avro writes it: seven bits a byte, zig-zag."""
        value = 0
        for shift in range(0, 7 * _MAX_VARINT_BYTES, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise CorruptTableError(f"{self.what} holds an overlong number before {self.at}")
