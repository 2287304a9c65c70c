"""Many files of one folder, such as the timeline's: a local storage walks down to the folder once, not once for each file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.storage_paths import open_folder, split_file_path, split_path
from pyhudi.storage.storage_protocol import Storage


@contextlib.contextmanager
def open_cached_folder(storage: Storage, path: str) -> Iterator[Storage]:
    """Hand out a storage of the same table that reads files of one folder in less time; any but a local one is handed out as it is.

    For as long as nobody moves the folder, which the lock of the table sees to: what takes its place meanwhile is not seen.

    Args:
        storage: the table's.
        path: the folder, relative to the table's base.

    Example:
        >>> with open_cached_folder(table.storage, ".hoodie") as storage:
        ...     len(storage.read(".hoodie/hoodie.properties")) > 0
        True
    """
    with contextlib.ExitStack() as stack:
        cached = storage
        if isinstance(storage, LocalStorage):
            segments = split_path(path)
            with contextlib.suppress(OSError):  # the read of a file says what is wrong, as ever
                cached = _WithFolder(storage.root, segments, stack.enter_context(open_folder(storage.root, segments)))
        yield cached


@dataclass(frozen=True, slots=True)
class _WithFolder(LocalStorage):
    """A local storage with the descriptor of one of its folders."""

    segments: tuple[str, ...]
    folder: int

    def _open_descriptor(self, path: str) -> tuple[int, int]:
        segments, name = split_file_path(path)
        if segments == self.segments:
            return self._open_in(self.folder, name, path)
        return LocalStorage._open_descriptor(self, path)  # noqa: SLF001 - of its own class; `super()` does not know a class with slots
