"""The map before and behind a block's content, and what its entries mean.

Rules: `HoodieLogBlock.HeaderMetadataType`. On disk: a count, then for each entry the ordinal of its key, the length of
its text and the text in UTF-8. The order of entries means nothing.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.log_block import BlockHeader

#: No header map is larger; a schema or the positions of a block's rows take a few MB at most.
MOST_HEADER_BYTES = 64 << 20

_INT = struct.Struct(">i")
_ENTRY = struct.Struct(">ii")
_MOST_ENTRIES = 64


class _Key(enum.IntEnum):
    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


class MoreNeededError(Exception):
    """The map is longer than the bytes at hand; `length` is how long it is at least."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length


def read_map(data: bytes) -> tuple[dict[int, bytes], int]:
    """Return the entries of the map at the start of `data` and the number of bytes it takes.

    Raises:
        MoreNeededError: `data` ends before the map does.
        CorruptTableError: a count or length is impossible, or a key comes twice.
    """
    if len(data) < _INT.size:
        raise MoreNeededError(_INT.size)
    (count,) = _INT.unpack_from(data)
    if not 0 <= count <= _MOST_ENTRIES:
        raise CorruptTableError(f"a header of {count} entries")
    entries: dict[int, bytes] = {}
    at = _INT.size
    for _ in range(count):
        if at + _ENTRY.size > len(data):
            raise MoreNeededError(at + _ENTRY.size)
        key, length = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        if not 0 <= length <= MOST_HEADER_BYTES:
            raise CorruptTableError(f"a header entry of {length} bytes")
        if at + length > len(data):
            raise MoreNeededError(at + length)
        if key in entries:
            raise CorruptTableError(f"the header entry {key} twice")
        entries[key] = data[at : at + length]
        at += length
    return entries, at


class HeaderDecoder:
    """Makes headers of entries. Blocks of a file mostly have one schema, whose text is then kept once."""

    def __init__(self) -> None:
        self._schema: tuple[bytes, str] = (b"", "")

    def decode(self, entries: Mapping[int, bytes]) -> BlockHeader:
        """Return the header.

        Raises:
            UnsupportedError: a key that this release does not know; it may change what the block means.
            CorruptTableError: a text is not UTF-8.
        """
        unknown = sorted(key for key in entries if not 0 <= key < len(_Key))
        if unknown:
            raise UnsupportedError(f"the header entry {unknown[0]}, which pyhudi does not know; a newer Hudi wrote the file")
        try:
            return self._header(entries)
        except UnicodeDecodeError as error:
            raise CorruptTableError(f"a header text that is not UTF-8 ({error.reason})") from None

    def _header(self, entries: Mapping[int, bytes]) -> BlockHeader:
        text = {key: value.decode() for key, value in entries.items() if key != _Key.SCHEMA}
        replaces = text.get(_Key.COMPACTED_BLOCK_TIMES)
        return BlockHeader(
            instant=text.get(_Key.INSTANT_TIME),
            target_instant=text.get(_Key.TARGET_INSTANT_TIME),
            schema_json=self._schema_text(entries.get(_Key.SCHEMA)),
            command=text.get(_Key.COMMAND_BLOCK_TYPE),
            replaces=tuple(replaces.split(",")) if replaces else (),
            positions=text.get(_Key.RECORD_POSITIONS),
            positions_of=text.get(_Key.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS),
            attempt=text.get(_Key.BLOCK_IDENTIFIER),
            is_partial=text.get(_Key.IS_PARTIAL, "").lower() == "true",
        )

    def _schema_text(self, raw: bytes | None) -> str | None:
        if raw is None:
            return None
        if raw != self._schema[0]:
            self._schema = raw, raw.decode()
        return self._schema[1]


def encode_map(header: BlockHeader) -> bytes:
    """Return the map of a header, in the order of the keys' ordinals."""
    entries = {
        _Key.INSTANT_TIME: header.instant,
        _Key.TARGET_INSTANT_TIME: header.target_instant,
        _Key.SCHEMA: header.schema_json,
        _Key.COMMAND_BLOCK_TYPE: header.command,
        _Key.COMPACTED_BLOCK_TIMES: ",".join(header.replaces) or None,
        _Key.RECORD_POSITIONS: header.positions,
        _Key.BLOCK_IDENTIFIER: header.attempt,
        _Key.IS_PARTIAL: "true" if header.is_partial else None,
        _Key.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: header.positions_of,
    }
    encoded = [(key, text.encode()) for key, text in entries.items() if text is not None]
    parts = [_INT.pack(len(encoded))]
    for key, raw in encoded:
        parts += (_ENTRY.pack(key, len(raw)), raw)
    return b"".join(parts)
