"""Tables on remote file systems, and on object stores that `CloudStorage` does not serve, through fsspec (extra `object-store`).

Two things are asked beyond reading and writing. First, of several creators of a name one must win: the stores named
in `EXCLUSIVE_SCHEMES` refuse a conditional put. Second, one writer at a time: fsspec gives no compare-and-swap to
build a lease on that a paused writer could not outlive, so writers must name a lock file that they all see (option
`pyhudi.lock.file`, an absolute local or shared POSIX path). Without it a table can be read and not written. With it, stores
without conditional puts may be written too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, cast

from pyhudi.errors import AlreadyExistsError, CorruptTableError, HudiError, StorageError, UnsupportedError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote.external_lock import check_lock_file, lock_outside
from pyhudi.storage.remote.file_systems import open_file_system
from pyhudi.storage.storage_paths import split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, check_content, names_of_files

#: Stores whose fsspec file system creates a file only if there is none, decided by the store.
EXCLUSIVE_SCHEMES = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "az"})


@dataclass(frozen=True, slots=True)
class ObjectStorage:
    """A table below `url` (`s3://bucket/trips`); `options` go to fsspec, which caches its file systems by them.

    The options, which hold credentials, are left out of `repr`.
    """

    url: str
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Check that fsspec and the store's own package are there, and that the lock file is the same from every folder."""
        self._split()
        check_lock_file(dict(self.options).get(LOCK_FILE_OPTION))

    @property
    def uri(self) -> str:
        """The URL of the table."""
        return self.url

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; see the protocol."""
        split_path(path)
        prefix = f"{path}/" if path else ""
        with self._translate_error(path):
            system, full = self._open_at(path)
            try:
                entries = system.ls(full, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return []
        children = ((entry["name"].rstrip("/").rpartition("/")[2], entry) for entry in entries)
        # Some stores list a file, or the marker object of a folder, as a child of itself.
        folder_name = full.rstrip("/")
        return sorted(_status(prefix + name, entry) for name, entry in children if entry["name"].rstrip("/") != folder_name)

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        return names_of_files(self.list(path))

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        split_path(path)
        with self._translate_error(path):
            system, full = self._open_at(path)
            try:
                return _status(path, system.info(full))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        split_file_path(path)
        with self._translate_error(path):
            system, full = self._open_at(path)
            data = cast(bytes, system.cat_file(full, end=None if max_bytes is None else max_bytes + 1))
        if max_bytes is not None and len(data) > max_bytes:
            raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
        return data

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        split_file_path(path)
        with self._translate_error(path):
            system, full = self._open_at(path)
            return cast(BinaryIO, system.open(full, "rb"))

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a new data file for writing; see the protocol. It appears when the block ends."""
        split_file_path(path)
        self._check_absent(path)
        with self._translate_error(path, writes=True):
            system, full = self._open_at(path)
            sink = system.open(full, "wb", autocommit=False)
        try:
            yield cast(BinaryIO, sink)
        except BaseException:
            sink.discard()
            with contextlib.suppress(Exception):  # a store that shows files at their opening; the error to tell is the first
                system.rm_file(full)
            raise
        with self._translate_error(path, writes=True):
            sink.close()
            sink.commit()

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively and whole; see the protocol."""
        split_file_path(path)
        self._check_can_create(path)
        with self._translate_error(path, writes=True):
            system, full = self._open_at(path)
            try:
                system.pipe_file(full, data, mode="create")
            except FileExistsError as error:
                raise self._exists(path) from error

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file in place of whatever has that name."""
        check_content(self, path, expected)
        split_file_path(path)
        with self._translate_error(path, writes=True):
            system, full = self._open_at(path)
            system.pipe_file(full, data)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        split_file_path(path)
        if self.stat(path) is None:
            return False
        with self._translate_error(path):
            system, full = self._open_at(path)
            system.rm_file(full)
        return True

    def delete_tree(self, path: str) -> None:
        """Delete everything whose name begins with a folder's path."""
        split_file_path(path)
        with self._translate_error(path):
            system, full = self._open_at(path)
            with contextlib.suppress(FileNotFoundError):
                system.rm(full, recursive=True)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Do nothing: a store gives its objects their times itself."""
        del modified_ms
        split_file_path(path)

    def make_dir(self, path: str) -> None:
        """Do nothing: a store has no folders."""
        split_path(path)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Hold the lock file that the option names, or for another `name` one next to it; see the protocol. With a lock provider
        it suffices that the threads of this process exclude each other.

        Raises:
            UnsupportedError: no lock file and no lock provider is named.
            OptionError: the table is written under another lock.
        """
        with lock_outside(self, dict(self.options).get(LOCK_FILE_OPTION), timeout_s, name, provider) as lock:
            yield lock

    def _split(self) -> tuple[Any, str]:
        """Return fsspec's file system and the root path in it."""
        system, root = open_file_system(self.url, {name: value for name, value in self.options if name != LOCK_FILE_OPTION})
        return system, root.rstrip("/")

    def _open_at(self, path: str) -> tuple[Any, str]:
        """Return the file system, without listings it remembers, and the full path in it."""
        system, root = self._split()
        system.invalidate_cache()
        return system, f"{root}/{path}" if path else root

    def _check_can_create(self, path: str) -> None:
        scheme = self.url.partition("://")[0]
        if scheme not in EXCLUSIVE_SCHEMES and LOCK_FILE_OPTION not in dict(self.options):
            raise UnsupportedError(
                f"'{scheme}:' cannot promise that one of several writers wins, so table {self.uri} cannot be written; "
                f"name a file that all its writers can see in the storage option '{LOCK_FILE_OPTION}'"
            )
        if scheme not in EXCLUSIVE_SCHEMES:
            self._check_absent(path)

    def _check_absent(self, path: str) -> None:
        if self.stat(path) is not None:
            raise self._exists(path)

    def _exists(self, path: str) -> AlreadyExistsError:
        return AlreadyExistsError(f"file '{path}' of table {self.uri} exists already")

    @contextlib.contextmanager
    def _translate_error(self, path: str, *, writes: bool = False) -> Iterator[None]:
        """Let absence through as it is, unless what `writes` meets it, and turn other failures into one that names the file."""
        try:
            yield
        except HudiError:
            raise
        except FileNotFoundError as error:
            if not writes:
                raise
            raise StorageError(
                f"cannot write '{path}' of table {self.uri}: {error}. The bucket or container does not exist, or is not to be seen"
                " with these credentials"
            ) from error
        except Exception as error:  # each store's package has errors of its own
            raise StorageError(f"cannot use '{path}' of table {self.uri}: {error}") from error


def _status(path: str, entry: Mapping[str, Any]) -> FileStatus:
    if entry["type"] == "directory":
        return FileStatus(path, 0, 0, is_dir=True)
    return FileStatus(path, entry["size"] or 0, _modified_ms(entry))


def _modified_ms(entry: Mapping[str, Any]) -> int:
    """Return the time of the last change, which each store's package keeps under another name; 0 when it gives none."""
    names = ("mtime", "LastModified", "last_modified", "updated", "created")
    modified = next((entry[name] for name in names if entry.get(name)), 0)
    if isinstance(modified, str):
        modified = datetime.fromisoformat(modified)
    seconds = modified.timestamp() if isinstance(modified, datetime) else float(modified)
    return int(seconds * 1000)
