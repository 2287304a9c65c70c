"""Reading blocks of an HFile through a seekable file object: one read a block, the end of the file kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from pyhudi.codec.hfile.block import HEADER, MAX_PAYLOAD_BYTES, BlockHeader, Codec, Magic, parse_header, relinked_block, unpack_block
from pyhudi.errors import CorruptTableError

#: Read at once when a file is opened: the trailer and, of most files, all that must be known of it.
_END_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """A block as read, still to be unpacked. Unpacking needs no file, so another thread may do it."""

    data: bytes
    magic: Magic
    codec: Codec
    what: str

    def unpack(self) -> bytes:
        """Return the payload.

        Raises:
            CorruptTableError: the block is another one than was asked for, or damaged.
        """
        return unpack_block(self.data, self.header, self.codec, self.what)

    def relinked(self, previous_offset: int) -> bytes:
        """Return the block as another file holds it, behind a block elsewhere, without a look at what is packed; errors as in `unpack`."""
        return relinked_block(self.data, self.header, previous_offset, self.what)

    @property
    def header(self) -> BlockHeader:
        """The header; errors as in `unpack`."""
        header = parse_header(self.data, self.what)
        if header.magic is not self.magic:
            raise CorruptTableError(f"{self.what} is of the kind {header.magic.name}, expected is {self.magic.name}")
        return header


class BlockSource:
    """The bytes of one HFile, from `start` of a file on. `what` names it in errors, `size` is its length."""

    def __init__(self, source: BinaryIO, size: int, what: str, start: int) -> None:
        self.size = size
        self.what = what
        self._source = source
        self._start = start
        self._end_start = max(0, size - _END_BYTES)
        self._end = self._read_source(self._end_start, size - self._end_start)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the file.

        Raises:
            CorruptTableError: they are not within the file.
        """
        if offset < 0 or length < 0 or offset + length > self.size:
            raise CorruptTableError(f"{self.what} refers to {length} bytes at {offset}; it has {self.size}")
        if offset >= self._end_start:
            return self._end[offset - self._end_start : offset - self._end_start + length]
        return self._read_source(offset, length)

    def packed(self, offset: int, length: int, magic: Magic, codec: Codec) -> PackedBlock:
        """Read a block whose length an index tells.

        Raises:
            CorruptTableError: it is not within the file.
        """
        if length > MAX_PAYLOAD_BYTES + HEADER.size:
            raise CorruptTableError(f"{self.what} refers to a block of {length} bytes at {offset}; {MAX_PAYLOAD_BYTES} are allowed")
        return PackedBlock(self.read(offset, length), magic, codec, self.name(offset))

    def payload_at(self, offset: int, magic: Magic, codec: Codec) -> tuple[bytes, int]:
        """Return the payload of a block whose length only its header tells, and where the block ends.

        Raises:
            CorruptTableError: there is no such block.
        """
        header = parse_header(self.read(offset, min(HEADER.size, self.size - offset)), self.name(offset))
        return self.packed(offset, header.disk_size, magic, codec).unpack(), offset + header.disk_size

    def name(self, offset: int) -> str:
        """Return what a block is called in errors."""
        return f"the block at byte {offset} of {self.what}"

    def _read_source(self, offset: int, length: int) -> bytes:
        self._source.seek(self._start + offset)
        data = self._source.read(length)
        if len(data) != length:
            raise CorruptTableError(f"{self.what} ends at byte {offset + len(data)}; it should have {self.size}")
        return data
