"""A local folder for files that are not needed after the process: nothing waits until they are safe on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pyhudi.storage.storage_protocol import FileStatus


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """The files of one folder, which is made when it is first written to; a small picklable value."""

    root: str

    @property
    def uri(self) -> str:
        """The folder's path."""
        return self.root

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file, or None when there is none."""
        try:
            status = self._path_of(path).stat()
        except FileNotFoundError:
            return None
        return FileStatus(path, status.st_size, status.st_mtime_ns // 1_000_000)

    @contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a file for writing in place of whatever has that name."""
        index = self._path_of(path)
        index.parent.mkdir(parents=True, exist_ok=True)
        with index.open("wb") as sink:
            yield sink

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        try:
            self._path_of(path).unlink()
        except FileNotFoundError:
            return False
        return True

    def _path_of(self, path: str) -> Path:
        return Path(self.root) / path
