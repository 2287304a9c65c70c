"""A seekable file over an object, read by few requests.

The first request takes the part that readers begin with, and tells the length: the end of a Parquet file or an HFile, the beginning of all
others. Small files are read by it alone. Later reads fetch what is asked, and more of it the longer a file is read on.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

_FIRST_BYTES: Final = 256 * 1024
_MOST_AHEAD_BYTES: Final = 8 * 1024 * 1024


class RangeReader(Protocol):
    """Reads parts of one object."""

    def first(self, length: int, *, from_end: bool) -> tuple[int, bytes]:
        """Return the size of the object, and at most `length` bytes from its beginning or its end.

        Raises:
            FileNotFoundError: there is no such object.
        """
        ...

    def part(self, begin: int, end: int) -> bytes:
        """Return the bytes from `begin` up to `end`."""
        ...


@dataclass(slots=True)
class _Window:
    """Bytes of the object that were fetched last, from `begin` on."""

    begin: int
    data: bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.data)

    def part(self, begin: int, end: int) -> bytes | None:
        """Return a part of the object, None where the window does not have it whole."""
        if begin < self.begin or end > self.end:
            return None
        return self.data[begin - self.begin : end - self.begin]


class RangedInput(io.RawIOBase):
    """An object as a file that is read at any position."""

    def __init__(self, reader: RangeReader, *, from_end: bool) -> None:
        """Make the first request.

        Raises:
            FileNotFoundError: there is no such object.
        """
        self._reader = reader
        self._size, data = reader.first(_FIRST_BYTES, from_end=from_end)
        self._first = self._last = _Window(self._size - len(data) if from_end else 0, data)
        self._position = 0
        self._ahead = _FIRST_BYTES

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can be read at any position."""
        return True

    def tell(self) -> int:
        """Return the position of the next read."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, relative to the beginning, the position, or the end."""
        begins: dict[int, Callable[[], int]] = {0: lambda: 0, 1: lambda: self._position, 2: lambda: self._size}
        position = begins[whence]() + offset
        if position < 0:
            raise ValueError(f"negative position {position}")
        self._position = position
        return position

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes: as many as asked, unless the object ends before; all others without a size."""
        length = self._size if size is None or size < 0 else size
        begin, end = self._position, min(self._position + length, self._size)
        if begin >= end:
            return b""
        data = self._first.part(begin, end) or self._last.part(begin, end) or self._fetch(begin, end)
        self._position = begin + len(data)
        return data

    def readall(self) -> bytes:
        """Return all that follows."""
        return self.read()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer; returns the number of bytes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _fetch(self, begin: int, end: int) -> bytes:
        """Fetch a part; one that continues the last is followed by ever more of what comes next."""
        if begin != self._last.end:
            self._ahead = _FIRST_BYTES
            until = end
        else:
            self._ahead = min(self._ahead * 2, _MOST_AHEAD_BYTES)
            until = min(max(end, begin + self._ahead), self._size)
        self._last = _Window(begin, self._reader.part(begin, until))
        return self._last.data[: end - begin]
