"""Index blocks of an HFile: root, intermediate and leaf; and the index of meta blocks.

Rules: HBase reference guide, "Root block index format", "Non-root block index format"; `HFileRootIndexBlock`;
docs/format/hfile.md#index-blocks. An index key is a lower bound of the rows of its block and an upper bound of those before; it need not be
a row.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass
from itertools import pairwise

from pyhudi.codec.cursor import Cursor
from pyhudi.errors import CorruptTableError

_OFFSET_AND_SIZE = struct.Struct(">qi")
_ROW_LENGTH = struct.Struct(">H")
#: Roots are kept by their bytes: every look-up opens the same few files of a metadata table again.
_CACHED_ROOTS = 32
_MIDDLE_KEY_SIZE = 16  # HBase notes behind the root of several levels where the middle of the file is


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A block's place in the file, in bytes, and its key: a row, or for meta blocks their name."""

    key: bytes
    offset: int
    size: int


class Index:
    """The entries of one index block, sorted by key."""

    __slots__ = ("entries", "keys")

    def __init__(self, entries: list[IndexEntry], what: str) -> None:
        """Check the order, without which a search would miss rows in silence.

        Raises:
            CorruptTableError: keys or offsets are not in order.
        """
        self.entries = entries
        self.keys = [entry.key for entry in entries]
        offsets = [entry.offset for entry in entries]
        if self.keys != sorted(self.keys) or any(a >= b for a, b in pairwise(offsets)):
            raise CorruptTableError(f"{what} is not in order")


@functools.lru_cache(maxsize=_CACHED_ROOTS)
def parse_root(payload: bytes, count: int, what: str, *, of_rows: bool = True) -> Index:
    """Read a root index of `count` entries; the meta index has names for keys (`of_rows` False).

    Raises:
        CorruptTableError: the bytes are cut off or contradict themselves.
    """
    cursor = Cursor(payload, what)
    entries = []
    for _ in range(count):
        offset, size = _OFFSET_AND_SIZE.unpack(cursor.take(_OFFSET_AND_SIZE.size))
        key = _take_row_key(cursor) if of_rows else cursor.take(_read_hadoop_int(cursor))
        entries.append(IndexEntry(key, offset, size))
    if cursor.left not in (0, _MIDDLE_KEY_SIZE):
        raise CorruptTableError(f"{what} has {cursor.left} bytes more than its {count} entries")
    return Index(entries, what)


def parse_node(payload: bytes, what: str) -> Index:
    """Read an intermediate or leaf index.

    Raises:
        CorruptTableError: the bytes are cut off or contradict themselves.
    """
    cursor = Cursor(payload, what)
    count = cursor.read_int()
    if count < 0:
        raise CorruptTableError(f"{what} claims {count} entries")
    offsets = struct.unpack(f">{count + 1}i", cursor.take(4 * (count + 1)))
    entries = []
    for start, end in pairwise(offsets):
        offset, size = _OFFSET_AND_SIZE.unpack(cursor.take(_OFFSET_AND_SIZE.size))
        key = cursor.take(end - start - _OFFSET_AND_SIZE.size)
        entries.append(IndexEntry(_row_of(key, what), offset, size))
    return Index(entries, what)


def render_root(entries: list[tuple[bytes, int, int]]) -> bytes:
    """Return the payload of a root index; entries are (key as stored, offset, size)."""
    return b"".join(_OFFSET_AND_SIZE.pack(offset, size) + write_hadoop_int(len(key)) + key for key, offset, size in entries)


def write_hadoop_int(value: int) -> bytes:
    """Encode a length as Hadoop does: itself when it fits a byte, else the count of bytes and the bytes.

    Example:
        >>> write_hadoop_int(131).hex()
        '8f83'
    """
    if value <= 127:
        return bytes([value])
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([256 - 112 - len(digits)]) + digits


def _read_hadoop_int(cursor: Cursor) -> int:
    first = int.from_bytes(cursor.take(1), "big", signed=True)
    if first >= -112:
        return first
    if first < -120:
        return -1  # a negative number, which no length is
    return int.from_bytes(cursor.take(-112 - first), "big")


def _read_protobuf_int(cursor: Cursor) -> int:
    first = cursor.take(1)[0]
    return first if first < 0x80 else first & 0x7F | cursor.take(1)[0] << 7


def _take_row_key(cursor: Cursor) -> bytes:
    """Return the row of the next key.

    The first releases of Hudi's own writer (1.1) wrote the key's length in Protocol Buffers' way. A key tells which
    one it is: its first two bytes are the row's length, which must fit.
    """
    start = cursor.at
    for read_length in (_read_hadoop_int, _read_protobuf_int):
        cursor.at = start
        try:
            key = cursor.take(read_length(cursor))
            return _row_of(key, cursor.what)
        except CorruptTableError:
            continue
    raise CorruptTableError(f"{cursor.what} is damaged at {start}")


def _row_of(key: bytes, what: str) -> bytes:
    end = _ROW_LENGTH.size + int.from_bytes(key[: _ROW_LENGTH.size], "big")
    if not _ROW_LENGTH.size <= end <= len(key):
        raise CorruptTableError(f"{what} holds a key that is cut off")
    return key[_ROW_LENGTH.size : end]
