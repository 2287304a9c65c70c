"""The files of one file slice of the metadata table, opened: its base file, and what its logs hold that counts.

Rules: `HoodieBackedTableMetadata`; docs/format/metadata-table.md#log-blocks, #rules-for-readers. Base file and log blocks are HFiles,
deletes are lists of keys.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import BinaryIO, Self

from pyhudi.codec.hfile import HFileReader
from pyhudi.codec.log.log_content import iter_deletes
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.log_file.log_rows import check_blocks_of_instant
from pyhudi.kernels.log_file.visible_blocks import LOGS_NAMED_BY_INSTANT, choose_blocks
from pyhudi.spec.files.file_group import FileSlice, LogFile
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Each commit opens the same files of the partitions that it asks, until they are compacted. What files and blocks of up to so many bytes
#: hold is kept by their bytes, so that nothing can be out of date; so many of them, and of each at most so many bytes unpacked.
_SMALL_BYTES, _CACHED_FILES, _CACHED_BYTES = 64 << 10, 128, 1 << 20
_ADVICE = "pyhudi lists instead, and its next write rebuilds the metadata table."


class SliceFiles:
    """Opens the files of a slice; `storage` is that of the metadata table, whose `timeline` tells which blocks count.

    They are closed with the context. Whatever is missing or damaged is a `CorruptTableError`.
    """

    def __init__(self, storage: Storage, slice_: FileSlice, timeline: Timeline) -> None:
        self._storage = storage
        self._slice = slice_
        self._timeline = timeline
        self._files = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def base(self) -> tuple[HFileReader, str, str] | None:
        """Return the base file with the schema of its values and its path, None when there is none."""
        base = self._slice.base
        if base is None:
            return None
        source = self._open(base.path)
        if base.size <= _SMALL_BYTES:
            return *_small_records(source.read(base.size), base.size, base.path, None), base.path
        file = HFileReader(source, base.size, base.path)
        return file, _schema(file, None, base.path), base.path

    def blocks(self) -> Iterator[tuple[BinaryIO, LogBlock]]:
        """Yield the blocks of records and deletes that count, in the order in which they apply, each with its open file."""
        sources: dict[str, BinaryIO] = {}
        scanned: list[LogBlock] = []
        for log in self._slice.logs:
            source = self._open(log.path)
            if log.size <= _SMALL_BYTES:
                content = source.read(log.size)
                sources[log.path], blocks = io.BytesIO(content), _small_log(content, log.size, log.path)
            else:
                sources[log.path], blocks = source, tuple(scan_blocks(source, log.path, log.size))
            self._check(log, blocks)
            scanned += blocks
        if self._timeline.layout < LOGS_NAMED_BY_INSTANT:
            _check_no_damage(scanned)
        for block in choose_blocks(scanned, self._timeline.visibility, self._timeline.layout):
            if block.type not in (BlockType.HFILE, BlockType.DELETE):
                raise UnsupportedError(
                    f"{block.path} holds a block of type {block.type.name}; metadata tables have HFILE and DELETE blocks"
                )
            yield sources[block.path], block

    def _check(self, log: LogFile, blocks: Sequence[LogBlock]) -> None:
        if self._timeline.layout >= LOGS_NAMED_BY_INSTANT and log.name.instant != self._slice.base_instant:
            check_blocks_of_instant(self._storage, log, blocks, _ADVICE)

    def _open(self, path: str) -> BinaryIO:
        try:
            return self._files.enter_context(self._storage.open_input(path))
        except FileNotFoundError:
            raise CorruptTableError(f"{path} of the metadata table {self._storage.uri} is missing") from None


def records_of_block(source: BinaryIO, block: LogBlock) -> tuple[HFileReader, str]:
    """Return the records of a block with the schema of their values."""
    if block.content_size <= _SMALL_BYTES:
        return _small_records(read_content(source, block), block.content_size, block.path, block.header.schema_json)
    file = HFileReader(source, block.content_size, block.path, start=block.content_offset)
    return file, _schema(file, block.header.schema_json, block.path)


def deleted_keys(source: BinaryIO, block: LogBlock) -> Iterator[str]:
    """Yield the keys of a delete block; they are not all in memory as Python values at once."""
    for part in iter_deletes(read_content(source, block)):
        yield from part.keys


def checked_text(row: bytes, path: str) -> str:
    """Return a row of a file as the key that it is.

    Raises:
        CorruptTableError: it is no text.
    """
    try:
        return row.decode()
    except UnicodeDecodeError:
        raise CorruptTableError(f"{path} holds the key {row!r}, which is no UTF-8 text") from None


@lru_cache(_CACHED_FILES)
def _small_log(content: bytes, size: int, path: str) -> tuple[LogBlock, ...]:
    return tuple(scan_blocks(io.BytesIO(content), path, size))


@lru_cache(_CACHED_FILES)
def _small_records(content: bytes, size: int, path: str, schema: str | None) -> tuple[HFileReader, str]:
    """Return the records of a file or block. Its bytes are all in memory, so that several threads may read them."""
    file = HFileReader(io.BytesIO(content), size, path, cache_bytes=_CACHED_BYTES)
    return file, _schema(file, schema, path)


def _check_no_damage(blocks: Iterable[LogBlock]) -> None:
    """Refuse damage in log files of version 6 that no rollback explains; what of such files counts is not in their names.

    A data table passes over it, as Apache Hudi does. Here it may be what a commit says of files.
    """
    damaged: LogBlock | None = None
    for block in blocks:
        if block.type is BlockType.CORRUPT:
            damaged = damaged or block
        elif block.type is BlockType.COMMAND:
            damaged = None
    if damaged is not None:
        raise CorruptTableError(f"{damaged.path} is damaged at byte {damaged.offset}. {_ADVICE}")


def _schema(file: HFileReader, schema: str | None, path: str) -> str:
    text = schema or file.info.get("schema", b"").decode(errors="replace")
    if not text:
        raise CorruptTableError(f"{path} does not say which schema its records have")
    return text
