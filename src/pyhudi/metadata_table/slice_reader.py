"""Records of one file slice of the metadata table: its base file with its log files merged in.

Rules: `HoodieBackedTableMetadata`; format notes (metadata table) 2.6 and 7. Base file and log blocks are HFiles, so rows
are looked up in each by its index. What the logs hold of the wanted keys is kept, the base file is streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import reduce
from typing import BinaryIO, TypeAlias

from pyhudi.codec.hfile import HFileReader
from pyhudi.codec.log_content import decode_deletes
from pyhudi.codec.log_file import read_content, scan_blocks
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.log_choice import choose_blocks
from pyhudi.metadata_table.merge import merge
from pyhudi.metadata_table.record import MetadataRecord
from pyhudi.metadata_table.record_codec import RecordDecoder
from pyhudi.metadata_table.record_encoder import RecordEncoder
from pyhudi.spec.file_group import FileSlice
from pyhudi.spec.log_block import BlockType, LogBlock
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Takes from an open HFile the cells that are asked for.
_Fetch: TypeAlias = Callable[[HFileReader], Iterator[tuple[bytes, bytes]]]
#: What the logs say of each key, oldest first; None is a delete.
_Changes: TypeAlias = dict[str, list[MetadataRecord | None]]


class SliceReader:
    """Reads one slice; `storage` is that of the metadata table, whose `timeline` tells which log blocks count."""

    def __init__(self, storage: Storage, slice_: FileSlice, timeline: Timeline) -> None:
        self._storage = storage
        self._slice = slice_
        self._visibility = timeline.visibility
        self._layout = timeline.layout

    def get_many(self, keys: Iterable[str]) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) for those of the keys that are here."""
        rows = sorted(key.encode() for key in keys)
        return self._merged(lambda file: file.get_many(rows))

    def scan(self, prefix: str = "") -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) of the keys that begin with `prefix`, in no particular order."""
        row = prefix.encode()
        return self._merged(lambda file: file.scan(row))

    def cells(self, encoder: RecordEncoder) -> Iterator[tuple[bytes, bytes]]:
        """Yield all (row, value) in order of rows, as a new base file holds them: what no log changes stays as it is."""
        changes = {key.encode(): records for key, records in self._changes(HFileReader.entries).items()}
        waiting = sorted(changes, reverse=True)
        with ExitStack() as files:
            for row, value, decoder in self._base_cells(files):
                while waiting and waiting[-1] < row:
                    yield from _cell(waiting[-1], _after(None, changes[waiting.pop()]), encoder)
                if waiting and waiting[-1] == row:
                    yield from _cell(row, _after(decoder.decode(value), changes[waiting.pop()]), encoder)
                elif decoder.schema == encoder.file_schema:
                    yield row, value
                else:
                    yield row, encoder.encode(decoder.decode(value))
            while waiting:
                yield from _cell(waiting[-1], _after(None, changes[waiting.pop()]), encoder)

    def _base_cells(self, files: ExitStack) -> Iterator[tuple[bytes, bytes, RecordDecoder]]:
        base = self._slice.base
        if base is not None:
            file = HFileReader(files.enter_context(self._storage.open_input(base.path)), base.size, base.path)
            decoder = RecordDecoder(_schema(file, None, base.path), base.path)
            yield from ((row, value, decoder) for row, value in file.entries())

    def _merged(self, fetch: _Fetch) -> Iterator[tuple[str, MetadataRecord]]:
        changes = self._changes(fetch)
        base = self._slice.base
        if base is not None:
            with self._storage.open_input(base.path) as source:
                for key, record in _records(HFileReader(source, base.size, base.path), None, fetch, base.path):
                    merged = _after(record, changes.pop(key, ()))
                    if merged is not None:
                        yield key, merged
        for key, records in changes.items():
            merged = _after(None, records)
            if merged is not None:
                yield key, merged

    def _changes(self, fetch: _Fetch) -> _Changes:
        changes: _Changes = {}
        with ExitStack() as files:
            sources = {log.path: files.enter_context(self._storage.open_input(log.path)) for log in self._slice.logs}
            blocks = (block for log in self._slice.logs for block in scan_blocks(sources[log.path], log.path, log.size))
            for block in choose_blocks(blocks, self._visibility, self._layout):
                for key, record in _block_changes(sources[block.path], block, fetch):
                    changes.setdefault(key, []).append(record)
        return changes


def _block_changes(source: BinaryIO, block: LogBlock, fetch: _Fetch) -> Iterator[tuple[str, MetadataRecord | None]]:
    if block.type is BlockType.DELETE:
        yield from ((key, None) for key in decode_deletes(read_content(source, block)).keys)
    elif block.type is not BlockType.HFILE:
        raise UnsupportedError(f"{block.path} holds a block of type {block.type.name}; metadata tables have HFILE and DELETE blocks")
    else:
        file = HFileReader(source, block.content_size, block.path, start=block.content_offset)
        yield from _records(file, block.header.schema_json, fetch, block.path)


def _records(file: HFileReader, schema: str | None, fetch: _Fetch, path: str) -> Iterator[tuple[str, MetadataRecord]]:
    decoder = RecordDecoder(_schema(file, schema, path), path)
    for row, value in fetch(file):
        try:
            key = row.decode()
        except UnicodeDecodeError:
            raise CorruptTableError(f"{path} holds the key {row!r}, which is no UTF-8 text") from None
        yield key, decoder.decode(value)


def _schema(file: HFileReader, schema: str | None, path: str) -> str:
    text = schema or file.info.get("schema", b"").decode(errors="replace")
    if not text:
        raise CorruptTableError(f"{path} does not say which schema its records have")
    return text


def _cell(row: bytes, record: MetadataRecord | None, encoder: RecordEncoder) -> Iterator[tuple[bytes, bytes]]:
    if record is not None:
        yield row, encoder.encode(record)


def _after(record: MetadataRecord | None, changes: Iterable[MetadataRecord | None]) -> MetadataRecord | None:
    """Return what a base record (None: there is none) becomes through the changes."""
    start = None if record is None else merge(None, record)
    return reduce(lambda older, newer: None if newer is None else merge(older, newer), changes, start)
