"""The archived timeline of table version 6: files `.commits_.archive.<n>_1-0-1` of Avro blocks.

Rules: Hudi technical specification, "Log format"; `HoodieAvroDataBlock`, `HoodieArchivedMetaEntry`. Every length is checked against the
bytes at hand before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyhudi.codec.actions.commit_metadata import metadata_from
from pyhudi.codec.avro.avro_record import Record, decode_payload, encode_payload, schema_text
from pyhudi.codec.cursor import Cursor
from pyhudi.codec.log.log_content import encode_avro_content
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.log_block import BlockHeader, BlockType

#: Name of an archive file.
ARCHIVE_FILE = re.compile(r"\.commits_\.archive\.(\d+)(?:_\d+-\d+-\d+)?")

_MAGIC = b"#HUDI#"
_LONG_BYTES = 8
_AVRO_DATA_BLOCK = 3
_SCHEMA_HEADER = 2
_MAX_HEADERS = 64
_METADATA_FIELDS = ("hoodieCommitMetadata", "hoodieReplaceCommitMetadata", "HoodieInflightReplaceMetadata")


@dataclass(frozen=True, slots=True)
class ArchivedEntry:
    """One archived state file: requested time, action text, state text, the commit metadata of actions that write data, and the requested
    times of what a rollback rolled back.
    """

    requested: str
    action: str
    state: str
    metadata: CommitMetadata | None = None
    transition_time: str | None = None
    rolled_back: tuple[str, ...] = ()


def decode_archive(data: bytes) -> Iterator[ArchivedEntry]:
    """Yield the entries of an archive file, oldest first.

    Raises:
        CorruptTableError: the bytes are cut off or contradict themselves.
    """
    return map(_entry, archive_records(data))


def archive_records(data: bytes) -> Iterator[Record]:
    """Yield the entries of an archive file as the Avro records that they are; errors as in `decode_archive`."""
    cursor = Cursor(data, "the archive file")
    while cursor.left:
        yield from _block(cursor)


def encode_archive(records: Iterable[Record]) -> bytes:
    """Return a block of an archive file with these entries."""
    schema = schema_text("HoodieArchivedMetaEntry")
    content = encode_avro_content(encode_payload(record, schema) for record in records)
    return encode_block(BlockType.AVRO, BlockHeader(schema_json=schema), content)


def _block(cursor: Cursor) -> Iterator[Record]:
    start = cursor.at
    if cursor.take(len(_MAGIC)) != _MAGIC:
        raise CorruptTableError(f"the archive file has no block at byte {start}")
    size = cursor.read_long()
    end = cursor.at + size
    if cursor.read_int() != 1:
        raise CorruptTableError("the archive file has a block of an unknown format version")
    kind = cursor.read_int()
    headers = _headers(cursor)
    content = Cursor(cursor.take(cursor.read_long()), "a block of the archive file")
    _headers(cursor)
    if cursor.read_long() != cursor.at - start - _LONG_BYTES or cursor.at != end:
        raise CorruptTableError(f"the block at byte {start} of the archive file contradicts its own length")
    if kind == _AVRO_DATA_BLOCK:
        schema = headers.get(_SCHEMA_HEADER, b"").decode("utf-8", "replace")
        yield from _records(content, schema)


def _records(content: Cursor, schema: str) -> Iterator[Record]:
    content.read_int()  # version of the block's content; the layout is one for all
    for _ in range(content.read_int()):
        yield decode_payload(content.take(content.read_int()), schema)
    if content.left:
        raise CorruptTableError("a block of the archive file is longer than its records")


def _entry(record: Mapping[str, Any]) -> ArchivedEntry:
    time, action, state = record.get("commitTime"), record.get("actionType"), record.get("actionState")
    if not isinstance(time, str) or not isinstance(action, str):
        raise CorruptTableError("an entry of the archive file has no time or no action")
    metadata = next((record[name] for name in _METADATA_FIELDS if isinstance(record.get(name), dict)), None)
    transition = record.get("stateTransitionTime")
    return ArchivedEntry(
        requested=time,
        action=action,
        state=state if isinstance(state, str) else "COMPLETED",
        metadata=None if metadata is None else metadata_from(metadata),
        transition_time=transition if isinstance(transition, str) else None,
        rolled_back=tuple((record.get("hoodieRollbackMetadata") or {}).get("commitsRollback") or ()),
    )


def _headers(cursor: Cursor) -> dict[int, bytes]:
    count = cursor.read_int()
    if not 0 <= count <= _MAX_HEADERS:
        raise CorruptTableError(f"a block of the archive file has {count} headers")
    return {cursor.read_int(): cursor.take(cursor.read_int()) for _ in range(count)}
