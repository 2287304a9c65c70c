"""Blocks of an HFile: header, payload, checksums.

Rules: HBase reference guide, "HFile format with inline blocks (version 2)"; `HFileBlock`; docs/format/hfile.md#block-header. A block is a
header of 33 bytes, the payload, compressed with the file's codec, and one checksum word for each started `bytesPerChecksum` bytes of both.
Files of Hudi's own writer have checksum type 0 and zeros for words.
"""

from __future__ import annotations

import enum
import struct
import zlib
from dataclasses import dataclass

from pyhudi.codec.hfile.crc32c import crc32c
from pyhudi.errors import CorruptTableError, UnsupportedError

HEADER = struct.Struct(">8siiqBii")
BYTES_PER_CHECKSUM = 16384
#: Larger blocks are refused: Hudi fills blocks up to 1 MiB, only a single huge record makes one larger.
MAX_PAYLOAD_BYTES = 1 << 27
_GZIP = 31  # window bits of zlib for a gzip member
#: A tenth larger than level 6 makes them, in half the time.
_LEVEL = 1
_CRC32, _CRC32C = 1, 2
_CHECKSUM_TYPES = (0, _CRC32, _CRC32C)


class Magic(bytes, enum.Enum):
    """The kinds of blocks by their first eight bytes."""

    DATA = b"DATABLK*"
    META = b"METABLKc"
    ROOT_INDEX = b"IDXROOT2"
    INTERMEDIATE_INDEX = b"IDXINTE2"
    LEAF_INDEX = b"IDXLEAF2"
    FILE_INFO = b"FILEINF2"
    TRAILER = b'TRABLK"$'


class Codec(enum.IntEnum):
    """Compression by its number in the trailer; GZ and NONE are served, Hudi writes no other."""

    LZO = 0
    GZ = 1
    NONE = 2
    SNAPPY = 3
    LZ4 = 4
    BZIP2 = 5
    ZSTD = 6


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The header of a block; sizes in bytes. `disk_size` counts the whole block, `payload_size` the payload as stored."""

    magic: Magic
    disk_size: int
    payload_size: int
    unpacked_size: int
    previous_offset: int
    checksum_type: int
    bytes_per_checksum: int


def parse_header(data: bytes, what: str) -> BlockHeader:
    """Read the header at the begin of `data`; `what` names the block in errors.

    Raises:
        CorruptTableError: the bytes are no header, or its sizes contradict each other.
    """
    if len(data) < HEADER.size:
        raise CorruptTableError(f"{what} is cut off")
    magic, rest, unpacked, previous, checksum_type, per_checksum, data_size = HEADER.unpack_from(data)
    try:
        kind = Magic(magic)
    except ValueError:
        raise CorruptTableError(f"{what} begins with {magic!r}, which is no block of an HFile") from None
    payload_size = data_size - HEADER.size
    if not (0 <= payload_size <= MAX_PAYLOAD_BYTES and 0 <= unpacked <= MAX_PAYLOAD_BYTES):
        raise CorruptTableError(f"{what} claims {payload_size} bytes, {unpacked} unpacked; {MAX_PAYLOAD_BYTES} are allowed")
    if per_checksum <= 0 or checksum_type not in _CHECKSUM_TYPES:
        raise CorruptTableError(f"{what} claims checksums of type {checksum_type} over {per_checksum} bytes each")
    words = 4 * -(-data_size // per_checksum)
    if rest != payload_size + words and not (checksum_type == 0 and rest == payload_size):
        raise CorruptTableError(f"{what} claims {rest} bytes, its payload and checksums take {payload_size + words}")
    return BlockHeader(kind, HEADER.size + rest, payload_size, unpacked, previous, checksum_type, per_checksum)


def unpack_block(data: bytes, header: BlockHeader, codec: Codec, what: str) -> bytes:
    """Return the payload of the block that `data` begins with, its checksums checked.

    Raises:
        CorruptTableError: a checksum is wrong, or the payload is not what the header says.
        UnsupportedError: the codec is not served.
    """
    if len(data) < header.disk_size:
        raise CorruptTableError(f"{what} is cut off after {len(data)} of {header.disk_size} bytes")
    _check_sums(memoryview(data), header, what)
    payload = data[HEADER.size : HEADER.size + header.payload_size]
    if codec is Codec.GZ:
        payload = _gunzip(payload, header.unpacked_size, what)
    elif codec is not Codec.NONE:
        raise UnsupportedError(f"{what} is compressed with {codec.name}; served are GZ and NONE")
    if len(payload) != header.unpacked_size:
        raise CorruptTableError(f"{what} holds {len(payload)} bytes, its header says {header.unpacked_size}")
    return payload


def _check_sums(data: memoryview, header: BlockHeader, what: str) -> None:
    if header.checksum_type == 0:
        return
    checksum = zlib.crc32 if header.checksum_type == _CRC32 else crc32c
    end = HEADER.size + header.payload_size
    starts = range(0, end, header.bytes_per_checksum)
    words = struct.unpack_from(f">{len(starts)}I", data, end)
    for start, word in zip(starts, words, strict=True):
        if checksum(data[start : min(start + header.bytes_per_checksum, end)]) != word:
            raise CorruptTableError(f"{what} does not match its checksum")


def _gunzip(packed: bytes, size: int, what: str) -> bytes:
    stream = zlib.decompressobj(_GZIP)
    try:
        # One byte more than wanted, so that a longer payload is noticed without unpacking it all.
        payload = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise CorruptTableError(f"{what} cannot be unpacked ({error})") from None
    if not stream.eof or stream.unused_data:
        raise CorruptTableError(f"{what} does not unpack to the {size} bytes that its header says")
    return payload


def relinked_block(data: bytes, header: BlockHeader, previous_offset: int, what: str) -> bytes:
    """Return a whole block as `pack_block` makes it, its payload as it is stored; checksums that it has are checked before they go.

    Raises:
        CorruptTableError: the block is cut off, or a checksum is wrong.
    """
    if len(data) < header.disk_size:
        raise CorruptTableError(f"{what} is cut off after {len(data)} of {header.disk_size} bytes")
    _check_sums(memoryview(data), header, what)
    packed = data[HEADER.size : HEADER.size + header.payload_size]
    return _with_header(header.magic, packed, header.unpacked_size, previous_offset)


def pack_block(magic: Magic, payload: bytes, codec: Codec, previous_offset: int) -> bytes:
    """Return a whole block as Hudi's writer makes it: checksum type 0, the room for checksums left zero."""
    packed = payload
    if codec is Codec.GZ:
        stream = zlib.compressobj(_LEVEL, wbits=_GZIP)
        packed = stream.compress(payload) + stream.flush()
    return _with_header(magic, packed, len(payload), previous_offset)


def _with_header(magic: Magic, packed: bytes, unpacked_size: int, previous_offset: int) -> bytes:
    data_size = HEADER.size + len(packed)
    words = bytes(4 * -(-data_size // BYTES_PER_CHECKSUM))
    head = HEADER.pack(magic, len(packed) + len(words), unpacked_size, previous_offset, 0, BYTES_PER_CHECKSUM, data_size)
    return head + packed + words
