"""Checksums of log files, which Hudi's format does not have: a commit notes them in its extra metadata.

Blocks of log files carry lengths but no checksum, so that a changed bit in an Avro block may be another value. Each commit of this package
notes the CRC-32 of every log file that it wrote, of so many bytes from the file's begin: before version 8 others may append to it. The note
follows the CRC-32 of itself, by which damage of the commit is distinguished from damage of a log file.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.spec.extra_metadata import LOG_CHECKSUM_KEY

#: A commit of more log files notes none: the note would be longer than a megabyte or two.
MOST_NOTED_FILES: Final = 10_000


@dataclass(frozen=True, slots=True)
class LogChecksum:
    """The CRC-32 of the first `size` bytes of a log file."""

    size: int
    crc32: int


def log_checksum_note(checksums: Mapping[str, LogChecksum]) -> dict[str, str]:
    """Return the entry of the extra metadata; empty for no log files, and for more than `MOST_NOTED_FILES`.

    Args:
        checksums: by the paths of log files, relative to the table's base path.
    """
    if not 0 < len(checksums) <= MOST_NOTED_FILES:
        return {}
    values = {path: f"{one.size} {one.crc32:08x}" for path, one in checksums.items()}
    text = json.dumps(values, separators=(",", ":"))
    return {LOG_CHECKSUM_KEY: f"{zlib.crc32(text.encode()):08x} {text}"}


def noted_log_checksums(note: str | None) -> Mapping[str, LogChecksum]:
    """Return the checksums of a note by path, none where a commit has no note.

    Raises:
        CorruptTableError: the CRC of the note does not hold, or it is no such note.

    Example:
        >>> noted_log_checksums(log_checksum_note({"p/a.log": LogChecksum(7, 255)})["pyhudi.log.crc32"])
        {'p/a.log': LogChecksum(size=7, crc32=255)}
    """
    if note is None:
        return {}
    checksum, _, text = note.partition(" ")
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        raise CorruptTableError(f"the CRC of '{LOG_CHECKSUM_KEY}' in the extra metadata does not hold. Restore the file from a copy.")
    checksums = {}
    try:
        for path, value in json.loads(text).items():
            size, _, crc = value.partition(" ")
            checksums[str(path)] = LogChecksum(int(size), int(crc, 16))
    except (AttributeError, ValueError) as error:
        raise CorruptTableError(f"'{LOG_CHECKSUM_KEY}' in the extra metadata holds no checksums of log files: {error}") from error
    return checksums
