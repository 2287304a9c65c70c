"""The data blocks of an open HFile: unpacked ahead of the caller, and kept as long as there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pyhudi.cache import LruCache
from pyhudi.codec.hfile.block import Codec, Magic
from pyhudi.codec.hfile.block_source import BlockSource
from pyhudi.codec.hfile.data_block import DataBlock
from pyhudi.codec.hfile.index import IndexEntry
from pyhudi.workers import workers


class DataBlocks:
    """Blocks by their index entries; `suffix` is that of `DataBlock`, `room` the bytes of payloads that are kept."""

    def __init__(self, source: BlockSource, codec: Codec, suffix: int, room: int) -> None:
        self._source = source
        self._codec = codec
        self._suffix = suffix
        self._blocks: LruCache[int, DataBlock] = LruCache(room, lambda block: block.size)

    def load(self, entries: Iterable[IndexEntry]) -> Iterator[DataBlock]:
        """Yield the blocks in the order of the entries.

        While the caller works on one, a thread unpacks the next: zlib runs in parallel with Python. The file is read by the
        caller's thread only.
        """
        coming = iter(entries)
        head = [entry for _, entry in zip(range(2), coming, strict=False)]
        if len(head) < 2:
            yield from (self._start(entry, ahead=False)() for entry in head)
            return
        waiting = self._start(head[0])
        for entry in chain(head[1:], coming):
            following = self._start(entry)
            yield waiting()
            waiting = following
        yield waiting()

    def _start(self, entry: IndexEntry, *, ahead: bool = True) -> Callable[[], DataBlock]:
        """Begin to get a block, on a thread if it is wanted ahead; what is returned waits for it."""
        if (retained := self._blocks.get(entry.offset)) is not None:
            return lambda: retained
        packed = self._source.packed(entry.offset, entry.size, Magic.DATA, self._codec)
        unpack = workers().begin(packed.unpack) if ahead else packed.unpack
        return lambda: self._keep(entry.offset, DataBlock(unpack(), self._suffix, packed.what))

    def _keep(self, offset: int, block: DataBlock) -> DataBlock:
        self._blocks.put(offset, block)
        return block
