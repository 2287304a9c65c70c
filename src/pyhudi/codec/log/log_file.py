"""Blocks of a log file, found without reading their contents.

Rules: Hudi technical specification, "Log file format"; `HoodieLogFileReader`. A block is: magic, size (8 bytes, counted
from behind itself), format version (4), type (4), header map, content size (8), content, footer map, and as the last 8
bytes the distance back to the magic, 6 more than the size.

A block is taken for damaged when these two lengths disagree, the file ends before it, or something other than a magic
follows; then the bytes up to the next magic count for nothing. A writer that died leaves no more of them than one block has: whatever
continues for longer was not left by a writer, and the search for a magic ends there. No length is used before it is known to lie within the
file, and no stretch of the file is read twice by a search, so that work and memory follow the file's size whatever it
holds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from pyhudi.codec.file_window import FileWindow
from pyhudi.codec.log.log_header import MOST_HEADER_BYTES, HeaderDecoder, MoreNeededError, read_map
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.log_block import ROLLBACK_COMMAND, BlockHeader, BlockType, LogBlock

MAGIC = b"#HUDI#"
FORMAT_VERSION = 1

_LONG = struct.Struct(">q")
_VERSION_AND_TYPE = struct.Struct(">ii")
_EMPTY_MAP = bytes(4)
#: From a block's begin to its format version.
_SIZE_END = len(MAGIC) + _LONG.size
#: The last fields of a block: the count of an empty footer and the trailing length.
_TAIL = len(_EMPTY_MAP) + _LONG.size
#: A block with an empty header and no content.
_LEAST_BLOCK = _SIZE_END + _VERSION_AND_TYPE.size + len(_EMPTY_MAP) + _LONG.size + _TAIL
_LIKELY_HEADER = 8 << 10
#: No block is longer: its content is one array of Java.
MOST_BLOCK_BYTES = (1 << 31) + 2 * MOST_HEADER_BYTES
_NO_HEADER = BlockHeader()


def scan_blocks(source: BinaryIO, path: str, size: int, committed_size: int = 0) -> Iterator[LogBlock]:
    """Yield the blocks of a log file in their order; damaged stretches as one block of type CORRUPT each.

    A rest of fewer bytes than a magic has is what a killed writer leaves, and passed over.

    Args:
        source: the file, seekable.
        path: relative to the table's base path, for the blocks and for messages.
        size: how many bytes of the file count.
        committed_size: how many bytes a commit is known to have left; a block that ends there is whole whatever follows it. 0 where none
            is known to.

    Raises:
        CorruptTableError: the file does not start as a log file does, the frame of a block holds what no writer
            puts there, or no block follows for longer than one can be.
        UnsupportedError: a format version, block type, header entry or command that this release does not know.
    """
    file = FileWindow(source, path, size)
    decoder = HeaderDecoder()
    at = 0
    damaged_from: int | None = None
    while size - at >= len(MAGIC):
        if at == 0 and file.read(0, len(MAGIC)) != MAGIC:
            raise CorruptTableError(f"{path} is not a log file of Hudi: it does not start with {MAGIC.decode()}")
        end = _end_of_block(file, at, committed_size, probe_only=damaged_from is not None)
        if end is None:
            damaged_from = at if damaged_from is None else damaged_from
            at = _next_magic(file, at)
            continue
        if damaged_from is not None:
            yield _damage_error(path, damaged_from, at)
            damaged_from = None
        yield _block(file, decoder, at, end)
        at = end
    if damaged_from is not None:
        yield _damage_error(path, damaged_from, size)


def read_content(source: BinaryIO, block: LogBlock) -> bytes:
    """Return what is between a block's header and footer.

    Raises:
        CorruptTableError: the file ends before the content does.
    """
    source.seek(block.content_offset)
    parts, left = [], block.content_size
    while left and (part := source.read(left)):
        parts.append(part)
        left -= len(part)
    if left:
        raise CorruptTableError(f"{block.path} ends {left} bytes before the content of the block at {block.offset} does")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _next_magic(file: FileWindow, at: int) -> int:
    """Return where the next magic behind the one at a place stands; the file's size when there is none."""
    limit = at + MOST_BLOCK_BYTES
    match = file.find(MAGIC, at + len(MAGIC), limit)
    if match >= limit:
        raise CorruptTableError(
            f"{file.path} has {file.size} bytes, but no block from byte {at} on: no writer leaves {MOST_BLOCK_BYTES} bytes and more"
            " without one. Restore the file from a copy."
        )
    return match


def _end_of_block(file: FileWindow, at: int, committed_size: int, *, probe_only: bool) -> int | None:
    """Return where the block ends, None when it is damaged."""
    raw = file.read(at + len(MAGIC), _LONG.size)
    if len(raw) < _LONG.size:
        return None
    (length,) = _LONG.unpack(raw)
    end = int(at + _SIZE_END + length)
    if not _LONG.size <= length <= file.size - at - _SIZE_END:
        return None
    # From the footer on, which comes with the same read.
    tail = file.read(end - _TAIL, _TAIL + len(MAGIC), probe_only=probe_only)
    if _LONG.unpack_from(tail, len(_EMPTY_MAP))[0] != length + len(MAGIC):
        return None
    follower = tail[_TAIL:]
    return end if follower == MAGIC or len(follower) < len(MAGIC) or end == committed_size else None


def _block(file: FileWindow, decoder: HeaderDecoder, at: int, end: int) -> LogBlock:
    """Return the block between two places whose frame is whole."""
    try:
        kind = _type(file, at, end)
        header_at = at + _SIZE_END + _VERSION_AND_TYPE.size
        entries, header_size = _map(file, header_at, end - _LONG.size)
        content_at = header_at + header_size + _LONG.size
        content_size = _content_size(file, content_at, end - _LONG.size)
        header = decoder.decode(entries)
        _check_complete(kind, header)
    except CorruptTableError as error:
        raise CorruptTableError(f"{file.path}: the block at {at} has {error}") from None
    except UnsupportedError as error:
        raise UnsupportedError(f"{file.path}: the block at {at} has {error}") from None
    return LogBlock(file.path, kind, header, at, end - at, content_at, content_size)


def _type(file: FileWindow, at: int, end: int) -> BlockType:
    if end - at < _LEAST_BLOCK:
        raise CorruptTableError(f"{end - at} bytes, a block has {_LEAST_BLOCK} at least")
    version, ordinal = _VERSION_AND_TYPE.unpack(file.read(at + _SIZE_END, _VERSION_AND_TYPE.size))
    if version != FORMAT_VERSION:
        raise UnsupportedError(f"the format version {version}, pyhudi reads {FORMAT_VERSION}")
    if ordinal < 0 or ordinal == BlockType.CORRUPT:
        raise CorruptTableError(f"the type {ordinal}, which nobody writes")
    if ordinal not in BlockType.__members__.values():
        raise UnsupportedError(f"the type {ordinal}, pyhudi knows types up to {max(BlockType)}; a newer Hudi wrote the file")
    return BlockType(ordinal)


def _map(file: FileWindow, at: int, limit: int) -> tuple[dict[int, bytes], int]:
    """Return the entries of the map at a place, and its size; it ends before `limit`."""
    length = min(limit - at, _LIKELY_HEADER)
    while True:
        try:
            return read_map(file.read(at, length))
        except MoreNeededError as more:
            if more.length > min(limit - at, MOST_HEADER_BYTES):
                raise CorruptTableError(f"a header of {more.length} bytes") from None
            length = min(limit - at, max(more.length, 2 * length))


def _content_size(file: FileWindow, at: int, end: int) -> int:
    """Return the size of the content that is at a place; a footer, which no release gives entries, fills the rest."""
    if at > end:
        raise CorruptTableError("a header that fills it")
    size = int(_LONG.unpack(file.read(at - _LONG.size, _LONG.size))[0])
    left = end - at - size
    if size < 0 or left < len(_EMPTY_MAP):
        raise CorruptTableError(f"a content of {size} bytes, {end - at} are left")
    if left > len(_EMPTY_MAP) or file.read(at + size, left, probe_only=True) != _EMPTY_MAP:
        _, footer_size = _map(file, at + size, end)
        if footer_size != left:
            raise CorruptTableError(f"{left - footer_size} bytes behind its footer")
    return size


def _check_complete(kind: BlockType, header: BlockHeader) -> None:
    """See that the header says what this kind of block needs."""
    if header.instant is None:
        raise CorruptTableError("no instant in its header")
    if kind in (BlockType.AVRO, BlockType.CDC) and header.schema_json is None:
        raise CorruptTableError("no schema in its header")
    if kind is BlockType.COMMAND:
        if header.command != ROLLBACK_COMMAND:
            raise UnsupportedError(f"the command {header.command!r}, pyhudi knows {ROLLBACK_COMMAND!r}, the rollback")
        if header.target_instant is None:
            raise CorruptTableError("no target instant in its header")


def _damage_error(path: str, begin: int, end: int) -> LogBlock:
    return LogBlock(path, BlockType.CORRUPT, _NO_HEADER, begin, end - begin, begin + len(MAGIC), end - begin - len(MAGIC))
