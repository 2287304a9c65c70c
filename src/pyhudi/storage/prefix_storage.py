"""A folder of a table's storage as a storage of its own: the metadata table lies within the table it describes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from pyhudi.storage.storage_paths import split_file_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, Storage


@dataclass(frozen=True, slots=True)
class FolderStorage:
    """What lies below `folder` of another storage; paths are relative to the folder. Its lock is the other's.

    Example:
        >>> [status.name for status in FolderStorage(table.storage, ".hoodie").list("timeline/history")]
        []
        >>> FolderStorage(table.storage, ".hoodie").stat("hoodie.properties").path
        'hoodie.properties'
    """

    inner: Storage
    folder: str

    @property
    def uri(self) -> str:
        """The folder as a user would write it."""
        return f"{self.inner.uri}/{self.folder}"

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder; see the protocol."""
        return [self._relative_status(status) for status in self.inner.list(self._full(path))]

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        return self.inner.file_names(self._full(path))

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        status = self.inner.stat(self._full(path))
        return None if status is None else self._relative_status(status)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        return self.inner.read(self._below(path), max_bytes=max_bytes)

    def open_input(self, path: str) -> BinaryIO:
        """Open a data file for seekable reading."""
        return self.inner.open_input(self._below(path))

    def open_output(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new data file for writing; see the protocol."""
        return self.inner.open_output(self._below(path))

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively; see the protocol."""
        self.inner.create(self._below(path), data)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file in place of whatever has that name."""
        self.inner.replace(self._below(path), data, expected=expected)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change."""
        self.inner.set_modified(self._full(path), modified_ms)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        return self.inner.delete(self._below(path))

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it."""
        self.inner.delete_tree(self._below(path))

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents."""
        self.inner.make_dir(self._full(path))

    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> AbstractContextManager[HeldLock]:
        """Hold a lock of the whole table."""
        return self.inner.lock(timeout_s, name, provider)

    def _below(self, path: str) -> str:
        split_file_path(path)  # the folder itself is no file of it, and not to be deleted
        return f"{self.folder}/{path}"

    def _full(self, path: str) -> str:
        return f"{self.folder}/{path}" if path else self.folder

    def _relative_status(self, status: FileStatus) -> FileStatus:
        # Not `replace`, which takes three times as long: a timeline has thousands of files.
        return FileStatus(status.path[len(self.folder) + 1 :], status.size, status.modified_ms, status.is_dir)
