"""A look into log files: their blocks as rows of a table, and one file's anatomy as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.hfile.reader import HFileReader
from pyhudi.codec.log.log_content import avro_records, iter_deletes
from pyhudi.codec.log.log_file import FORMAT_VERSION, MAGIC, read_content, scan_blocks
from pyhudi.codec.log.roaring_positions import decode_positions
from pyhudi.errors import HudiError, UsageError
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from pyhudi.storage.storage_protocol import FileStatus, Storage

BLOCKS = pa.schema(
    {
        "file": pa.string(),
        "offset": pa.int64(),
        "size": pa.int64(),
        "type": pa.string(),
        "instant": pa.string(),
        "target_instant": pa.string(),
        "records": pa.int64(),
        "deletes": pa.int64(),
        "content_bytes": pa.int64(),
        "flags": pa.list_(pa.string()),
        "problem": pa.string(),
    }
)
_WIDTH = 19
_MOST_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class _Count:
    """How many records or deletes a block holds; None where it holds none of that kind, or cannot be read."""

    records: int | None = None
    deletes: int | None = None
    problem: str | None = None


def log_blocks(storage: Storage, path: str) -> pa.Table:
    """Return one row a block of a log file, or of all log files of a folder. Contents are read to be counted.

    A block whose content is damaged has no counts but a `problem`; a file that is damaged further has a row of type
    `UNREADABLE` behind its last good block.

    Raises:
        UsageError: there is no such file or folder.
    """
    rows: list[dict[str, object]] = []
    for status in _log_files(storage, path):
        with storage.open_input(status.path) as source:
            rows += _rows(storage, source, status)
    return pa.Table.from_pylist(rows, schema=BLOCKS)


def log_problems(storage: Storage, path: str) -> list[str]:
    """Return what is wrong with a log file, a sentence each; contents are read."""
    if storage.stat(path) is None:
        return ["it is not there"]
    rows = log_blocks(storage, path).select(["offset", "problem"]).to_pylist()
    return [f"block at byte {row['offset']}: {row['problem']}" for row in rows if row["problem"] is not None]


def log_anatomy(storage: Storage, path: str) -> str:
    """Return what is in a log file, field by field with the place of each, as text to be read.

    Raises:
        UsageError: there is no such file.
        CorruptTableError: it is not a log file, or damaged in a way that hides what follows.
        UnsupportedError: a block that this release does not know.
    """
    status = storage.stat(path)
    if status is None:
        raise UsageError(f"There is no file '{path}' in {storage.uri}.")
    if status.is_dir:
        raise UsageError(f"'{path}' in {storage.uri} is a folder: name one of the log files in it.")
    with storage.open_input(path) as source:
        blocks = list(scan_blocks(source, path, status.size))
        lines = [f"{path}: {status.size} bytes, {_count_rows(len(blocks), 'block')}"]
        for block in blocks:
            lines += ["", *_anatomy(storage, source, block)]
    return "\n".join(lines)


def _log_files(storage: Storage, path: str) -> list[FileStatus]:
    status = storage.stat(path)
    if status is None:
        raise UsageError(f"There is no file or folder '{path}' in {storage.uri}.")
    if not status.is_dir:
        return [status]
    return [child for child in storage.list(path) if not child.is_dir and parse_log_file_name(child.name)]


def _rows(storage: Storage, source: BinaryIO, status: FileStatus) -> Iterator[dict[str, object]]:
    end = 0
    try:
        for block in scan_blocks(source, status.path, status.size):
            count = _count(storage, source, block)
            end = block.offset + block.size
            yield {
                "file": block.path,
                "offset": block.offset,
                "size": block.size,
                "type": block.type.name,
                "instant": block.header.instant,
                "target_instant": block.header.target_instant,
                "records": count.records,
                "deletes": count.deletes,
                "content_bytes": block.content_size,
                "flags": _flags(block.header),
                "problem": count.problem,
            }
    except HudiError as error:
        yield {"file": status.path, "offset": end, "size": status.size - end, "type": "UNREADABLE", "flags": [], "problem": str(error)}


def _flags(header: BlockHeader) -> list[str]:
    flags = {
        "partial": header.is_partial,
        "positions": header.positions is not None,
        "replaces": bool(header.replaces),
        "attempt": header.attempt is not None,
    }
    return [name for name, is_set in flags.items() if is_set]


def _count(storage: Storage, source: BinaryIO, block: LogBlock) -> _Count:
    try:
        match block.type:
            case BlockType.AVRO | BlockType.CDC:
                return _Count(records=len(avro_records(read_content(source, block))))
            case BlockType.DELETE:
                return _Count(deletes=sum(len(some.keys) for some in iter_deletes(read_content(source, block))))
            case BlockType.HFILE:
                return _Count(records=len(HFileReader(source, block.content_size, block.path, start=block.content_offset)))
            case BlockType.PARQUET:
                with corrupt_as_error(storage, block.path):
                    return _Count(records=pq.read_metadata(pa.BufferReader(read_content(source, block))).num_rows)
            case BlockType.CORRUPT:
                return _Count(problem="damaged; what it held counts for nothing")
            case BlockType.COMMAND:
                return _Count()
    except HudiError as error:
        return _Count(problem=str(error))


def _anatomy(storage: Storage, source: BinaryIO, block: LogBlock) -> Iterator[str]:
    end = block.offset + block.size
    if block.type is BlockType.CORRUPT:
        yield f"damaged bytes from {block.offset} to {end}"
        return
    yield f"block of {block.size} bytes"
    yield _field(block.offset, "magic", MAGIC.decode())
    yield _field(block.offset + 6, "size", f"{block.size - 14} bytes behind this field")
    yield _field(block.offset + 14, "format version", str(FORMAT_VERSION))
    yield _field(block.offset + 18, "block type", f"{block.type.value} {block.type.name}")
    yield _field(block.offset + 22, "header", f"{block.content_offset - block.offset - 30} bytes")
    yield from (_field(None, f"  {name}", value) for name, value in _header_lines(block.header))
    yield _field(block.content_offset - 8, "content size", f"{block.content_size} bytes")
    yield _field(block.content_offset, "content", _content_line(_count(storage, source, block)))
    yield _field(block.content_offset + block.content_size, "footer", f"{end - 8 - block.content_offset - block.content_size} bytes")
    yield _field(end - 8, "total length", f"{block.size - 8} bytes back to the magic")


def _field(at: int | None, name: str, value: str) -> str:
    return f"{'' if at is None else at:>10}  {name:<{_WIDTH}} {value}".rstrip()


def _header_lines(header: BlockHeader) -> Iterator[tuple[str, str]]:
    named = {
        "instant": header.instant,
        "target instant": header.target_instant,
        "command": None if header.command is None else f"{header.command} (rollback)",
        "schema": None if header.schema_json is None else _schema_line(header.schema_json),
        "replaces": ", ".join(header.replaces) or None,
        "positions": None if header.positions is None else _positions_line(header),
        "attempt": header.attempt,
        "partial": "yes" if header.is_partial else None,
    }
    yield from ((name, value) for name, value in named.items() if value is not None)


def _schema_line(text: str) -> str:
    try:
        schema = json.loads(text)
        fields = [str(field["name"]) for field in schema["fields"]]
        mdt = [name for name in fields if not name.startswith("_hoodie_")]
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"{len(text)} characters"
    return _short(f"{len(fields)} fields, of the table: {', '.join(mdt)}")


def _positions_line(header: BlockHeader) -> str:
    try:
        indices = decode_positions(header.positions or "")
    except HudiError as error:
        return str(error)
    return _short(f"{_count_rows(len(indices), 'row')} of the base file of {header.positions_of}: {', '.join(map(str, indices[:20]))}")


def _content_line(count: _Count) -> str:
    if count.problem is not None:
        return count.problem
    if count.records is not None:
        return _count_rows(count.records, "record")
    return "nothing" if count.deletes is None else _count_rows(count.deletes, "delete")


def _count_rows(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
