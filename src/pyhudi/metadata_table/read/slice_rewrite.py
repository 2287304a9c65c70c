"""The next base file of a file slice of the metadata table, block by block: its base file with its log files merged in.

Rules: as `slice_reader`. A block that no log changes is copied as it is stored, one that logs change is spliced: so a compaction costs what
the logs change, and a copy of the rest. Where there is no base file yet, the oldest block of records takes its place: the first write of
an index of records leaves millions of them in a log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, dropwhile, pairwise
from typing import BinaryIO, TypeAlias

from pyhudi.codec.bloom_codec import BloomType, StoredFilter
from pyhudi.codec.hfile import DataBlock, HFileReader, StoredBlock
from pyhudi.codec.hfile.cells import CELL_END
from pyhudi.codec.hfile.data_block import CELL_OVERHEAD
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.metadata_table.format.record_codec import RecordDecoder, decoder_of
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.slice_files import SliceFiles, checked_text, deleted_keys, records_of_block
from pyhudi.metadata_table.read.spliced_block import BlockSplicer, ChangedBlock, Changes
from pyhudi.spec.files.log_block import BlockType, LogBlock

#: A block of a log file, and the open file.
_OpenBlock: TypeAlias = tuple[BinaryIO, LogBlock]


@dataclass(frozen=True, slots=True)
class CopiedCells:
    """How many cells the blocks have that are copied as they are stored, and the bytes of their rows and of their values."""

    entries: int
    row_bytes: int
    value_bytes: int


class BaseRewrite:
    """Merges the files of a slice of a `partition`, which are open; `encoder` makes the records of the new file.

    Raises:
        CorruptTableError: a file is damaged. Every method may raise it.
    """

    def __init__(self, files: SliceFiles, partition: str, encoder: RecordEncoder) -> None:
        blocks = files.blocks()
        base = files.base()
        file, schema, self._path = base or _oldest_records(blocks)
        self._file = file
        self._has_base = base is not None
        decoder = None if file is None else RecordDecoder(schema, self._path)
        # A log may hold records that only say that something is deleted, which a base file leaves out; indexes of records have none.
        drops_tombstones = base is None and partition != RECORD_INDEX
        self._changes = _stored_changes(blocks)
        self._splicer = BlockSplicer(decoder, encoder, self._changes, drops_tombstones=drops_tombstones)
        self._may_copy = not drops_tombstones and schema == encoder.file_schema
        self._loaded_entries = self._loaded_row_bytes = self._copied_bytes = self._copied_blocks = 0

    @property
    def entries(self) -> int:
        """How many cells the file before has."""
        return 0 if self._file is None else len(self._file)

    def stored_filter(self, max_entries: int) -> StoredFilter | None:
        """Return the bloom filter of the base file, None when it has none that can be added to."""
        text = self._file.meta_block("bloomFilter") if self._file is not None and self._has_base else None
        if self._file is None or text is None:
            return None
        try:
            kind = BloomType(self._file.info.get("bloomFilterTypeCode", b"").decode(errors="replace"))
            return StoredFilter.of(text.decode(errors="replace"), kind, max_entries=max_entries)
        except (ValueError, CorruptTableError):
            return None

    def blocks(self, *, copies: bool) -> Iterator[StoredBlock | ChangedBlock]:
        """Yield the blocks of the new file; the rows of the first and the last are known.

        Args:
            copies: let other blocks stay as they are stored; or else the rows of all are known.
        """
        waiting: StoredBlock | None = None
        for block in self._merged(copies=copies):
            if waiting is not None:
                self._copied_blocks += 1
                self._copied_bytes += waiting.size
                yield waiting
            waiting = None
            if isinstance(block, ChangedBlock):
                yield block
            else:
                waiting = block
        if waiting is not None:
            yield from self._splicer.splice(self._load(waiting), ())

    def copied_cells(self) -> CopiedCells:
        """Return the cells of all copied blocks, once all blocks are written. Their rows are taken for as long as those of other blocks."""
        entries = self.entries - self._loaded_entries
        if not self._copied_blocks <= entries <= self._copied_bytes // CELL_OVERHEAD:
            raise CorruptTableError(f"{self._path} does not hold the {self.entries} entries that its trailer says")
        text_bytes = self._copied_bytes - entries * CELL_OVERHEAD
        row_bytes = min(text_bytes, entries * self._loaded_row_bytes // max(self._loaded_entries, 1))
        return CopiedCells(entries, row_bytes, text_bytes - row_bytes)

    def _merged(self, *, copies: bool) -> Iterator[StoredBlock | ChangedBlock]:
        rows, at, is_begun, last_key = sorted(self._changes), 0, False, b""
        for block, following in _with_following(() if self._file is None else self._file.stored_blocks()):
            end = len(rows) if following is None else bisect_left(rows, following.key, at)
            is_unchanged = at == end and self._may_copy and block.is_laid_out_as_written
            # Where equal keys follow on each other, rows may be repeated: the writer refuses those whose rows are known.
            if copies and is_begun and is_unchanged and last_key < block.key and _is_apart(block, following):
                yield block
            else:
                for changed in self._splicer.splice(self._load(block), rows[at:end]):
                    is_begun = True
                    yield changed
            at, last_key = end, block.key
        if at < len(rows):
            yield from self._splicer.splice(DataBlock(b"", len(CELL_END), "no block"), rows[at:])

    def _load(self, stored: StoredBlock) -> DataBlock:
        block = stored.load()
        checked_text(b"".join(block.rows), self._path)
        self._loaded_entries += len(block)
        self._loaded_row_bytes += sum(map(len, block.rows))
        return block


def _oldest_records(blocks: Iterator[_OpenBlock]) -> tuple[HFileReader | None, str, str]:
    """Take the oldest block of records with its schema and path; deletes before it are of what was never there."""
    for source, block in dropwhile(lambda one: one[1].type is BlockType.DELETE, blocks):
        return *records_of_block(source, block), block.path
    return None, "", ""


def _is_apart(block: StoredBlock, following: StoredBlock | None) -> bool:
    return following is None or block.key < following.key


def _with_following(blocks: Iterable[StoredBlock]) -> Iterator[tuple[StoredBlock, StoredBlock | None]]:
    """Yield each block with the one after it."""
    ended: list[StoredBlock | None] = [None]
    for block, following in pairwise(chain(blocks, ended)):
        if block is not None:
            yield block, following


def _stored_changes(blocks: Iterable[_OpenBlock]) -> Changes:
    changes: Changes = {}
    for source, block in blocks:
        if block.type is BlockType.DELETE:
            for key in deleted_keys(source, block):
                changes.setdefault(key.encode(), []).append(None)
        else:
            file, schema = records_of_block(source, block)
            decoder = decoder_of(schema, block.path, len(file))
            for row, value in file.entries():
                checked_text(row, block.path)
                changes.setdefault(row, []).append((decoder, value))
    return changes
