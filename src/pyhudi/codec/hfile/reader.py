"""Reading an HFile of version 3: all of it, a range, or rows by the index, with only the blocks that are needed.

Rules: HBase reference guide, "HFile format"; `HFileReaderImpl`; docs/format/hfile.md. Served is what Hudi's
and HBase's writers make of Hudi's records: GZ or no compression, checksums of every type, any number of index levels,
meta blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from pyhudi.codec.hfile.block import Magic
from pyhudi.codec.hfile.block_source import BlockSource
from pyhudi.codec.hfile.data_block import CellPart, DataBlock
from pyhudi.codec.hfile.data_blocks import DataBlocks
from pyhudi.codec.hfile.file_info import cell_suffix_size, parse_file_info
from pyhudi.codec.hfile.index import parse_root
from pyhudi.codec.hfile.index_tree import IndexTree
from pyhudi.codec.hfile.stored_block import StoredBlock
from pyhudi.codec.hfile.trailer import TRAILER_SIZE, parse_trailer
from pyhudi.errors import CorruptTableError

_CACHE_BYTES = 16 * 1024 * 1024


class HFileReader:
    """An open HFile. Opening reads its end (one read, mostly); blocks are read when they are needed.

    Not for several threads at once. The file object stays the caller's.

    Args:
        source: a file that holds it, a log file for example.
        size: its length in bytes.
        what: names it in errors.
        start: where in the file it begins.
        cache_bytes: how many bytes of unpacked data blocks are kept for later lookups.

    Raises:
        CorruptTableError: the file is damaged. Every method may raise it for the blocks that it reads.
        UnsupportedError: it is compressed, encrypted or laid out as neither Hudi nor HBase write Hudi's files.

    Example:
        >>> from pyhudi.codec.hfile.writer import HFileWriter
        >>> import io
        >>> sink = io.BytesIO()
        >>> writer = HFileWriter(sink, created_ms=0)
        >>> writer.append(b"some-key", b"value")
        >>> writer.finish(info={})
        >>> HFileReader(sink, len(sink.getvalue())).get(b"some-key")
        b'value'
    """

    def __init__(self, source: BinaryIO, size: int, what: str = "the HFile", *, start: int = 0, cache_bytes: int = _CACHE_BYTES) -> None:
        if size < TRAILER_SIZE:
            raise CorruptTableError(f"{what} has {size} bytes; an HFile ends with {TRAILER_SIZE} of its own")
        self._source = file = BlockSource(source, size, what, start)
        self._trailer = trailer = parse_trailer(file.read(size - TRAILER_SIZE, TRAILER_SIZE), size, what)
        payload, end = file.payload_at(trailer.load_on_open_offset, Magic.ROOT_INDEX, trailer.codec)
        self._index = IndexTree(file, parse_root(payload, trailer.data_index_count, f"the index of {what}"), trailer)
        payload, _ = file.payload_at(end, Magic.ROOT_INDEX, trailer.codec)
        self._meta = parse_root(payload, trailer.meta_index_count, f"the meta index of {what}", of_rows=False)
        payload, _ = file.payload_at(trailer.file_info_offset, Magic.FILE_INFO, trailer.codec)
        self._info = info = parse_file_info(payload, what)
        self._data = DataBlocks(file, trailer.codec, cell_suffix_size(info, what), cache_bytes)

    def __len__(self) -> int:
        """Return the number of entries that the trailer tells."""
        return self._trailer.entry_count

    @property
    def info(self) -> Mapping[str, bytes]:
        """The named values that describe the file, e.g. `schema` (Avro, of the values), `minRecordKey`."""
        return self._info

    def meta_block(self, name: str) -> bytes | None:
        """Return the payload of a meta block, or None when there is none of that name; Hudi has `bloomFilter`."""
        for entry in self._meta.entries:
            if entry.key == name.encode():
                return self._source.packed(entry.offset, entry.size, Magic.META, self._trailer.codec).unpack()
        return None

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every (row, value) in the order of the file."""
        for block in self.blocks():
            yield from block.cells()

    def blocks(self) -> Iterator[DataBlock]:
        """Yield the data blocks in the order of the file."""
        count = 0
        for block in self._data.load(self._index.entries()):
            count += len(block)
            yield block
        if count != len(self):
            raise CorruptTableError(f"{self._source.what} holds {count} entries, its trailer says {len(self)}")

    def stored_blocks(self) -> Iterator[StoredBlock]:
        """Yield the data blocks in the order of the file as they are stored; nobody has looked at their cells, nor counted them."""
        suffix = cell_suffix_size(self._info, self._source.what)
        for entry in self._index.entries():
            yield StoredBlock(entry.key, self._source.packed(entry.offset, entry.size, Magic.DATA, self._trailer.codec), suffix)

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) of the rows that begin with `prefix`, in order; only blocks that may hold such are read."""
        for part in self.scan_parts(prefix):
            yield from part.cells()

    def scan_parts(self, prefix: bytes) -> Iterator[CellPart]:
        """Yield the same cells, those of a block together."""
        end = _after_prefix(prefix)
        for block in self._data.load(self._index.entries(prefix, end)):
            yield block.part(prefix, end)

    def get(self, row: bytes) -> bytes | None:
        """Return the value of a row, or None when it is not in the file; of equal rows the first counts."""
        return next((value for _, value in self.get_many([row])), None)

    def get_many(self, rows: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) for those of the rows that are in the file, in the order of rows, each once.

        Each block that may hold some of them is read once. Sorted rows cost the least.
        """
        parts = list(self._index.parts(sorted(rows)))
        last = None
        for (_, part), block in zip(parts, self._data.load(entry for entry, _ in parts), strict=True):
            for row, value in block.find(part):
                if row != last:
                    yield row, value
                last = row


def _after_prefix(prefix: bytes) -> bytes | None:
    """Return the smallest row greater than all that begin with `prefix`; None when there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
