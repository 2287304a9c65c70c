"""One block of an HFile of the metadata table after the changes of some of its rows: cells that no change meets stay the bytes they are.

Rules: docs/format/metadata-table.md#log-blocks, docs/format/hfile.md#cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from pyhudi.codec.hfile import CellBlock, DataBlock
from pyhudi.codec.hfile.cells import CELL_END
from pyhudi.codec.hfile.data_block import encode_cell
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format import cell_blocks
from pyhudi.metadata_table.format.merge_records import is_tombstone, merge_onto
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder

#: A record as its bytes, and what decodes them.
Stored: TypeAlias = tuple[RecordDecoder, bytes]
#: What the logs say of each row, oldest first; None is a delete.
Changes: TypeAlias = dict[bytes, list[Stored | None]]


@dataclass(frozen=True, slots=True)
class ChangedBlock:
    """A block of the new file with its rows, and those of the rows that the file before did not have."""

    block: CellBlock
    rows: Sequence[bytes]
    new_rows: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class BlockSplicer:
    """Puts changes into blocks whose values `decoder` decodes; None where there are no such. The new values are those of `encoder`.

    `drops_tombstones`: blocks may hold records that only say that something is deleted, which are left out.
    """

    decoder: RecordDecoder | None
    encoder: RecordEncoder
    changes: Changes
    drops_tombstones: bool

    def splice(self, block: DataBlock, rows: Sequence[bytes]) -> Iterator[ChangedBlock]:
        """Yield the blocks that a block becomes by the changes of some rows in order, none when no cell is left.

        Raises:
            CorruptTableError: the rows of the block do not ascend, or a record is damaged.
        """
        values, known, decoder = block.part(), block.rows, self.decoder
        if rows and len(set(known)) < len(known):
            raise CorruptTableError(f"{'the metadata table' if decoder is None else decoder.what} holds a key twice")
        new_rows: list[bytes] = []
        payload, starts = self._as_written(block)
        runs: list[bytes] = []
        begin = at = 0
        for row in self._with_tombstones(block, rows):
            at = bisect_left(known, row, at)
            is_known = decoder is not None and at < len(known) and known[at] == row
            base = (decoder, values.value(at)) if decoder is not None and is_known else None
            cells = [encode_cell(*cell) for cell in self._cell(row, base)]
            runs += (payload[begin : starts[at]], *cells)
            begin = starts[at + is_known]
            if cells and not is_known:
                new_rows.append(row)
        runs.append(payload[begin:])
        for part in _parts(b"".join(runs)):
            yield ChangedBlock(part.whole(), part.rows, new_rows)
            new_rows = []

    def _with_tombstones(self, block: DataBlock, rows: Sequence[bytes]) -> Sequence[bytes]:
        decoder = self.decoder
        if not self.drops_tombstones or decoder is None:
            return rows
        return sorted({*rows, *(row for row, value in block.cells() if decoder.is_tombstone(value))})

    def _as_written(self, block: DataBlock) -> tuple[bytes, Sequence[int]]:
        """Return the cells as they are written here, where each begins, and where the last one ends."""
        decoder, encoder = self.decoder, self.encoder
        if decoder is None or decoder.schema == encoder.file_schema:
            if block.is_laid_out_as_written:
                return block.payload, [*block.starts, len(block.payload)]
            cells = [encode_cell(row, value) for row, value in block.cells()]
        else:
            cells = [encode_cell(row, encoder.encode(decoder.decode(value))) for row, value in block.cells()]
        return b"".join(cells), list(accumulate(map(len, cells), initial=0))

    def _cell(self, row: bytes, base: Stored | None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the cell of a row after its changes. A tombstone is left out: nothing older lies below a base file.

        Most rows have one record, which is copied.
        """
        changes = self.changes.get(row, ())
        last = base if not changes else changes[-1]
        if last is None:
            return
        decoder, value = last
        if decoder.schema == self.encoder.file_schema:
            if decoder.is_tombstone(value):
                return
            if base is None and len(changes) == 1:
                yield row, value
                return
        records = (None if change is None else change[0].decode(change[1]) for change in changes)
        record = merge_onto(None if base is None else base[0].decode(base[1]), records)
        if record is not None and not is_tombstone(record):
            yield row, self.encoder.encode(record)


def _parts(payload: bytes) -> Iterator[DataBlock]:
    """Yield cells as blocks: as one, unless that became much larger than a block should be."""
    block = DataBlock(payload, len(CELL_END), "a new block")
    if len(payload) <= 2 * cell_blocks.BLOCK_BYTES:
        yield from (block,) if payload else ()
        return
    ends = np.array([*block.starts, len(payload)], np.int64)
    for first, last in pairwise(cell_blocks.borders(ends)):
        yield DataBlock(payload[ends[first] : ends[last]], len(CELL_END), "a new block")
