"""Names of base files and log files, taken apart and put together.

Rules: Hudi technical specification, "File naming"; `FSUtils`. A base file is
`<fileId>_<writeToken>_<instant>.<ext>`, a log file `.<fileId>_<instant>.log.<version>_<writeToken>`, with `.cdc` behind
it (in older releases `-cdc`) when it logs changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from pyhudi.errors import UnsupportedError

BASE_FILE_EXTENSIONS = frozenset({"parquet", "orc", "hfile", "lance"})
PARTITION_METAFILE = ".hoodie_partition_metadata"

#: Each action asks for the names of the same files again, and a table of more files than that has dearer things to do.
_MOST_NAMES = 1 << 14

_BASE = re.compile(r"([^_./]+)_(\d+-\d+-\d+)_(\d+)\.(\w+)")
#: The same, line by line: name, file id and instant.
_BASES = re.compile(rf"^(([^_./\n]+)_\d+-\d+-\d+_(\d+)\.(?:{'|'.join(sorted(BASE_FILE_EXTENSIONS))}))$", re.MULTILINE)
_LOG = re.compile(r"\.([^_/]+)_(\d*)\.log\.(\d+)(?:_(\d+-\d+-\d+))?([.-]cdc)?")
#: Log files of table version 10 are files of a columnar format with names of their own (RFC-103).
_NATIVE_LOG = re.compile(r"[^_./]+_\d+-\d+-\d+_\d+_\d+\.(?:log|deletes?|cdc)\.\w+")


@dataclass(frozen=True, slots=True)
class BaseFileName:
    """The parts of a base file's name. `instant` is the requested time of the action that wrote it."""

    file_id: str
    write_token: str
    instant: str
    extension: str = "parquet"

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@dataclass(frozen=True, slots=True)
class LogFileName:
    """The parts of a log file's name. `instant` is the slice's base instant in version 6, the delta commit's own in
    8 and later. `suffix` is `.cdc` or `-cdc` for logs of changes, which no merge reads.
    """

    file_id: str
    instant: str
    version: int
    write_token: str | None
    suffix: str = ""

    @property
    def is_cdc(self) -> bool:
        """True for a log of changes."""
        return bool(self.suffix)

    def __str__(self) -> str:
        token = f"_{self.write_token}" if self.write_token else ""
        return f".{self.file_id}_{self.instant}.log.{self.version}{token}{self.suffix}"


def next_log_name(file_id: str, slice_instant: str, taken: Iterable[LogFileName], write_token: str) -> LogFileName:
    """Return the name of a new log file of version 6: that of its slice, with the version after all that are taken.

    Example:
        >>> str(next_log_name("a-0", "20260101000000000", [LogFileName("a-0", "20260101000000000", 3, "1-0-1")], "0-0-0"))
        '.a-0_20260101000000000.log.4_0-0-0'
    """
    versions = (name.version for name in taken if (name.file_id, name.instant) == (file_id, slice_instant))
    return LogFileName(file_id, slice_instant, 1 + max(versions, default=0), write_token)


def stage_of_logs(instant: str) -> int:
    """Return the stage in the write tokens by which concurrent writers of layout 1 name log files: instants of one day have others.

    Example:
        >>> stage_of_logs("20260101093000123")
        93000123
    """
    return int(instant[8:17])


def file_and_instant(name: str) -> tuple[str, str] | None:
    """Return file id and instant of a base file's name, or None when the name is not one; for who sees many names once.

    Example:
        >>> file_and_instant("a1-0_0-1-2_20260101000000000.parquet")
        ('a1-0', '20260101000000000')
    """
    match = _BASE.fullmatch(name)
    return None if match is None or match[4] not in BASE_FILE_EXTENSIONS else (match[1], match[3])


def base_file_names(names: Collection[str]) -> list[tuple[str, str, str]] | None:
    """Return each of many names with its file id and instant; None when one of them is not that of a base file.

    Example:
        >>> base_file_names(["a1-0_0-1-2_20260101000000000.parquet"])
        [('a1-0_0-1-2_20260101000000000.parquet', 'a1-0', '20260101000000000')]
    """
    text = "\n".join(names)
    if text.count("\n") >= max(len(names), 1):
        return None  # a name of several lines
    parsed = _BASES.findall(text)
    return parsed if len(parsed) == len(names) else None


@lru_cache(maxsize=_MOST_NAMES)
def parse_base_file_name(name: str) -> BaseFileName | None:
    """Return the parts of a base file's name, or None when the name is not one.

    Example:
        >>> parse_base_file_name("a1-0_0-1-2_20260101000000000.parquet").file_id
        'a1-0'
    """
    match = _BASE.fullmatch(name)
    if match is None or match[4] not in BASE_FILE_EXTENSIONS:
        return None
    return BaseFileName(match[1], match[2], match[3], match[4])


@lru_cache(maxsize=_MOST_NAMES)
def parse_log_file_name(name: str) -> LogFileName | None:
    """Return the parts of a log file's name, or None when the name is not one.

    Raises:
        UnsupportedError: it is the name of a log file of table version 10, whose rows must not be passed over.
    """
    match = _LOG.fullmatch(name)
    if match is None:
        if _NATIVE_LOG.fullmatch(name):
            raise UnsupportedError(f"{name} is a log file of table version 10, which pyhudi does not read; it reads versions 6, 8 and 9")
        return None
    return LogFileName(match[1], match[2], int(match[3]), match[4], match[5] or "")
