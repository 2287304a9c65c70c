"""Paths inside a table: what one may look like, and how the local storage walks it without ever leaving the base.

Paths reach the storage from partition values and from metadata that others wrote, so none is trusted: every segment
is checked as text here, and the local storage opens folder after folder without following links, which no swap of a
folder for a link can trick.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from pyhudi.errors import StorageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def split_path(path: str) -> tuple[str, ...]:
    """Return the segments of a path relative to a table's base; `""` is the base itself and has none.

    Raises:
        StorageError: the path is absolute or has an empty, `.` or `..` segment, a NUL or half a character.

    Example:
        >>> split_path("city=oslo/a.parquet")
        ('city=oslo', 'a.parquet')
    """
    if not path:
        return ()
    segments = tuple(path.split("/"))
    for segment in segments:
        if segment in ("", ".", ".."):
            raise StorageError(f"path {path!r} is not inside the table: it is absolute or has an empty, '.' or '..' segment")
    if "\0" in path:
        raise StorageError(f"path {path!r} holds a NUL character, which no file name can have")
    _check_encodable(path)
    return segments


def _check_encodable(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise StorageError(f"path {path!r} holds half a character (a lone surrogate), which no file name can have") from None


def split_file_path(path: str) -> tuple[tuple[str, ...], str]:
    """Return the folder's segments and the name of a file's path.

    Raises:
        StorageError: as `split_path`, and for the base itself, which is no file.
    """
    segments = split_path(path)
    if not segments:
        raise StorageError("the table's base path is a folder, not a file")
    return segments[:-1], segments[-1]


def parent_folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the outermost first, without the base."""
    segments = split_path(path)
    for depth in range(1, len(segments)):
        yield "/".join(segments[:depth])


@contextlib.contextmanager
def open_folder(root: str, segments: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """Open the folder `segments` below `root` and hand out its descriptor; links below the root are not followed.

    With `make` missing folders are created, each made durable by a sync of the one above it.

    Raises:
        FileNotFoundError: a folder is missing and `make` is false.
        OSError: a segment is a link or no folder.
    """
    current = _open_root(root, make=make)
    try:
        for segment in segments:
            # Ctrl-C after a close must not close the number again: another thread may have it by then.
            outer, current = current, _enter(current, segment, make=make)
            os.close(outer)
        yield current
    finally:
        os.close(current)


def is_absent(error: OSError) -> bool:
    """Tell whether an error of the system means that there is no such file: a name that is too long for the file system is nobody's."""
    return isinstance(error, FileNotFoundError | NotADirectoryError) or error.errno == errno.ENAMETOOLONG


def _open_root(root: str, *, make: bool) -> int:
    try:
        return os.open(root, _FOLDER)
    except FileNotFoundError:
        if not make:
            raise
    Path(root).mkdir(parents=True, exist_ok=True)
    return os.open(root, _FOLDER)


def _enter(parent: int, segment: str, *, make: bool) -> int:
    try:
        return os.open(segment, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(segment, dir_fd=parent)
        os.fsync(parent)
    return os.open(segment, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
