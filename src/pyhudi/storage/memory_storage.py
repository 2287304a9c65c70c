"""Tables in this process's memory: for tests, examples and tables that need not be kept."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from pyhudi.errors import AlreadyExistsError, CorruptTableError, LockTimeoutError
from pyhudi.storage.lock_files.fair_lock import FairLock
from pyhudi.storage.storage_paths import split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, check_content


@dataclass(slots=True)
class _Folder:
    """Files (content and milliseconds of the last change) and folders directly in a folder, by their paths in the table."""

    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Store:
    """The folders of one table by path, so that a listing looks at one of them only, and the locks around them."""

    folders: dict[str, _Folder] = field(default_factory=lambda: {"": _Folder()})
    guard: threading.RLock = field(default_factory=threading.RLock)
    locks: dict[str, FairLock] = field(default_factory=lambda: defaultdict(FairLock))

    def folder_of(self, path: str) -> _Folder:
        """Return the folder that a file is in; an empty one when there is none."""
        return self.folders.get(path.rpartition("/")[0]) or _Folder()

    def make_folder(self, path: str) -> _Folder:
        """Return a folder, made with those above it if it is missing."""
        folder = self.folders.get(path)
        if folder is None:
            parent = self.make_folder(path.rpartition("/")[0])
            folder = self.folders[path] = _Folder()
            parent.folders.add(path)
        return folder

    def put(self, path: str, data: bytes, now_ms: int) -> None:
        self.make_folder(path.rpartition("/")[0]).files[path] = (data, now_ms)

    def remove_folder(self, path: str) -> None:
        """Remove a folder with all below it."""
        for folder in [folder for folder in self.folders if folder == path or folder.startswith(f"{path}/")]:
            del self.folders[folder]
        self.folder_of(path).folders.discard(path)

    def take_over(self, other: _Store) -> None:
        """Have the content of another table."""
        self.folders = {path: _Folder(dict(folder.files), set(folder.folders)) for path, folder in other.folders.items()}


_stores: dict[str, _Store] = {}
_numbers = itertools.count(1)


def _new_name() -> str:
    return f"table-{next(_numbers)}"


@dataclass(frozen=True, slots=True)
class MemoryStorage:
    """A table in memory. Equal names mean the same table; a pickle carries the name, so it must be opened in the same
    process.

    `clock` gives nanoseconds since the epoch and stamps the files.

    Example:
        >>> storage = MemoryStorage()
        >>> storage.create("a/b", b"text")
        >>> [status.path for status in storage.list("a")]
        ['a/b']
    """

    name: str = field(default_factory=_new_name)
    clock: Callable[[], int] = field(default=time.time_ns, repr=False, compare=False)

    @property
    def uri(self) -> str:
        """`memory://` and the name."""
        return f"memory://{self.name}"

    def copy(self, *, clock: Callable[[], int] | None = None) -> MemoryStorage:
        """Return a storage with the same content and a name, a lock and a life of its own; with another clock if one is given."""
        copied = MemoryStorage(clock=clock or self.clock)
        with (store := self._store).guard:
            copied._store.take_over(store)
        return copied

    def drop(self) -> None:
        """Forget the table."""
        _stores.pop(self.name, None)

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; see the protocol."""
        split_path(path)
        with (store := self._store).guard:
            folder = store.folders.get(path) or _Folder()
            matches = [FileStatus(file, len(data), changed) for file, (data, changed) in folder.files.items()]
            matches += [FileStatus(below, 0, 0, is_dir=True) for below in folder.folders]
        return sorted(matches)

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        split_path(path)
        with (store := self._store).guard:
            return tuple(sorted(file.rpartition("/")[2] for file in (store.folders.get(path) or _Folder()).files))

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        split_path(path)
        with (store := self._store).guard:
            file = store.folder_of(path).files.get(path)
            if file is not None:
                return FileStatus(path, len(file[0]), file[1])
            return FileStatus(path, 0, 0, is_dir=True) if path in store.folders else None

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        split_file_path(path)
        with (store := self._store).guard:
            file = store.folder_of(path).files.get(path)
        if file is None:
            raise FileNotFoundError(f"no file '{path}' in table {self.uri}")
        data = file[0]
        if max_bytes is not None and len(data) > max_bytes:
            raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
        return data

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        return io.BytesIO(self.read(path))

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a new data file for writing; see the protocol."""
        self._put(path, b"", exclusive=True)
        sink = _Unclosed()
        try:
            yield sink
        except BaseException:
            self.delete(path)
            raise
        self._put(path, sink.getvalue(), exclusive=False)

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively and whole; see the protocol."""
        self._put(path, data, exclusive=True)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file in place of whatever has that name."""
        check_content(self, path, expected)
        self._put(path, data, exclusive=False)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change; see the protocol."""
        split_file_path(path)
        with (store := self._store).guard:
            files = store.folder_of(path).files
            if path in files:
                files[path] = (files[path][0], modified_ms)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        split_file_path(path)
        with (store := self._store).guard:
            return store.folder_of(path).files.pop(path, None) is not None

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it."""
        split_file_path(path)
        with (store := self._store).guard:
            store.remove_folder(path)

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents."""
        split_path(path)
        with (store := self._store).guard:
            store.make_folder(path)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:  # noqa: ARG002 - the processes that share it are one
        """Hold a lock of the table; see the protocol."""
        with (store := self._store).guard:
            lock = store.locks[name]
        if not lock.acquire(timeout_s):
            raise LockTimeoutError(f"another thread has held the {name or 'writer'} lock of table {self.uri} for {timeout_s:g} s")
        try:
            yield lock
        finally:
            lock.release()

    @property
    def _store(self) -> _Store:
        store = _stores.get(self.name)
        return _stores.setdefault(self.name, _Store()) if store is None else store

    def _put(self, path: str, data: bytes, *, exclusive: bool) -> None:
        split_file_path(path)
        with (store := self._store).guard:
            if exclusive and path in store.folder_of(path).files:
                raise AlreadyExistsError(f"file '{path}' of table {self.uri} exists already")
            store.put(path, data, self.clock() // 1_000_000)


class _Unclosed(io.BytesIO):
    """A buffer whose content outlives `close`, which writers of file formats call."""

    def close(self) -> None:
        self.flush()


def _free_all() -> None:
    """Free the locks of a forked child: the threads that hold them did not come along, and its tables are copies."""
    for store in _stores.values():
        store.guard = threading.RLock()
        store.locks.clear()


os.register_at_fork(after_in_child=_free_all)
