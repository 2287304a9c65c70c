"""The storage of a table that is being written on the path of another one, which it is to replace.

Its data files go to where they belong, and everything below `.hoodie` goes to a folder inside `.hoodie` of the other table. So the two
tables share no file but partition metafiles, and the other one stays what it is until its properties are replaced.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, Final

from pyhudi.spec.files.file_names import PARTITION_METAFILE, file_and_instant, parse_log_file_name
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, Storage

META_FOLDER: Final = ".hoodie"
#: Holds what `.hoodie` of the new table is to be.
RECREATION_FOLDER: Final = f"{META_FOLDER}/recreate"
_LOCK: Final = "recreation"


def written_at(name: str) -> str | None:
    """Return the instant of a data file by its name, None for another file."""
    if (base := file_and_instant(name)) is not None:
        return base[1]
    log = parse_log_file_name(name)
    return None if log is None else log.instant


@dataclass(frozen=True, slots=True)
class RecreatedStorage:
    """The new table on the storage `inner` of the old one. Its listings leave out data files from before `first_instant`, the first of the
    new table; its lock is another one, so that the lock of the old table can be held meanwhile.

    Example:
        >>> new = RecreatedStorage(table.storage, "20270101000000000")
        >>> [status.name for status in new.list(".hoodie")], [status.name for status in new.list("rome") if not status.is_dir]
        ([], [])
    """

    inner: Storage
    first_instant: str

    @property
    def uri(self) -> str:
        """Base path of both tables."""
        return self.inner.uri

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder; see the protocol."""
        if _is_meta(path):
            return [self._relative_status(status) for status in self.inner.list(_stored_path(path))]
        statuses = self.inner.list(path)
        new = [status for status in statuses if status.is_dir or self._is_new(status.name)]
        has_files = any(not status.is_dir for status in new)
        return [status for status in statuses if status in new or (has_files and status.name.startswith(PARTITION_METAFILE))]

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        if _is_meta(path):
            return self.inner.file_names(_stored_path(path))
        return tuple(status.name for status in self.list(path) if not status.is_dir)

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        status = self.inner.stat(_stored_path(path))
        return None if status is None else self._relative_status(status)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        return self.inner.read(_stored_path(path), max_bytes=max_bytes)

    def open_input(self, path: str) -> BinaryIO:
        """Open a data file for seekable reading."""
        return self.inner.open_input(_stored_path(path))

    def open_output(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new data file for writing; see the protocol."""
        return self.inner.open_output(_stored_path(path))

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively; see the protocol."""
        self.inner.create(_stored_path(path), data)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file in place of whatever has that name, or of the expected content; see the protocol."""
        self.inner.replace(_stored_path(path), data, expected=expected)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change."""
        self.inner.set_modified(_stored_path(path), modified_ms)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        return self.inner.delete(_stored_path(path))

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it."""
        self.inner.delete_tree(_stored_path(path))

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents."""
        self.inner.make_dir(_stored_path(path))

    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> AbstractContextManager[HeldLock]:
        """Hold a lock of the new table: whoever writes it holds that of the old one already."""
        return self.inner.lock(timeout_s, name or _LOCK, provider)

    def _is_new(self, name: str) -> bool:
        instant = written_at(name)
        return instant is not None and instant >= self.first_instant

    def _relative_status(self, status: FileStatus) -> FileStatus:
        if status.path != RECREATION_FOLDER and not status.path.startswith(f"{RECREATION_FOLDER}/"):
            return status
        return FileStatus(META_FOLDER + status.path[len(RECREATION_FOLDER) :], status.size, status.modified_ms, status.is_dir)


def _is_meta(path: str) -> bool:
    return path == META_FOLDER or path.startswith(f"{META_FOLDER}/")


def _stored_path(path: str) -> str:
    """Return where a file of the new table is."""
    return RECREATION_FOLDER + path[len(META_FOLDER) :] if _is_meta(path) else path
