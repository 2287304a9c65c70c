"""The last 4096 bytes of an HFile: where everything is.

Rules: HBase reference guide, "Fixed file trailer"; `HFileProtos.FileTrailerProto`; docs/format/hfile.md#trailer.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.hfile.block import Codec, Magic
from pyhudi.codec.hfile.protobuf import prefix_length, read_fields, write_field
from pyhudi.errors import CorruptTableError, UnsupportedError

TRAILER_SIZE = 4096
#: Compares rows by their unsigned bytes; HBase loads the class by this name.
COMPARATOR = "org.apache.hudi.io.storage.HoodieHBaseKVComparator"
_MAJOR_VERSION = 3
_MAX_INDEX_LEVELS = 16
_MAX_UNSIGNED = 1 << 63


@dataclass(frozen=True, slots=True)
class Trailer:
    """Offsets are bytes from the file's begin, -1 for none; counts are of entries in the two indexes and in the file."""

    file_info_offset: int
    load_on_open_offset: int
    unpacked_index_size: int
    data_index_count: int
    meta_index_count: int
    entry_count: int
    index_levels: int
    first_data_offset: int
    last_data_offset: int
    codec: Codec


def parse_trailer(data: bytes, size: int, what: str) -> Trailer:
    """Read the trailer of a file of `size` bytes; `what` names the file in errors.

    Raises:
        CorruptTableError: it is no trailer, or it points outside the file.
        UnsupportedError: another major version, a codec that is not served, or an encrypted file.
    """
    if len(data) != TRAILER_SIZE or not data.startswith(Magic.TRAILER):
        raise CorruptTableError(f"{what} does not end as an HFile: it is cut off or something else")
    major = int.from_bytes(data[-3:], "big")
    if major != _MAJOR_VERSION:
        raise UnsupportedError(f"{what} is an HFile of version {major}; served is {_MAJOR_VERSION}")
    cursor = Cursor(data[:-4], f"the trailer of {what}", len(Magic.TRAILER))
    fields = dict(read_fields(cursor.take(cursor.read_unsigned()), cursor.what))
    if fields.get(13):
        raise UnsupportedError(f"{what} is encrypted, which is not served")
    numbers = {number: _to_signed(value) for number, value in fields.items() if isinstance(value, int)}
    trailer = Trailer(
        file_info_offset=numbers.get(1, -1),
        load_on_open_offset=numbers.get(2, -1),
        unpacked_index_size=numbers.get(3, 0),
        data_index_count=numbers.get(5, 0),
        meta_index_count=numbers.get(6, 0),
        entry_count=numbers.get(7, 0),
        index_levels=numbers.get(8, 1),
        first_data_offset=numbers.get(9, -1),
        last_data_offset=numbers.get(10, -1),
        codec=_codec(numbers.get(12), what),
    )
    region = range(size - TRAILER_SIZE)
    if trailer.load_on_open_offset not in region or trailer.file_info_offset not in region:
        raise CorruptTableError(f"the trailer of {what} points outside the file")
    if not 1 <= trailer.index_levels <= _MAX_INDEX_LEVELS or trailer.data_index_count < 0 or trailer.meta_index_count < 0:
        raise CorruptTableError(f"the trailer of {what} claims an index of {trailer.index_levels} levels")
    return trailer


def render_trailer(trailer: Trailer) -> bytes:
    """Return the trailer as Hudi's writer makes it."""
    values: dict[int, int | bytes] = {
        1: trailer.file_info_offset,
        2: trailer.load_on_open_offset,
        3: trailer.unpacked_index_size,
        5: trailer.data_index_count,
        6: trailer.meta_index_count,
        7: trailer.entry_count,
        8: trailer.index_levels,
        9: trailer.first_data_offset,
        10: trailer.last_data_offset,
        11: COMPARATOR.encode(),
        12: int(trailer.codec),
    }
    message = b"".join(write_field(number, value) for number, value in values.items())
    head = Magic.TRAILER + prefix_length(message)
    return head.ljust(TRAILER_SIZE - 4, b"\0") + struct.pack(">I", _MAJOR_VERSION)


def _to_signed(value: int) -> int:
    return value - 2 * _MAX_UNSIGNED if value >= _MAX_UNSIGNED else value


def _codec(number: int | None, what: str) -> Codec:
    try:
        codec = Codec(Codec.NONE if number is None else number)
    except ValueError:
        raise UnsupportedError(f"{what} is compressed with an unknown codec of number {number}; served are GZ and NONE") from None
    if codec not in (Codec.GZ, Codec.NONE):
        raise UnsupportedError(f"{what} is compressed with {codec.name}; served are GZ and NONE")
    return codec
