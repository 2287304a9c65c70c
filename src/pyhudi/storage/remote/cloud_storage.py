"""Tables on S3, Google Cloud Storage and Azure.

The store decides every race: a file is created by a conditional put, so of several creators one wins, wherever they run. The lock of
writers is an object that is replaced conditionally too (`pyhudi.locks.storage_lock`), unless another lock is named.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, cast

from pyhudi.errors import AlreadyExistsError, CorruptTableError
from pyhudi.storage.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote.cloud_client import open_store, store_errors
from pyhudi.storage.remote.external_lock import check_lock_file, lock_outside
from pyhudi.storage.remote.ranged_input import RangedInput
from pyhudi.storage.storage_paths import split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, names_of_files

STORAGE_OPTION: Final = "pyhudi.storage"
#: Files up to this size are written by one request, which creates them exclusively.
_ONE_PUT_BYTES: Final = 256 * 1024 * 1024
_IN_MEMORY_BYTES: Final = 32 * 1024 * 1024
#: Files whose readers begin at the end.
_READ_FROM_END: Final = (".parquet", ".hfile")


@dataclass(frozen=True, slots=True)
class CloudStorage:
    """A table below `url` (`s3://bucket/trips`); the options, which may hold credentials, are left out of `repr`."""

    url: str
    options: tuple[tuple[str, Any], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Check that the options are known, and that the lock file is the same from every folder."""
        check_lock_file(self._lock_file)
        self._store()

    @property
    def uri(self) -> str:
        """The URL of the table."""
        return self.url

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; see the protocol."""
        split_path(path)
        try:
            with store_errors(self.url, path):
                answer = _obstore().list_with_delimiter(self._store(), path or None)
        except FileNotFoundError:  # a local folder of tests; stores have no folders
            return []
        files = [_status(entry) for entry in answer["objects"] if entry["path"] != path]
        return sorted([*files, *(FileStatus(folder, 0, 0, is_dir=True) for folder in answer["common_prefixes"])])

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        return names_of_files(self.list(path))

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        split_path(path)
        try:
            if path:
                with store_errors(self.url, path):
                    return _status(_obstore().head(self._store(), path))
        except FileNotFoundError:
            pass
        with store_errors(self.url, path):
            below = next(iter(_obstore().list(self._store(), path or None, chunk_size=1)), None)
        return FileStatus(path, 0, 0, is_dir=True) if below else None

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        split_file_path(path)
        with store_errors(self.url, path):
            answer = _obstore().get(self._store(), path)
            if max_bytes is not None and answer.meta["size"] > max_bytes:
                raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
            return bytes(answer.bytes())

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        split_file_path(path)
        return cast(BinaryIO, RangedInput(_Object(self, path), from_end=path.endswith(_READ_FROM_END)))

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a new data file for writing; see the protocol. It is written to a temporary file here and sent when the block ends."""
        split_file_path(path)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as sink:
            yield cast(BinaryIO, sink)
            sink.seek(0, 2)
            size = sink.tell()
            sink.seek(0)
            self._send(path, sink, size)

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively and whole; see the protocol."""
        split_file_path(path)
        with store_errors(self.url, path, writes=True):
            _obstore().put(self._store(), path, data, mode="create", use_multipart=False)

    def replace(self, path: str, data: bytes) -> None:
        """Put a small file in place of whatever has that name."""
        split_file_path(path)
        with store_errors(self.url, path, writes=True):
            _obstore().put(self._store(), path, data, use_multipart=False)

    def read_version(self, path: str) -> tuple[bytes, str | None, str | None]:
        """Return a whole file, and the entity tag and version that the store gives it.

        Raises:
            FileNotFoundError: there is no such file.
            StorageError: the store does not answer, or refuses.
        """
        with store_errors(self.url, path):
            answer = _obstore().get(self._store(), path)
            return bytes(answer.bytes()), answer.meta["e_tag"], answer.meta.get("version")

    def replace_version(self, path: str, data: bytes, e_tag: str | None, version: str | None) -> tuple[str | None, str | None] | None:
        """Put a file in place of the stated version, or create it where both are None; returns the new tag and version, None where the
        store has another version.

        Raises:
            StorageError: the store does not answer, or refuses; the file may be written.
        """
        stated = {name: value for name, value in (("e_tag", e_tag), ("version", version)) if value is not None}
        try:
            with store_errors(self.url, path, writes=not stated):
                answer = _obstore().put(self._store(), path, data, mode=stated or "create", use_multipart=False)
        except (AlreadyExistsError, FileNotFoundError):
            return None
        return answer["e_tag"], answer.get("version")

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        split_file_path(path)
        try:
            with store_errors(self.url, path):
                _obstore().head(self._store(), path)
                _obstore().delete(self._store(), path)
        except FileNotFoundError:
            return False
        return True

    def delete_tree(self, path: str) -> None:
        """Delete everything below a folder."""
        split_file_path(path)
        with store_errors(self.url, path), contextlib.suppress(FileNotFoundError):
            for chunk in _obstore().list(self._store(), path):
                _obstore().delete(self._store(), [entry["path"] for entry in chunk])

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Do nothing: a store gives its objects their times itself."""
        del modified_ms
        split_file_path(path)

    def make_dir(self, path: str) -> None:
        """Do nothing: a store has no folders."""
        split_path(path)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Hold the lock file that the option names, or that of a lock provider; see the protocol and `lock_outside`."""
        with lock_outside(self, self._lock_file, timeout_s, name, provider) as lock:
            yield lock

    @property
    def has_lock_file(self) -> bool:
        """Whether a storage option names a lock file."""
        return self._lock_file is not None

    @property
    def _lock_file(self) -> str | None:
        return dict(self.options).get(LOCK_FILE_OPTION)

    def _store(self) -> Any:
        return open_store(self.url, tuple(one for one in self.options if one[0] not in (LOCK_FILE_OPTION, STORAGE_OPTION)))

    def _send(self, path: str, source: object, size: int) -> None:
        """Write a data file; one that needs several requests is not created exclusively, so its name is looked up before."""
        is_small = size <= _ONE_PUT_BYTES
        with store_errors(self.url, path, writes=True):
            if not is_small and self.stat(path) is not None:
                raise AlreadyExistsError(f"file '{path}' of table {self.uri} exists already")
            mode = {"mode": "create"} if is_small else {}
            _obstore().put(self._store(), path, source, use_multipart=not is_small, **mode)


@dataclass(frozen=True, slots=True)
class _Object:
    """Reads parts of one object of a storage."""

    storage: CloudStorage
    path: str

    def first(self, length: int, *, from_end: bool) -> tuple[int, bytes]:
        """Return the size, and the beginning or the end; Azure has no ranges from the end, and no store has one of an empty object."""
        store = self.storage._store()  # noqa: SLF001 - the same module
        with store_errors(self.storage.url, self.path):
            if from_end and type(store).__name__ == "AzureStore":
                size = _obstore().head(store, self.path)["size"]
                return size, self.part(max(size - length, 0), size) if size else b""
            try:
                answer = _obstore().get(store, self.path, options={"range": {"suffix": length} if from_end else (0, length)})
            except FileNotFoundError:
                raise
            except Exception:  # noqa: BLE001 - the range may be the reason; the next request tells
                answer = _obstore().get(store, self.path)
            return answer.meta["size"], bytes(answer.bytes())

    def part(self, begin: int, end: int) -> bytes:
        """Return the bytes of a range."""
        with store_errors(self.storage.url, self.path):
            return bytes(_obstore().get_range(self.storage._store(), self.path, start=begin, end=end))  # noqa: SLF001


def _obstore() -> Any:
    return importlib.import_module("obstore")


def _status(entry: Any) -> FileStatus:
    return FileStatus(entry["path"], entry["size"], int(entry["last_modified"].timestamp() * 1000))
