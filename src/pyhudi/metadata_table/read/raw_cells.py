"""Cells of one file slice of the metadata table as they are stored, for who decodes many of them at once.

Rules: as in `slice_reader`, which gives records. What only one file holds of a key is handed out as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import BinaryIO, TypeAlias

from pyhudi.codec.hfile import CellPart, HFileReader
from pyhudi.metadata_table.format.merge_records import are_whole_stats, merge
from pyhudi.metadata_table.format.record import MetadataRecord
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.slice_files import SliceFiles, deleted_keys, records_of_block
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

_Fetch: TypeAlias = Callable[[HFileReader], Iterator[CellPart]]
#: A value, its schema and its file.
_Stored: TypeAlias = tuple[bytes, str, str]


@dataclass(frozen=True, slots=True)
class StoredCells:
    """Cells, and the Avro schema that all their values follow."""

    part: CellPart
    schema: str


def scan_cells(storage: Storage, slice_: FileSlice, timeline: Timeline, prefixes: Iterable[str]) -> Iterator[StoredCells]:
    """Yield the cells of the keys that begin with one of the prefixes; storage and timeline are those of the metadata table.

    What more than one file says of a key is merged, and encoded again. Marks of deletion in the records are left in.

    Raises:
        CorruptTableError: a file is damaged or missing.
    """
    rows = sorted(prefix.encode() for prefix in prefixes)
    return _cells(storage, slice_, timeline, lambda file: chain.from_iterable(map(file.scan_parts, rows)))


def get_cells(storage: Storage, slice_: FileSlice, timeline: Timeline, keys: Iterable[str]) -> Iterator[StoredCells]:
    """Yield the cells of those of the keys that are there; see `scan_cells`."""
    rows = sorted(key.encode() for key in keys)
    return _cells(storage, slice_, timeline, lambda file: iter([CellPart.of(list(file.get_many(rows)))]))


@dataclass(frozen=True, slots=True)
class Part:
    """A base file or a log block: an HFile of records, or (`file` None) keys that are deleted; `size` in bytes."""

    file: HFileReader | None
    deleted: tuple[str, ...]
    size: int


def parts_of(storage: Storage, slice_: FileSlice, timeline: Timeline, files: ExitStack) -> Iterator[Part]:
    """Yield the base file and the log blocks of a slice, oldest first; they can be read as long as `files` is open."""
    slice_files = files.enter_context(SliceFiles(storage, slice_, timeline))
    if slice_.base is not None and (base := slice_files.base()) is not None:
        yield Part(base[0], (), slice_.base.size)
    for source, block in slice_files.blocks():
        if block.type is BlockType.DELETE:
            yield Part(None, tuple(deleted_keys(source, block)), block.content_size)
        else:
            yield Part(records_of_block(source, block)[0], (), block.content_size)


def _cells(storage: Storage, slice_: FileSlice, timeline: Timeline, fetch: _Fetch) -> Iterator[StoredCells]:
    changes: dict[bytes, list[_Stored | None]] = {}
    with SliceFiles(storage, slice_, timeline) as files:
        for source, block in files.blocks():
            for row, stored in _block_cells(source, block, fetch):
                changes.setdefault(row, []).append(stored)
        if (base := files.base()) is not None:
            file, schema, path = base
            for part in fetch(file):
                changed = [index for index, row in enumerate(part.rows) if row in changes] if changes else []
                for row, value in part.take(changed).cells():
                    changes[row].insert(0, (value, schema, path))
                yield StoredCells(_without(part, changed) if changed else part, schema)
    merged: dict[str, list[tuple[bytes, bytes]]] = {}
    for row, parts in changes.items():
        for value, schema in _merge_cells(parts):
            merged.setdefault(schema, []).append((row, value))
    for schema, cells in merged.items():
        yield StoredCells(CellPart.of(cells), schema)


def _without(part: CellPart, indices: Collection[int]) -> CellPart:
    left_out = set(indices)
    return part.take([index for index in range(len(part.rows)) if index not in left_out])


def _block_cells(source: BinaryIO, block: LogBlock, fetch: _Fetch) -> Iterator[tuple[bytes, _Stored | None]]:
    if block.type is BlockType.DELETE:
        yield from ((key.encode(), None) for key in deleted_keys(source, block))
        return
    file, schema = records_of_block(source, block)
    yield from ((row, (value, schema, block.path)) for part in fetch(file) for row, value in part.cells())


def _merge_cells(parts: list[_Stored | None]) -> Iterator[tuple[bytes, str]]:
    """Yield what several files say of a key, oldest first, as one value with its schema; nothing when it was deleted."""
    while None in parts:
        parts = parts[parts.index(None) + 1 :]
    stored = [part for part in parts if part is not None]
    if not stored:
        return
    value, schema, path = stored[-1]
    if len(stored) == 1 or are_whole_stats(newest := RecordDecoder(schema, path).decode(value)):
        yield value, schema
    else:
        records = [RecordDecoder(schema, path).decode(value) for value, schema, path in stored[:-1]]
        record = reduce(_after, [*records, newest], None)
        if record is not None:
            encoder = RecordEncoder(TableVersion.NINE if "HoodieValueTypeInfo" in schema else TableVersion.EIGHT)
            yield encoder.encode(record), encoder.file_schema


def _after(older: MetadataRecord | None, newer: MetadataRecord) -> MetadataRecord | None:
    return merge(older, newer)
