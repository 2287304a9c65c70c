"""What the entries of a folder of a POSIX file system are: files, folders, or what a table cannot hold.

Links are left out of listings, folders of listings of files. In the place of an instant both are refused: left out, a completed commit
would count as a failed write, and the next writer would roll it back.
"""

from __future__ import annotations

import os
import re
import stat as stat_bits
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.storage.storage_protocol import FileStatus

_META_FOLDER: Final = ".hoodie/"
#: Names of instants of every table version: times of 14 or 17 digits, an action, a state.
_INSTANT: Final = re.compile(r"\d{14,17}(_\d{14,17})?(\.[a-z]+){1,2}")
_KINDS: Final = {
    stat_bits.S_IFDIR: "a folder",
    stat_bits.S_IFLNK: "a link",
    stat_bits.S_IFIFO: "a named pipe",
    stat_bits.S_IFSOCK: "a socket",
}


def entry_status(uri: str, prefix: str, entry: os.DirEntry[str]) -> FileStatus | None:
    """Return the status of an entry; None for a link, and when it vanished since the folder was read, as temporary files of writers do.

    That one file is missing says nothing about the folder: taken for the folder's own absence it would make a table look empty.

    Raises:
        CorruptTableError: it is neither file, folder nor link, or it is in the place of an instant and no file.
    """
    path = prefix + entry.name
    try:
        mode = (stat := entry.stat(follow_symlinks=False)).st_mode
    except FileNotFoundError:
        return None
    if not stat_bits.S_ISREG(mode) and path.startswith(_META_FOLDER) and _INSTANT.fullmatch(entry.name):
        raise not_a_file(uri, path, mode)
    return status_of(uri, path, stat)


def refuse_no_file(uri: str, folder: str, entry: os.DirEntry[str]) -> bool:
    """Return False for an entry that is no file and may be in the folder; errors as in `entry_status`."""
    entry_status(uri, f"{folder}/" if folder else "", entry)
    return False


def status_of(uri: str, path: str, stat: os.stat_result) -> FileStatus | None:
    """Return the status of a file or folder, None for a link.

    Raises:
        CorruptTableError: it is something else.
    """
    if stat_bits.S_ISDIR(stat.st_mode):
        return FileStatus(path, 0, stat.st_mtime_ns // 1_000_000, is_dir=True)
    if stat_bits.S_ISREG(stat.st_mode):
        return FileStatus(path, stat.st_size, stat.st_mtime_ns // 1_000_000)
    if stat_bits.S_ISLNK(stat.st_mode):
        return None
    raise not_a_file(uri, path, stat.st_mode)


def not_a_file(uri: str, path: str, mode: int) -> CorruptTableError:
    """Return the error for what is in the place of a file."""
    kind = _KINDS.get(stat_bits.S_IFMT(mode), "a device")
    return CorruptTableError(f"'{path}' of table {uri} is {kind} where a file should be: restore the file from a copy")
