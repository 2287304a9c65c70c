"""Records of one file slice of the metadata table: its base file with its log files merged in.

Rules: `HoodieBackedTableMetadata`; docs/format/metadata-table.md#log-blocks, #rules-for-readers. Base file and log blocks are HFiles, so
rows are looked up in each by its index. What the logs hold of the wanted keys is kept, the base file is streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeAlias

from pyhudi.codec.hfile import HFileReader
from pyhudi.metadata_table.format.merge_records import Joined, join, merge_onto
from pyhudi.metadata_table.format.record import MetadataRecord
from pyhudi.metadata_table.format.record_codec import decoder_of
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.slice_files import SliceFiles, checked_text, deleted_keys, records_of_block
from pyhudi.metadata_table.read.slice_rewrite import BaseRewrite
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Takes from an open HFile the cells that are asked for.
_Fetch: TypeAlias = Callable[[HFileReader], Iterator[tuple[bytes, bytes]]]
#: Tells whether a key is among those that are asked for.
_Wants: TypeAlias = Callable[[str], bool]
#: What the logs say of each key, oldest first; None is a delete.
_Changes: TypeAlias = dict[str, list[MetadataRecord | None]]


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

    @contextmanager
    def rewrite(self, encoder: RecordEncoder) -> Iterator[BaseRewrite]:
        """Open the files to be merged into the next base file."""
        with self._files() as files:
            yield BaseRewrite(files, self._slice.group.partition_path, encoder)

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
                    merged = merge_onto(record, changes.pop(key, ()))
                    if merged is not None:
                        yield key, merged
        for key, records in changes.items():
            merged = merge_onto(None, records)
            if merged is not None:
                yield key, merged


def _everything(_: str) -> bool:
    return True


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
        yield checked_text(row, path), decoder.decode(value)
