"""Holds the bytes of a log file against the checksum that its commit noted; see `pyhudi.spec.log_checksums`."""

from __future__ import annotations

import zlib
from typing import BinaryIO

from pyhudi.errors import CorruptTableError
from pyhudi.spec.log_checksums import LogChecksum

_CHUNK = 1 << 20


def check_log_bytes(source: BinaryIO, path: str, uri: str, expected: LogChecksum) -> None:
    """Read a log file as far as its commit wrote it, and refuse other bytes than those that were written.

    Args:
        source: the file, seekable.
        path: relative to the table's base path.
        uri: of the table.
        expected: what the commit noted.

    Raises:
        CorruptTableError: a byte was changed, or the file is shorter.
    """
    source.seek(0)
    crc, left = 0, expected.size
    while left and (part := source.read(min(left, _CHUNK))):
        crc, left = zlib.crc32(part, crc), left - len(part)
    if left or crc != expected.crc32:
        problem = f"ends {left} bytes too early" if left else f"has the CRC-32 {crc:08x}, its commit wrote {expected.crc32:08x}"
        raise CorruptTableError(f"Log file '{path}' of the table at {uri} is damaged: it {problem}. Restore the file from a copy.")
