"""Data blocks as a file stores them: to be read, or to be copied to another file without a look at their cells."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.codec.hfile.block import Codec
from pyhudi.codec.hfile.block_source import PackedBlock
from pyhudi.codec.hfile.cells import CELL_END
from pyhudi.codec.hfile.data_block import DataBlock


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block, the row that its index entry names, and the bytes behind each of its values.

    `key` is a lower bound of the rows of the block, and an upper bound of those before.
    """

    key: bytes
    packed: PackedBlock
    suffix: int

    @property
    def size(self) -> int:
        """Bytes of the payload once it is unpacked.

        Raises:
            CorruptTableError: the block is damaged.
        """
        return self.packed.header.unpacked_size

    @property
    def is_laid_out_as_written(self) -> bool:
        """True when its cells end as they are written here, and it is packed so."""
        return self.suffix == len(CELL_END) and self.packed.codec is Codec.GZ

    def load(self) -> DataBlock:
        """Return the cells.

        Raises:
            CorruptTableError: the block is damaged.
        """
        return DataBlock(self.packed.unpack(), self.suffix, self.packed.what)
