"""Writing an HFile of version 3 that Hudi's own reader, HBase's and hudi-rs accept.

Rules: `HFileWriterImpl`; docs/format/hfile.md#what-readers-need, #differences-of-the-native-writer-by-release. Laid out as Hudi's writer
does: data blocks, meta blocks, one index level, checksum type 0. Where its releases differ, the form is taken that all readers take: whole
cell keys in index and last key, lengths in Hadoop's way, each block naming the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO

from pyhudi.codec.hfile.block import BYTES_PER_CHECKSUM, Codec, Magic, pack_block
from pyhudi.codec.hfile.data_block import MAX_ROW_BYTES, CellBlock, encode_cell, encode_key, row_at
from pyhudi.codec.hfile.file_info import (
    AVERAGE_KEY_SIZE,
    AVERAGE_VALUE_SIZE,
    CELL_VERSION,
    CREATED_MS,
    LAST_KEY,
    MAX_MVCC,
    int_value,
    long_value,
    render_file_info,
)
from pyhudi.codec.hfile.index import render_root
from pyhudi.codec.hfile.stored_block import StoredBlock
from pyhudi.codec.hfile.trailer import Trailer, render_trailer
from pyhudi.errors import UsageError

BLOCK_BYTES = 1 << 20


@dataclass(slots=True)
class _Totals:
    """What the trailer and the file info tell of all cells."""

    entries: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    unpacked_bytes: int = 0


class HFileWriter:
    """Writes cells in order of their rows, then whatever else the file holds. The sink stays the caller's.

    Args:
        sink: where bytes go, front to back.
        created_ms: epoch milliseconds that the file says it was made at.
        codec: GZ or NONE.
        block_bytes: how many bytes of cells a block takes before the next one begins.

    Example:
        >>> import io
        >>> sink = io.BytesIO()
        >>> writer = HFileWriter(sink, created_ms=0)
        >>> writer.append(b"row", b"value")
        >>> writer.finish(info={"schema": b"..."})
    """

    def __init__(self, sink: BinaryIO, *, created_ms: int, codec: Codec = Codec.GZ, block_bytes: int = BLOCK_BYTES) -> None:
        self._sink = sink
        self._created_ms = created_ms
        self._codec = codec
        self._block_bytes = block_bytes
        self._offset = 0
        self._cells: list[bytes] = []
        self._waiting_bytes = 0
        self._first_row: bytes | None = None
        self._last_row: bytes | None = None
        self._index: list[tuple[bytes, int, int]] = []
        self._totals = _Totals()

    def __len__(self) -> int:
        """Return the number of cells that were added."""
        return self._totals.entries

    @property
    def first_row(self) -> bytes:
        """The row of the first cell, empty without one."""
        return self._first_row or b""

    @property
    def last_row(self) -> bytes:
        """The row of the last cell, empty without one."""
        return self._last_row or b""

    def append(self, row: bytes, value: bytes) -> None:
        """Add a cell.

        Raises:
            UsageError: the row does not come after the one before, or is longer than 32,767 bytes.
        """
        self._check_order(row)
        if len(row) > MAX_ROW_BYTES:
            raise UsageError(f"a key of {len(row)} bytes does not fit into an HFile, {MAX_ROW_BYTES} are allowed: {row[:40]!r}...")
        cell = encode_cell(row, value)
        if self._waiting_bytes + len(cell) > self._block_bytes:
            self._flush()
        self._cells.append(cell)
        self._waiting_bytes += len(cell)
        self._last_row = row
        self._count(1, len(row), len(value))

    def append_block(self, block: CellBlock) -> None:
        """Add a block of cells, whose rows ascend.

        Raises:
            UsageError: its first row does not come after the last one before.
        """
        self._flush()
        self._check_order(block.first_row)
        self._write_cells(block.payload, block.starts)
        self._last_row = block.last_row
        self._count(len(block.starts), block.row_bytes, block.value_bytes)

    def append_stored(self, block: StoredBlock) -> None:
        """Add a block as it is stored. Its cells are counted by `count_stored`, and a block whose rows are known must be the last.

        Raises:
            UsageError: its rows do not come after those before, or it is packed otherwise than this file.
            CorruptTableError: it is damaged.
        """
        self._flush()
        self._check_order(block.key)
        if block.packed.codec is not self._codec:
            raise UsageError(f"a block packed with {block.packed.codec.name} has no place in an HFile of {self._codec.name}")
        previous = self._index[-1][1] if self._index else -1
        data = block.packed.relinked(previous)
        self._index.append((encode_key(block.key), self._offset, len(data)))
        self._put(data)
        self._totals.unpacked_bytes += block.size
        self._last_row = block.key

    def count_stored(self, entries: int, row_bytes: int, value_bytes: int) -> None:
        """Count the cells of all the blocks that were added as they are stored."""
        self._count(entries, row_bytes, value_bytes)

    def finish(self, *, info: Mapping[str, bytes] | None = None, meta_blocks: Mapping[str, bytes] | None = None) -> None:
        """Write what is left: blocks, indexes, file info and trailer; `info` is added to the file info."""
        self._flush()
        meta_index = self._write_meta_blocks(meta_blocks or {})
        index_start = self._offset
        self._write(Magic.ROOT_INDEX, render_root(self._index))
        self._write(Magic.ROOT_INDEX, render_root(meta_index), index_start)
        info_start = self._offset
        self._write(Magic.FILE_INFO, render_file_info({**(info or {}), **self._file_info()}))
        trailer = Trailer(
            file_info_offset=info_start,
            load_on_open_offset=index_start,
            unpacked_index_size=self._totals.unpacked_bytes,  # as Hudi's writer fills this field
            data_index_count=len(self._index),
            meta_index_count=len(meta_index),
            entry_count=self._totals.entries,
            index_levels=1,
            first_data_offset=self._index[0][1] if self._index else -1,
            last_data_offset=self._index[-1][1] if self._index else 0,
            codec=self._codec,
        )
        self._sink.write(render_trailer(trailer))

    def _check_order(self, row: bytes) -> None:
        if self._last_row is not None and row <= self._last_row:
            raise UsageError(f"rows of an HFile must ascend and be unique: {row!r} comes after {self._last_row!r}")
        if self._first_row is None:
            self._first_row = row

    def _count(self, entries: int, row_bytes: int, value_bytes: int) -> None:
        totals = self._totals
        totals.entries += entries
        totals.key_bytes += row_bytes
        totals.value_bytes += value_bytes

    def _flush(self) -> None:
        """Write the cells that wait."""
        if self._cells:
            self._write_cells(b"".join(self._cells), list(accumulate(map(len, self._cells[:-1]), initial=0)))
            self._cells.clear()
            self._waiting_bytes = 0

    def _write_cells(self, payload: bytes, starts: Sequence[int]) -> None:
        """Write cells as a block, or each half of them.

        Java's reader takes a block for read when no more is left than its checksums take. A cell as small as that must
        not be the last of several; a smaller block has fewer checksums.
        """
        previous = self._index[-1][1] if self._index else -1
        block = pack_block(Magic.DATA, payload, self._codec, previous)
        if len(starts) > 1 and len(payload) - starts[-1] <= 4 * (len(block) // BYTES_PER_CHECKSUM + 1):
            half = len(starts) // 2
            middle = starts[half]
            self._write_cells(payload[:middle], starts[:half])
            self._write_cells(payload[middle:], [start - middle for start in starts[half:]])
            return
        self._index.append((encode_key(row_at(payload, starts[0])), self._offset, len(block)))
        self._put(block)
        self._totals.unpacked_bytes += len(payload)

    def _write_meta_blocks(self, blocks: Mapping[str, bytes]) -> list[tuple[bytes, int, int]]:
        entries: list[tuple[bytes, int, int]] = []
        for name in sorted(blocks):
            start = self._offset
            self._write(Magic.META, blocks[name], entries[-1][1] if entries else -1)
            entries.append((name.encode(), start, self._offset - start))
        return entries

    def _file_info(self) -> dict[str, bytes]:
        totals = self._totals
        return {
            LAST_KEY: b"" if self._last_row is None else encode_key(self._last_row),
            AVERAGE_KEY_SIZE: int_value(totals.key_bytes // max(totals.entries, 1)),
            AVERAGE_VALUE_SIZE: int_value(totals.value_bytes // max(totals.entries, 1)),
            CREATED_MS: long_value(self._created_ms),
            CELL_VERSION: int_value(1),
            MAX_MVCC: long_value(0),
        }

    def _write(self, magic: Magic, payload: bytes, previous: int = -1) -> None:
        self._put(pack_block(magic, payload, self._codec, previous))

    def _put(self, block: bytes) -> None:
        self._sink.write(block)
        self._offset += len(block)
