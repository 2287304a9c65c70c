"""The Avro object container as Hudi's action files use it: one schema, one block, one record, no compression.

Rules: Avro specification, "Object Container Files". Written byte for byte as Hudi does (no `avro.codec` entry).
Every length is checked against the bytes at hand before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.varint import prefix_length, write_varint
from pyhudi.errors import CorruptTableError, UnsupportedError

MAGIC = b"Obj\x01"
SYNC_LENGTH = 16
_SCHEMA_KEY = b"avro.schema"
_CODEC_KEY = b"avro.codec"


@dataclass(frozen=True, slots=True)
class Container:
    """The parts of a container file: schema text, the one record's bytes, sync marker."""

    schema: str
    payload: bytes
    sync: bytes


def encode_container(container: Container) -> bytes:
    """Return the bytes of a container file."""
    schema = container.schema.encode()
    header = MAGIC + write_varint(1) + prefix_length(_SCHEMA_KEY) + prefix_length(schema) + write_varint(0) + container.sync
    return header + write_varint(1) + prefix_length(container.payload) + container.sync


def decode_container(data: bytes) -> Container:
    """Take a container file apart.

    Raises:
        CorruptTableError: the bytes are cut off or contradict themselves.
        UnsupportedError: the file is compressed, which Hudi does not do.
    """
    if not data.startswith(MAGIC):
        raise CorruptTableError("the file does not begin as an Avro container")
    cursor = Cursor(data, "the Avro container", len(MAGIC))
    entries = _read_map(cursor)
    schema = entries.get(_SCHEMA_KEY)
    if schema is None:
        raise CorruptTableError("the Avro container holds no schema")
    codec = entries.get(_CODEC_KEY, b"null")
    if codec != b"null":
        raise UnsupportedError(f"the Avro container is compressed with {codec.decode(errors='replace')}; served is none")
    sync = cursor.take(SYNC_LENGTH)
    count = cursor.read_varint()
    if count != 1:
        raise CorruptTableError(f"the Avro container holds {count} records in its first block, expected is one")
    payload = cursor.take(cursor.read_varint())
    if cursor.take(SYNC_LENGTH) != sync or cursor.left:
        raise CorruptTableError("the Avro container does not end with its sync marker")
    try:
        return Container(schema.decode(), payload, sync)
    except UnicodeDecodeError:
        raise CorruptTableError("the schema of the Avro container is no UTF-8 text") from None


def _read_map(cursor: Cursor) -> dict[bytes, bytes]:
    entries = {}
    while count := cursor.read_varint():
        if count < 0:  # a negative count is followed by the block's length in bytes
            cursor.read_varint()
        for _ in range(min(abs(count), cursor.left + 1)):
            key = cursor.take(cursor.read_varint())
            entries[key] = cursor.take(cursor.read_varint())
    return entries
