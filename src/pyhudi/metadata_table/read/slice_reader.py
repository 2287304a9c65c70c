"""Records of one file slice of the metadata table: its base file with its log files merged in.

Rules: `HoodieBackedTableMetadata`; docs/format/metadata-table.md#log-blocks, #rules-for-readers. Base file and log blocks are HFiles, so
rows are looked up in each by its index. What the logs hold of the wanted keys is kept, the base file is streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from pyhudi.codec.hfile import CellBlock, DataBlock, HFileReader
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.merge_records import Joined, is_tombstone, join, merge, merge_all
from pyhudi.metadata_table.format.record import MetadataRecord
from pyhudi.metadata_table.format.record_codec import RecordDecoder, decoder_of
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.slice_files import SliceFiles, deleted_keys, records_of_block
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Takes from an open HFile the cells that are asked for.
_Fetch: TypeAlias = Callable[[HFileReader], Iterator[tuple[bytes, bytes]]]
#: Tells whether a key is among those that are asked for.
_Wants: TypeAlias = Callable[[str], bool]
#: A record as its bytes, and what decodes them.
_Stored: TypeAlias = tuple[RecordDecoder, bytes]
#: What the logs say of each key, oldest first; None is a delete.
_Changes: TypeAlias = dict[str, list[MetadataRecord | None]]


@dataclass(frozen=True, slots=True)
class UnchangedBlock:
    """A block of the base file that no log changes, and its rows."""

    rows: Sequence[bytes]
    block: CellBlock


#: What a new base file is made of: cells (row and value), and blocks.
CellRun: TypeAlias = tuple[bytes, bytes] | UnchangedBlock


class SliceReader:
    """Reads one slice; `storage` is that of the metadata table, whose `timeline` tells which log blocks count."""

    def __init__(self, storage: Storage, slice_: FileSlice, timeline: Timeline) -> None:
        self._storage = storage
        self._slice = slice_
        self._timeline = timeline

    def get_many(self, keys: Iterable[str]) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) for those of the keys that are here."""
        unique_keys = set(keys)
        rows = sorted(key.encode() for key in unique_keys)
        return self._merge_records(lambda file: file.get_many(rows), unique_keys.__contains__)

    def scan(self, prefix: str = "") -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) of the keys that begin with `prefix`, in no particular order."""
        row = prefix.encode()
        return self._merge_records(lambda file: file.scan(row), lambda key: key.startswith(prefix))

    def cell_runs(self, encoder: RecordEncoder) -> Iterator[CellRun]:
        """Yield all cells in order of rows, as a new base file holds them: blocks that no log changes stay as they are."""
        with self._files() as files:
            changes = _stored_changes(files.blocks())
            waiting = sorted(changes, reverse=True)
            for block, decoder in _base_blocks(files):
                rows = block.rows
                whole = block.whole() if decoder.schema == encoder.file_schema and rows else None
                if whole is not None and not (waiting and waiting[-1] <= rows[-1]):
                    yield UnchangedBlock(rows, whole)
                    continue
                for row, value in block.cells():
                    while waiting and waiting[-1] < row:
                        yield from _cell(waiting[-1], None, changes[waiting.pop()], encoder)
                    if waiting and waiting[-1] == row:
                        yield from _cell(row, (decoder, value), changes[waiting.pop()], encoder)
                    elif decoder.schema == encoder.file_schema:
                        yield row, value
                    else:
                        yield row, encoder.encode(decoder.decode(value))
            while waiting:
                yield from _cell(waiting[-1], None, changes[waiting.pop()], encoder)

    def blocks(self) -> tuple[LogBlock, ...]:
        """Return the blocks of the logs that count, in the order in which they apply."""
        with self._files() as files:
            return tuple(block for _, block in files.blocks())

    def joined(self) -> tuple[tuple[LogBlock, ...], dict[str, Joined]]:
        """Return these blocks, and what they do together to each key, whatever the base file says of it."""
        with self._files() as files:
            blocks = tuple(files.blocks())
            changes = _changes(blocks, HFileReader.entries, _everything)
        return tuple(block for _, block in blocks), {key: join(records) for key, records in changes.items()}

    def _files(self) -> SliceFiles:
        return SliceFiles(self._storage, self._slice, self._timeline)

    def _merge_records(self, fetch: _Fetch, wants: _Wants) -> Iterator[tuple[str, MetadataRecord]]:
        with self._files() as files:
            changes = _changes(files.blocks(), fetch, wants)
            if (base := files.base()) is not None:
                file, schema, path = base
                for key, record in _records(file, schema, fetch, path):
                    merged = _after(record, changes.pop(key, ()))
                    if merged is not None:
                        yield key, merged
        for key, records in changes.items():
            merged = _after(None, records)
            if merged is not None:
                yield key, merged


def _everything(_: str) -> bool:
    return True


def _base_blocks(files: SliceFiles) -> Iterator[tuple[DataBlock, RecordDecoder]]:
    if (base := files.base()) is not None:
        file, schema, path = base
        decoder = RecordDecoder(schema, path)
        yield from ((block, decoder) for block in file.blocks())


def _stored_changes(blocks: Iterable[tuple[BinaryIO, LogBlock]]) -> dict[bytes, list[_Stored | None]]:
    """Return what the logs say of each row, oldest first; None is a delete."""
    changes: dict[bytes, list[_Stored | None]] = {}
    for source, block in blocks:
        if block.type is BlockType.DELETE:
            for key in deleted_keys(source, block):
                changes.setdefault(key.encode(), []).append(None)
        else:
            file, schema = records_of_block(source, block)
            decoder = decoder_of(schema, block.path, len(file))
            for row, value in file.entries():
                _check_text(row, block.path)
                changes.setdefault(row, []).append((decoder, value))
    return changes


def _changes(blocks: Iterable[tuple[BinaryIO, LogBlock]], fetch: _Fetch, wants: _Wants) -> _Changes:
    changes: _Changes = {}
    for source, block in blocks:
        for key, record in _block_changes(source, block, fetch, wants):
            changes.setdefault(key, []).append(record)
    return changes


def _block_changes(source: BinaryIO, block: LogBlock, fetch: _Fetch, wants: _Wants) -> Iterator[tuple[str, MetadataRecord | None]]:
    if block.type is BlockType.DELETE:
        yield from ((key, None) for key in deleted_keys(source, block) if wants(key))
    else:
        file, schema = records_of_block(source, block)
        yield from _records(file, schema, fetch, block.path)


def _records(file: HFileReader, schema: str, fetch: _Fetch, path: str) -> Iterator[tuple[str, MetadataRecord]]:
    decoder = decoder_of(schema, path, len(file))
    for row, value in fetch(file):
        yield _check_text(row, path), decoder.decode(value)


def _check_text(row: bytes, path: str) -> str:
    try:
        return row.decode()
    except UnicodeDecodeError:
        raise CorruptTableError(f"{path} holds the key {row!r}, which is no UTF-8 text") from None


def _cell(row: bytes, base: _Stored | None, changes: Sequence[_Stored | None], encoder: RecordEncoder) -> Iterator[tuple[bytes, bytes]]:
    """Yield the cell of a new base file. A tombstone is left out: nothing older lies below a base file.

    Most keys have one record, which is copied.
    """
    last = changes[-1]
    if last is None:
        return
    decoder, value = last
    if decoder.schema == encoder.file_schema:
        if decoder.is_tombstone(value):
            return
        if base is None and len(changes) == 1:
            yield row, value
            return
    records = (None if change is None else change[0].decode(change[1]) for change in changes)
    record = _after(None if base is None else base[0].decode(base[1]), records)
    if record is not None and not is_tombstone(record):
        yield row, encoder.encode(record)


def _after(record: MetadataRecord | None, changes: Iterable[MetadataRecord | None]) -> MetadataRecord | None:
    """Return what a base record (None: there is none) becomes through the changes."""
    return merge_all(None if record is None else merge(None, record), changes)
