"""Walking the data index of an open HFile, root to leaves, to the blocks that may hold certain rows.

Hudi's writer makes one level; HBase's makes up to three, whose lower nodes are blocks of the file and are read when
the walk comes to them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from pyhudi.codec.hfile.block import Magic
from pyhudi.codec.hfile.block_source import BlockSource
from pyhudi.codec.hfile.index import Index, IndexEntry, parse_node
from pyhudi.codec.hfile.trailer import Trailer
from pyhudi.errors import CorruptTableError


class IndexTree:
    """The index below its root; `trailer` tells the levels and the codec."""

    def __init__(self, source: BlockSource, root: Index, trailer: Trailer) -> None:
        self._source = source
        self._root = root
        self._levels = trailer.index_levels
        self._codec = trailer.codec

    def entries(self, start: bytes = b"", end: bytes | None = None) -> Iterator[IndexEntry]:
        """Yield the entries of the data blocks that may hold rows from `start` to before `end`, in order."""
        return self._entries(self._root, _Walk(self._source.what, self._levels), start, end)

    def parts(self, rows: Sequence[bytes]) -> Iterator[tuple[IndexEntry, Sequence[bytes]]]:
        """Yield the entries of the data blocks that may hold some of the sorted rows, with those rows.

        A row equal to a block's key may also be at the end of the block before, and is given to both.
        """
        return self._parts(self._root, _Walk(self._source.what, self._levels), rows)

    def _entries(self, index: Index, walk: _Walk, start: bytes, end: bytes | None) -> Iterator[IndexEntry]:
        first = max(bisect_left(index.keys, start) - 1, 0)
        last = len(index.keys) if end is None else bisect_left(index.keys, end)
        for entry in index.entries[first:last]:
            walk.visit(entry)
            if walk.level == 1:
                yield entry
            else:
                node = self._node(entry, walk.level)
                walk.level -= 1
                yield from self._entries(node, walk, start, end)
                walk.level += 1

    def _parts(self, index: Index, walk: _Walk, rows: Sequence[bytes]) -> Iterator[tuple[IndexEntry, Sequence[bytes]]]:
        if not rows:
            return
        first = max(bisect_left(index.keys, rows[0]) - 1, 0)
        last = bisect_right(index.keys, rows[-1])
        for position in range(first, last):
            start = bisect_left(rows, index.keys[position])
            end = bisect_right(rows, index.keys[position + 1]) if position + 1 < last else len(rows)
            if start == end:
                continue
            entry = index.entries[position]
            walk.visit(entry)
            if walk.level == 1:
                yield entry, rows[start:end]
            else:
                node = self._node(entry, walk.level)
                walk.level -= 1
                yield from self._parts(node, walk, rows[start:end])
                walk.level += 1

    def _node(self, entry: IndexEntry, level: int) -> Index:
        magic = Magic.LEAF_INDEX if level == 2 else Magic.INTERMEDIATE_INDEX
        packed = self._source.packed(entry.offset, entry.size, magic, self._codec)
        return parse_node(packed.unpack(), packed.what)


class _Walk:
    """Where one walk is. Each level only goes forward in the file, so that a forged index cannot send it in circles."""

    def __init__(self, what: str, levels: int) -> None:
        self.level = levels
        self._what = what
        self._passed = [-1] * (levels + 1)

    def visit(self, entry: IndexEntry) -> None:
        if entry.offset <= self._passed[self.level]:
            raise CorruptTableError(f"the index of {self._what} refers to the block at byte {entry.offset} twice or out of order")
        self._passed[self.level] = entry.offset
