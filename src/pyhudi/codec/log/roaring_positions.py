"""Record positions of a log block: which rows of the base file its records stand for, as text in the block's header.

Rules: `LogReaderUtils`, the portable format of `Roaring64NavigableMap` (RoaringFormatSpec), base64. All numbers are
little-endian: the number of buckets (8 bytes), then for each the upper 32 bits of its positions (4) and a bitmap of the
lower: a cookie, for each container the upper 16 bits and the count of its values, and the containers. A container
holds the lower 16 bits as a sorted array, as 65,536 bits, or as runs.
"""

from __future__ import annotations

import binascii
import operator
import struct
import sys
from array import array
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from pyhudi.codec.cursor import Cursor
from pyhudi.errors import CorruptTableError, UsageError

NOT_IN_ORDER = "the positions of a log block are not in order"
#: As many positions fill 64 MiB; a block of more records says how many it has.
MOST_POSITIONS = 8 << 20

_BUCKETS = struct.Struct("<q")
_WORD = struct.Struct("<I")
_PLAIN_COOKIE = 12346
_RUNS_COOKIE = 12347
#: Bitmaps with runs have no table of offsets when they have fewer containers than this.
_OFFSETS_FROM = 4
_MOST_ARRAY = 4096
_BITMAP_BYTES = 8192
_CONTAINER_VALUES = 1 << 16
_MOST_BUCKETS = 1 << 31
_BITS = [tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]


def decode_positions(text: str, most: int = MOST_POSITIONS) -> array[int]:
    """Return the positions, ascending. The first belongs to the block's first record, and so on.

    Args:
        text: what is in the header.
        most: how many there can be, best the number of the block's records.

    Raises:
        CorruptTableError: the text is no such bitmap, or holds more positions.
    """
    decoded = array("q")
    for start, values in iter_containers(text, most):
        decoded.extend([start + value for value in values])
    if not _ascending(decoded):
        raise CorruptTableError(NOT_IN_ORDER)
    return decoded


def iter_containers(text: str, most: int = MOST_POSITIONS) -> Iterator[tuple[int, array[int]]]:
    """Yield the positions by container: a number, and unsigned shorts to add to it; whether they ascend is the caller's to check.

    Arguments and errors as of `decode_positions`.
    """
    room = most
    for high, cursor in _bitmaps(text):
        for start, values in _bitmap(cursor, room):
            room -= len(values)
            yield (high << 32) + start, values


def last_position(text: str) -> int:
    """Return the greatest position, -1 when there is none. Of each bitmap only the last container is looked into.

    Raises:
        CorruptTableError: the text is no such bitmap, or its containers do not ascend.
    """
    last = -1
    for high, cursor in _bitmaps(text):
        containers = _containers(cursor)
        starts = [container.start for container in containers]
        if not _ascending(starts):
            raise CorruptTableError(NOT_IN_ORDER)
        for container in containers[:-1]:
            cursor.take(container.size if container.size is not None else 4 * _shorts(cursor, 1)[0])
        for container in containers[-1:]:
            last = max(last, (high << 32) + container.start + max(_values(cursor, container)))
    return last


def _bitmaps(text: str) -> Iterator[tuple[int, Cursor]]:
    """Yield the upper bits of each bucket with the place where its bitmap stands; whoever takes them steps over the bitmap."""
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CorruptTableError("the positions of a log block are not base64") from None
    cursor = Cursor(data, "the positions of a log block")
    (buckets,) = _BUCKETS.unpack(cursor.take(_BUCKETS.size))
    # A bucket takes more than 8 bytes.
    if not 0 <= buckets <= cursor.left // 8:
        raise CorruptTableError(f"the positions of a log block have {buckets} buckets in {cursor.left} bytes")
    for _ in range(buckets):
        high = _word(cursor)
        if high >= _MOST_BUCKETS:
            raise CorruptTableError("the positions of a log block are negative")
        yield high, cursor
    if cursor.left:
        raise CorruptTableError(NOT_IN_ORDER)


def encode_positions(positions: Sequence[int]) -> str:
    """Return the text of some positions.

    Raises:
        UsageError: they are not ascending, or negative; records without distinct positions are written without any.
    """
    if not _ascending(positions) or (positions and positions[0] < 0):
        raise UsageError("record positions must be ascending numbers from 0 on")
    buckets = list(_split(positions, 32))
    parts = [_BUCKETS.pack(len(buckets))]
    for high, bucket in buckets:
        parts += (_WORD.pack(high), _encode_bitmap(bucket))
    return b64encode(b"".join(parts)).decode()


def _ascending(values: Sequence[int]) -> bool:
    return all(map(operator.lt, values, islice(values, 1, None)))


def _word(cursor: Cursor) -> int:
    return int(_WORD.unpack(cursor.take(_WORD.size))[0])


def _shorts(cursor: Cursor, count: int) -> array[int]:
    values = array("H", cursor.take(2 * count))
    if sys.byteorder == "big":
        values.byteswap()
    return values


class _Container(NamedTuple):
    """What the head of a bitmap says of a container: where its values begin, their number, and their bytes, None for runs."""

    start: int
    length: int
    size: int | None


def _bitmap(cursor: Cursor, most: int) -> Iterator[tuple[int, array[int]]]:
    """Yield the containers of one 32-bit bitmap."""
    match = 0
    for container in _containers(cursor):
        match += container.length
        if match > most:
            raise CorruptTableError(f"a log block has more positions than the {most} it can have")
        yield container.start, _values(cursor, container)


def _containers(cursor: Cursor) -> list[_Container]:
    """Return what a bitmap says of its containers, and step to the first."""
    cookie = _word(cursor)
    if cookie & 0xFFFF == _RUNS_COOKIE:
        containers = (cookie >> 16) + 1
        flags = cursor.take((containers + 7) // 8)
    elif cookie == _PLAIN_COOKIE:
        containers = _word(cursor)
        flags = b""
    else:
        raise CorruptTableError(f"the positions of a log block have the cookie {cookie}")
    if containers > _CONTAINER_VALUES:
        raise CorruptTableError(f"the positions of a log block have {containers} containers")
    described = _shorts(cursor, 2 * containers)
    if not flags or containers >= _OFFSETS_FROM:
        cursor.take(4 * containers)
    counts = [count + 1 for count in described[1::2]]
    sizes: list[int | None] = [2 * count if count <= _MOST_ARRAY else _BITMAP_BYTES for count in counts]
    for index in range(containers if flags else 0):
        if flags[index // 8] >> index % 8 & 1:
            sizes[index] = None
    return [_Container(high << 16, count, size) for high, count, size in zip(described[::2], counts, sizes, strict=True)]


def _values(cursor: Cursor, container: _Container) -> array[int]:
    """Return the lower bits of a container's positions."""
    if container.size is None:
        values = _runs(cursor, container.length)
    elif container.length <= _MOST_ARRAY:
        values = _shorts(cursor, container.length)
    else:
        values = array("H", _set_bits(cursor.take(container.size)))
    if len(values) != container.length:
        raise CorruptTableError(f"the positions of a log block are {len(values)} where {container.length} are announced")
    return values


def _runs(cursor: Cursor, most: int) -> array[int]:
    (runs,) = _shorts(cursor, 1)
    bounds = _shorts(cursor, 2 * runs)
    values = array("H")
    for first, more in zip(bounds[::2], bounds[1::2], strict=True):
        if first + more >= _CONTAINER_VALUES or len(values) + more + 1 > most:
            raise CorruptTableError("the positions of a log block have a run that is too long")
        values.extend(range(first, first + more + 1))
    return values


def _set_bits(bitmap: bytes) -> Iterator[int]:
    for index, byte in enumerate(bitmap):
        if byte:
            for bit in _BITS[byte]:
                yield 8 * index + bit


def _split(values: Sequence[int], bits: int) -> Iterator[tuple[int, list[int]]]:
    """Yield what is above the lower `bits`, and the lower parts of the values that share it."""
    at, mask = 0, (1 << bits) - 1
    while at < len(values):
        high = values[at] >> bits
        end = bisect_left(values, (high + 1) << bits, at)
        yield high, [value & mask for value in values[at:end]]
        at = end


def _encode_bitmap(values: list[int]) -> bytes:
    described = array("H")
    bodies: list[bytes] = []
    flags = 0
    for index, (high, chunk) in enumerate(_split(values, 16)):
        starts = [chunk[0], *(after for before, after in pairwise(chunk) if after != before + 1)]
        described.extend((high, len(chunk) - 1))
        if 2 + 4 * len(starts) < min(2 * len(chunk), _BITMAP_BYTES):
            flags |= 1 << index
            bodies.append(_run_container(starts, chunk))
        elif len(chunk) <= _MOST_ARRAY:
            bodies.append(_little_endian(chunk))
        else:
            bodies.append(_bit_container(chunk))
    count = len(bodies)
    if flags:
        head = _WORD.pack(_RUNS_COOKIE | count - 1 << 16) + flags.to_bytes((count + 7) // 8, "little")
    else:
        head = _WORD.pack(_PLAIN_COOKIE) + _WORD.pack(count)
    head += _little_endian(described)
    if not flags or count >= _OFFSETS_FROM:
        offset = len(head) + 4 * count
        for body in bodies:
            head += _WORD.pack(offset)
            offset += len(body)
    return head + b"".join(bodies)


def _bit_container(chunk: list[int]) -> bytes:
    bits = bytearray(_BITMAP_BYTES)
    for value in chunk:
        bits[value >> 3] |= 1 << (value & 7)
    return bytes(bits)


def _run_container(starts: list[int], chunk: list[int]) -> bytes:
    bounds = [len(starts)]
    indices = [bisect_left(chunk, start) for start in starts]
    for index, after in pairwise([*indices, len(chunk)]):
        bounds += (chunk[index], after - index - 1)
    return _little_endian(bounds)


def _little_endian(values: Sequence[int]) -> bytes:
    packed = array("H", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
