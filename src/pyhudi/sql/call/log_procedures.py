"""Procedures that look into log files.

Rules: `ShowHoodieLogFileMetadataProcedure`, `ShowHoodieLogFileRecordsProcedure`; unlike those, blocks of every kind can be looked at.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Iterator
from typing import Final

from pyhudi.codec.log.log_content import iter_deletes
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.errors import UsageError
from pyhudi.kernels.log_file.block_rows import data_rows
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.storage.storage_protocol import Storage

#: What Hudi calls the kinds of blocks.
_TYPES: Final = {
    BlockType.COMMAND: "COMMAND_BLOCK",
    BlockType.DELETE: "DELETE_BLOCK",
    BlockType.CORRUPT: "CORRUPT_BLOCK",
    BlockType.AVRO: "AVRO_DATA_BLOCK",
    BlockType.HFILE: "HFILE_DATA_BLOCK",
    BlockType.PARQUET: "PARQUET_DATA_BLOCK",
    BlockType.CDC: "CDC_DATA_BLOCK",
}


def _log_files(call: ProcedureCall) -> tuple[Storage, list[str]]:
    """Return the log files whose whole path, or path below the table, matches `log_file_path_pattern`."""
    storage, pattern = call.open().storage, str(call.text("log_file_path_pattern"))
    paths, waiting = [], [""]
    while waiting:
        for status in storage.list(waiting.pop()):
            if status.is_dir:
                if status.name != ".hoodie":
                    waiting.append(status.path)
            elif parse_log_file_name(status.name) is not None and _matches(storage, status.path, pattern):
                paths.append(status.path)
    if not paths:
        raise UsageError(f"CALL {call.procedure.name}: no log file of {storage.uri} matches {pattern}.")
    return storage, sorted(paths)


def _matches(storage: Storage, path: str, pattern: str) -> bool:
    plain = pattern.removeprefix("file://").removeprefix("file:")
    return any(fnmatch.fnmatchcase(text, plain) for text in (path, f"{storage.uri}/{path}"))


def _blocks(storage: Storage, path: str) -> Iterator[tuple[LogBlock, bytes]]:
    status = storage.stat(path)
    assert status is not None, "the file was listed"
    with storage.open_input(path) as source:
        for block in list(scan_blocks(source, path, status.size)):
            yield block, b"" if block.type is BlockType.CORRUPT else read_content(source, block)


def _metadata(call: ProcedureCall) -> Iterator[Row]:
    storage, paths = _log_files(call)
    rows = (
        (block.header.instant, _count(block, content), _TYPES[block.type], _header(block), "{}")
        for path in paths
        for block, content in _blocks(storage, path)
    )
    return itertools.islice(rows, call.number("limit"))


def _count(block: LogBlock, content: bytes) -> int:
    if block.type is BlockType.DELETE:
        return sum(len(deleted.keys) for deleted in iter_deletes(content))
    if block.type in (BlockType.COMMAND, BlockType.CORRUPT):
        return 0
    return sum(rows.num_rows for rows in data_rows(block, content, _names(block)))


def _header(block: LogBlock) -> str:
    header = block.header
    entries = {"INSTANT_TIME": header.instant, "TARGET_INSTANT_TIME": header.target_instant, "SCHEMA": header.schema_json}
    return json.dumps({name: text for name, text in entries.items() if text is not None})


def _names(block: LogBlock) -> list[str]:
    return avro_to_arrow(block.header.schema_json).names if block.header.schema_json else []


def _records(call: ProcedureCall) -> Iterator[Row]:
    if call.flag("merge"):
        raise UsageError(f"CALL {call.procedure.name}: merge => true is what SELECT shows; leave it out to see what is in the files.")
    storage, paths = _log_files(call)
    rows = (
        (json.dumps(row, default=str),)
        for path in paths
        for block, content in _blocks(storage, path)
        if block.type in (BlockType.AVRO, BlockType.PARQUET, BlockType.HFILE)
        for file_slice in data_rows(block, content, _names(block))
        for row in file_slice.to_pylist()
    )
    return itertools.islice(rows, call.number("limit"))


_SOURCE: Final = (Parameter("table"), Parameter("path"), Parameter("log_file_path_pattern", default=REQUIRED))
_END: Final = (Parameter("limit", "int", 10), Parameter("filter"))

PROCEDURES: Final = (
    Procedure(
        "show_logfile_metadata",
        "The blocks of log files.",
        (*_SOURCE, *_END),
        (Column("instant_time"), Column("record_count", "int"), Column("block_type"), Column("header_metadata"), Column("footer_metadata")),
        _metadata,
    ),
    Procedure(
        "show_logfile_records",
        "The records in log files.",
        (*_SOURCE, Parameter("merge", "boolean", default=False), *_END),
        (Column("records"),),
        _records,
    ),
)
