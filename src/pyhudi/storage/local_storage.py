"""Tables on a local (POSIX) file system.

A small file is written under a temporary name, synced and linked to its own name: the link fails when the name is
taken, so of several creators one wins, and no reader sees half a file. Syncing the folder then makes the name
durable. Deletes are not synced: journaling file systems keep the order of changes, so the sync of a later create
carries them.

Hadoop's local file system keeps a checksum `.<name>.crc` next to each file that Java wrote. It goes when the file is
replaced or deleted, or Java would refuse the new content.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat as stat_bits
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from pyhudi.errors import AlreadyExistsError, CorruptTableError, HudiError, StorageError
from pyhudi.storage.entry_kinds import entry_status, not_a_file, refuse_no_file, status_of
from pyhudi.storage.lock_files.file_lock import FileLock
from pyhudi.storage.lock_files.lock_record import LOCK_FILE, check_lock_inside
from pyhudi.storage.storage_paths import is_absent, open_folder, parent_folders, split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, Storage, check_content

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMED_LOCK_FILE = ".hoodie/.locks/pyhudi-{name}.lock"

# Without O_NONBLOCK the opening of a named pipe waits for a writer to it. Files of a disk are read as ever.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_temporary_numbers = itertools.count()
#: The system's errors for a link that is not followed.
_OF_LINKS = (errno.ELOOP, errno.ENOTDIR)
#: Of the rest of a file, so many bytes are asked for at least.
_LEAST_READ = 4096


@dataclass(frozen=True, slots=True)
class LocalStorage:
    """A table below the folder `root`, an absolute path without trailing `/`; links are followed above it, never below.

    Example:
        >>> LocalStorage("/data/trips").list(".hoodie")
        []
    """

    root: str

    def __post_init__(self) -> None:
        """Make the root absolute, because a task in another process has another working folder.

        A `..` is resolved as the system does: with it a table would have several names, and a folder in it would not be known as such.
        """
        root = Path(self.root).absolute()
        object.__setattr__(self, "root", str(root.resolve() if ".." in root.parts else root))

    @property
    def uri(self) -> str:
        """The root path."""
        return self.root

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; see the protocol."""
        prefix = f"{path}/" if path else ""
        with self._translate_error(path):
            try:
                with open_folder(self.root, split_path(path)) as folder, os.scandir(folder) as entries:
                    statuses = [entry_status(self.uri, prefix, entry) for entry in entries]
            except OSError as error:
                if not is_absent(error):
                    raise
                return []
        return sorted((status for status in statuses if status is not None), key=attrgetter("path"))

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol. None of them is asked for its status."""
        with self._translate_error(path):
            try:
                with open_folder(self.root, split_path(path)) as folder, os.scandir(folder) as entries:
                    names = [one.name for one in entries if one.is_file(follow_symlinks=False) or refuse_no_file(self.uri, path, one)]
                    return tuple(sorted(names))
            except OSError as error:
                if not is_absent(error):
                    raise
                return ()

    def link_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the links in a folder, sorted, which listings leave out."""
        with self._translate_error(path):
            try:
                with open_folder(self.root, split_path(path)) as folder, os.scandir(folder) as entries:
                    return tuple(sorted(entry.name for entry in entries if entry.is_symlink()))
            except OSError as error:
                if not is_absent(error):
                    raise
                return ()

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none or it is a link."""
        segments = split_path(path)
        with self._translate_error(path):
            try:
                with open_folder(self.root, segments[:-1]) as folder:
                    return status_of(self.uri, path, os.stat(segments[-1] if segments else ".", dir_fd=folder, follow_symlinks=False))
            except OSError as error:
                if not is_absent(error):
                    raise
                return None

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        with self._translate_error(path):
            descriptor, size = self._open_descriptor(path)
            try:
                if max_bytes is not None and size > max_bytes:
                    raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
                return _read_all(descriptor, size)
            finally:
                os.close(descriptor)

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        with self._translate_error(path):
            return os.fdopen(self._open_descriptor(path)[0], "rb")

    def _open_descriptor(self, path: str) -> tuple[int, int]:
        """Open a file for reading and return its descriptor and its size."""
        folder_segments, name = split_file_path(path)
        with open_folder(self.root, folder_segments) as folder:
            return self._open_in(folder, name, path)

    def _open_in(self, folder: int, name: str, path: str) -> tuple[int, int]:
        """Do the same for a file in a folder that is open; the path is named in errors."""
        descriptor = os.open(name, _READ, dir_fd=folder)
        status = os.fstat(descriptor)
        if not stat_bits.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise not_a_file(self.uri, path, status.st_mode)
        return descriptor, status.st_size

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a new data file for writing; see the protocol."""
        folder_segments, name = split_file_path(path)
        with self._translate_error(path), open_folder(self.root, folder_segments, make=True) as folder:
            descriptor = self._open_new(path, name, folder)
            try:
                with os.fdopen(descriptor, "wb") as sink:
                    yield sink
                    sink.flush()
                    os.fsync(sink.fileno())
                os.fsync(folder)
            except BaseException:
                _unlink(name, folder)
                raise

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively, whole and durably; see the protocol."""
        folder_segments, name = split_file_path(path)
        with self._translate_error(path, writes=True), open_folder(self.root, folder_segments, make=True) as folder:
            if data:
                self._link_new(path, name, data, folder)
            else:  # nothing that could be torn, and the folder's sync makes the name durable
                os.close(self._open_new(path, name, folder))
            os.fsync(folder)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file, durably, in place of whatever has that name."""
        check_content(self, path, expected)
        folder_segments, name = split_file_path(path)
        with self._translate_error(path, writes=True), open_folder(self.root, folder_segments, make=True) as folder:
            temporary = _write_temporary(name, data, folder)
            try:
                _unlink(_hadoop_checksum(name), folder)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                _unlink(temporary, folder)
                raise
            os.fsync(folder)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change; see the protocol."""
        folder_segments, name = split_file_path(path)
        times = (modified_ms * 1_000_000, modified_ms * 1_000_000)
        with self._translate_error(path, writes=True), open_folder(self.root, folder_segments) as folder:
            os.utime(name, ns=times, dir_fd=folder, follow_symlinks=False)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there. A link is deleted, not what it points to."""
        folder_segments, name = split_file_path(path)
        with self._translate_error(path):
            try:
                with open_folder(self.root, folder_segments) as folder:
                    os.unlink(name, dir_fd=folder)
                    _unlink(_hadoop_checksum(name), folder)
            except OSError as error:
                if not is_absent(error):
                    raise
                return False
        return True

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it; links in it are deleted, not followed."""
        folder_segments, name = split_file_path(path)
        with (
            self._translate_error(path),
            contextlib.suppress(FileNotFoundError),
            open_folder(self.root, folder_segments) as folder,
        ):
            shutil.rmtree(name, dir_fd=folder)

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents."""
        with self._translate_error(path, writes=True), open_folder(self.root, split_path(path), make=True):
            pass

    @property
    def lock_domain(self) -> str:
        """The kernel that runs here and the number of the table's folder; `""` where that is not known.

        A holder of the table's lock knows that all other processes of the same domain which say that they hold it have ended, also those
        in another container of the machine.
        """
        try:
            status = Path(self.root).stat()
            return f"{_BOOT_ID.read_text(encoding='ascii').strip()} {status.st_dev} {status.st_ino}"
        except OSError:
            return ""

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Hold a lock of the table, which the kernel releases when the holder's process dies; see the protocol."""
        with self.lock_file(_NAMED_LOCK_FILE.format(name=name) if name else LOCK_FILE, timeout_s, self.uri) as lock:
            if not name:
                check_lock_inside(self, provider)
            yield lock

    @contextlib.contextmanager
    def lock_file(self, path: str, timeout_s: float, table_uri: str) -> Iterator[FileLock]:
        """Hold the lock of a file, made if missing, for a table that may be elsewhere."""
        folder_segments, name = split_file_path(path)
        lock = FileLock(f"{self.root}/{path}")
        try:
            with self._translate_error(path, writes=True), open_folder(self.root, folder_segments, make=True) as folder:
                lock.acquire(folder, name, timeout_s, table_uri)
            yield lock
        finally:
            lock.release()

    @contextlib.contextmanager
    def _translate_error(self, path: str, *, writes: bool = False) -> Iterator[None]:
        """Let absence through, unless what `writes` meets it, and turn other failures of the system into one that names the file."""
        try:
            yield
        except OSError as error:
            if isinstance(error, HudiError) or (isinstance(error, FileNotFoundError) and not writes):
                raise
            raise StorageError(
                f"cannot use '{path}' of table {self.uri}: {error}{link_hint(self, path) if error.errno in _OF_LINKS else ''}"
            ) from error

    def _open_new(self, path: str, name: str, folder: int) -> int:
        try:
            return os.open(name, _CREATE, 0o666, dir_fd=folder)
        except FileExistsError as error:
            raise AlreadyExistsError(f"file '{path}' of table {self.uri} exists already") from error

    def _link_new(self, path: str, name: str, data: bytes, folder: int) -> None:
        temporary = _write_temporary(name, data, folder)
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError as error:
            raise AlreadyExistsError(f"file '{path}' of table {self.uri} exists already") from error
        finally:
            _unlink(temporary, folder)  # who takes this process for dead may have deleted it


def _read_all(descriptor: int, size: int) -> bytes:
    """Return what a file of some size holds, to its end: it may have grown, and the system may return less than it was asked for."""
    parts = []
    while part := os.read(descriptor, max(size + 1, _LEAST_READ)):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write_temporary(name: str, data: bytes, folder: int) -> str:
    """Write and sync a file next to `name`; its name starts with a dot and ends in `.tmp`, which no reader of a table
    takes for its own.
    """
    while True:
        temporary = f".{name[:180]}.{os.getpid()}-{next(_temporary_numbers)}.tmp"
        with contextlib.suppress(FileExistsError):  # left by a killed process of the same number
            descriptor = os.open(temporary, _CREATE, 0o666, dir_fd=folder)
            break
    try:
        with os.fdopen(descriptor, "wb") as sink:
            sink.write(data)
            sink.flush()
            os.fsync(sink.fileno())
    except BaseException:
        _unlink(temporary, folder)
        raise
    return temporary


def _hadoop_checksum(name: str) -> str:
    return f".{name}.crc"


def _unlink(name: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def real_uri(storage: Storage) -> str:
    """Return the URI of a storage, without the links that lead to a local one.

    Example:
        >>> real_uri(table.storage) == table.storage.uri
        True
    """
    return os.path.realpath(storage.uri) if isinstance(storage, LocalStorage) else storage.uri


def link_names(storage: Storage, path: str) -> tuple[str, ...]:
    """Return the names of the links in a folder of a storage, which listings leave out."""
    return storage.link_names(path) if isinstance(storage, LocalStorage) else ()


def link_hint(storage: Storage, path: str) -> str:
    """Return what to add to an error about a file of a table that is behind a link, which no method follows; else nothing."""
    if not isinstance(storage, LocalStorage):
        return ""
    link = next((one for one in (*parent_folders(path), path) if Path(storage.root, one).is_symlink()), None)
    return "" if link is None else f". '{link}' is a link, and links inside a table are not followed: put what it leads to in its place."


def missing_folders(storage: Storage) -> tuple[str, ...]:
    """Return the base of a local storage and the folders above it, as far as they do not exist, innermost first."""
    if not isinstance(storage, LocalStorage):
        return ()
    base = Path(storage.root)
    return tuple(str(folder) for folder in (base, *base.parents) if not folder.exists())


def remove_empty_folders(folders: Sequence[str]) -> None:
    """Remove local folders, innermost first, until one is not empty."""
    with contextlib.suppress(OSError):
        for folder in folders:
            Path(folder).rmdir()
