"""Reading here and there in a file, mostly forwards, in few reads.

Object stores charge by the request, so each read takes some bytes ahead. Two stretches are kept: the one being worked
through, and one further ahead whose bytes tell whether the first is whole.
"""

from __future__ import annotations

from typing import BinaryIO

from pyhudi.errors import CorruptTableError

_AHEAD = 16 << 10
_SEARCH = 1 << 20


class FileWindow:
    """The first `size` bytes of a file; `path` names it in messages."""

    __slots__ = ("_older", "_recent", "_source", "path", "size")

    def __init__(self, source: BinaryIO, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self._source = source
        self._recent: tuple[int, bytes] = (0, b"")
        self._older: tuple[int, bytes] = (0, b"")

    def read(self, at: int, length: int, *, probe_only: bool = False) -> bytes:
        """Return the bytes at a place, fewer where the file ends before.

        With `probe_only` nothing is read ahead or kept: the place is probably a wrong one.

        Raises:
            CorruptTableError: the file is shorter than it was said to be.
        """
        end = min(at + length, self.size)
        begin, data = self._recent
        if not (begin <= at and end <= begin + len(data)):
            begin, data = self._older
            if begin <= at and end <= begin + len(data):
                self._older, self._recent = self._recent, self._older
            elif probe_only:
                return self._load(at, end)
            else:
                begin, data = self._keep(at, max(end, at + _AHEAD))
        return data[at - begin : end - begin]

    def find(self, pattern: bytes, at: int, limit: int) -> int:
        """Return the next offset, from `at` on, of `pattern`; the file's size when there is none, `limit` when there is none before it."""
        while at + len(pattern) <= self.size:
            if at >= limit:
                return limit
            begin, data = self._recent
            if not begin <= at <= begin + len(data) - len(pattern):
                begin, data = self._keep(at, at + _SEARCH)
            match = data.find(pattern, at - begin)
            if match >= 0:
                return begin + match
            at = begin + len(data) - len(pattern) + 1
        return self.size

    def _keep(self, begin: int, end: int) -> tuple[int, bytes]:
        self._older, self._recent = self._recent, (begin, self._load(begin, min(end, self.size)))
        return self._recent

    def _load(self, begin: int, end: int) -> bytes:
        self._source.seek(begin)
        data = self._source.read(end - begin)
        while len(data) < end - begin:
            more = self._source.read(end - begin - len(data))
            if not more:
                raise CorruptTableError(f"{self.path} ends at byte {begin + len(data)}, expected are {self.size} bytes")
            data += more
        return data
