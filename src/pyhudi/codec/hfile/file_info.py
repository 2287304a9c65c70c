"""The file info block: named values that describe the whole file.

Rules: `HFileInfo`; docs/format/hfile.md#file-info. Names are as on disk; Hudi adds `schema` (Avro, of the values),
`minRecordKey`, `maxRecordKey` and `bloomFilterTypeCode`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.hfile.protobuf import prefix_length, read_fields, write_field
from pyhudi.errors import CorruptTableError, UnsupportedError

LAST_KEY = "hfile.LASTKEY"
AVERAGE_KEY_SIZE = "hfile.AVG_KEY_LEN"
AVERAGE_VALUE_SIZE = "hfile.AVG_VALUE_LEN"
CREATED_MS = "hfile.CREATE_TIME_TS"
CELL_VERSION = "KEY_VALUE_VERSION"
MAX_MVCC = "MAX_MEMSTORE_TS_KEY"
_MAX_TAGS_SIZE = "hfile.MAX_TAGS_LEN"
_MAGIC = b"PBUF"
#: Of so many files the last info is kept: each commit opens the same log blocks of the metadata table until they are compacted.
_CACHED_PATTERNS = 64


@lru_cache(maxsize=_CACHED_PATTERNS)
def parse_file_info(payload: bytes, what: str) -> Mapping[str, bytes]:
    """Return the values by their names.

    Raises:
        CorruptTableError: the bytes are no file info.
    """
    cursor = Cursor(payload, f"the file info of {what}")
    if cursor.take(len(_MAGIC)) != _MAGIC:
        raise CorruptTableError(f"{cursor.what} does not begin as one")
    values = {}
    for number, entry in read_fields(cursor.take(cursor.read_unsigned()), cursor.what):
        if number != 1 or not isinstance(entry, bytes):
            continue
        parts = dict(read_fields(entry, cursor.what))
        key, value = parts.get(1, b""), parts.get(2, b"")
        if not isinstance(key, bytes) or not isinstance(value, bytes):
            raise CorruptTableError(f"{cursor.what} holds an entry that is no bytes")
        values[key.decode(errors="replace")] = value
    return MappingProxyType(values)


def render_file_info(values: Mapping[str, bytes]) -> bytes:
    """Return the payload of a file info block."""
    entries = (write_field(1, name.encode()) + write_field(2, value) for name, value in values.items())
    return _MAGIC + prefix_length(b"".join(write_field(1, entry) for entry in entries))


def cell_suffix_size(info: Mapping[str, bytes], what: str) -> int:
    """Return how many bytes follow each value: the one of its version number (MVCC), which Hudi keeps at zero.

    Raises:
        UnsupportedError: the file holds versions or tags of cells, which Hudi never writes.
    """
    if int.from_bytes(info.get(_MAX_TAGS_SIZE, b""), "big"):
        raise UnsupportedError(f"{what} holds tags of cells, which are not served")
    if int.from_bytes(info.get(CELL_VERSION, b""), "big") != 1:
        return 0
    if int.from_bytes(info.get(MAX_MVCC, b""), "big"):
        raise UnsupportedError(f"{what} holds versions of cells, which are not served")
    return 1


def int_value(value: int) -> bytes:
    """Encode a number as file info holds it: four bytes."""
    return struct.pack(">i", value)


def long_value(value: int) -> bytes:
    """Encode a number as file info holds it: eight bytes."""
    return struct.pack(">q", value)
