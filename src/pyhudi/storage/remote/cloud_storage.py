"""Tables on S3, Google Cloud Storage and Azure.

The store decides every race: a file is created by a conditional put, so of several creators one wins, wherever they run. The lock of
writers is an object that is replaced conditionally too (`pyhudi.locks.storage_lock`), unless another lock is named.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, cast

from pyhudi.errors import AlreadyExistsError, CorruptTableError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_client import store_errors
from pyhudi.storage.remote.external_lock import check_lock_file, lock_outside
from pyhudi.storage.remote.object_cache import SMALL_BYTES, ObjectKey, cache_content, object_key
from pyhudi.storage.remote.object_listing import ListedObject, followers
from pyhudi.storage.remote.ranged_input import RangedInput
from pyhudi.storage.remote.repeated_requests import call_store, put_object, repeated
from pyhudi.storage.remote.stored_object import StoredObject
from pyhudi.storage.storage_paths import split_file_path, split_path
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, changed_meanwhile, names_of_files

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
        _ = self.store

    @property
    def uri(self) -> str:
        """The URL of the table."""
        return self.url

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; see the protocol."""
        split_path(path)
        try:
            with store_errors(self.url, path):
                answer = call_store("list_with_delimiter", self.store, path or None)
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
                    return _status(call_store("head", self.store, path))
        except FileNotFoundError:
            pass
        with store_errors(self.url, path):
            below = repeated(lambda: next(iter(cloud_client.obstore_functions().list(self.store, path or None, chunk_size=1)), None))
        return FileStatus(path, 0, 0, is_dir=True) if below else None

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        split_file_path(path)
        with store_errors(self.url, path):
            answer = call_store("get", self.store, path)
            if max_bytes is not None and answer.meta["size"] > max_bytes:
                raise CorruptTableError(f"file '{path}' of table {self.uri} is longer than {max_bytes} bytes")
            data = bytes(answer.bytes())
        if answer.meta["e_tag"]:
            cache_content(self.key_of(path, answer.meta["e_tag"]), data)
        return data

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        split_file_path(path)
        return cast(BinaryIO, RangedInput(StoredObject(self.store, self.url, path), from_end=path.endswith(_READ_FROM_END)))

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Open a new data file for writing; see the protocol. It is written to a temporary file here and sent when the block ends."""
        split_file_path(path)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as sink:
            yield cast(BinaryIO, sink)
            sink.seek(0, 2)
            size = sink.tell()
            sink.seek(0)
            self._send(path, cast(BinaryIO, sink), size)

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively and whole; see the protocol."""
        split_file_path(path)
        self._put(path, data, len(data), is_new=True)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file in place of whatever has that name, or of the expected content alone, which the store decides."""
        split_file_path(path)
        if expected is None:
            self._put(path, data, len(data))
            return
        try:
            content, e_tag, version = self.read_version(path)
        except FileNotFoundError:
            raise changed_meanwhile(self.uri, path) from None
        if content != expected:
            raise changed_meanwhile(self.uri, path)
        if self.replace_version(path, data, e_tag, version) is None and self.read_version(path)[0] != data:
            raise changed_meanwhile(self.uri, path)  # else the answer to the first attempt was lost

    def read_version(self, path: str) -> tuple[bytes, str | None, str | None]:
        """Return a whole file, and the entity tag and version that the store gives it.

        Raises:
            FileNotFoundError: there is no such file.
            StorageError: the store does not answer, or refuses.
        """
        with store_errors(self.url, path):
            answer = call_store("get", self.store, path)
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
                answer = call_store("put", self.store, path, data, mode=stated or "create", use_multipart=False)
        except (AlreadyExistsError, FileNotFoundError):
            return None
        finally:
            self._note_unknown(path)
        return answer["e_tag"], answer.get("version")

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        split_file_path(path)
        try:
            with store_errors(self.url, path):
                call_store("head", self.store, path)
        except FileNotFoundError:
            return False
        return self.delete_objects([path])

    def delete_tree(self, path: str) -> None:
        """Delete everything below a folder."""
        split_file_path(path)
        with store_errors(self.url, path), contextlib.suppress(FileNotFoundError):
            for chunk in repeated(lambda: list(cloud_client.obstore_functions().list(self.store, path))):
                self.delete_objects([entry["path"] for entry in chunk])

    def delete_objects(self, paths: Sequence[str]) -> bool:
        """Delete objects that are there, by one request for a thousand of them; False when a single one was deleted meanwhile."""
        try:
            with store_errors(self.url, paths[0]):
                call_store("delete", self.store, paths[0] if len(paths) == 1 else list(paths))
        except BaseException as error:
            self._note_unknown(*paths)
            if isinstance(error, FileNotFoundError) and len(paths) == 1:
                return False
            raise
        for listing in followers(self.url):
            for path in paths:
                listing.remove(path)
        return True

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

    @property
    def store(self) -> Any:
        """The store of obstore, whose paths are relative to the table."""
        return cloud_client.open_store(self.url, self.store_options)

    @property
    def store_options(self) -> tuple[tuple[str, Any], ...]:
        """The options that are about the store: where it is, and the credentials."""
        return tuple(one for one in self.options if one[0] not in (LOCK_FILE_OPTION, STORAGE_OPTION))

    def key_of(self, path: str, e_tag: str) -> ObjectKey:
        """Return the key of one version of an object in the cache of this process."""
        return object_key(self.url, self.options, path, e_tag)

    def _send(self, path: str, source: BinaryIO, size: int) -> None:
        """Write a data file; one that needs several requests is not created exclusively, so its name is looked up before."""
        if size <= SMALL_BYTES:
            self._put(path, source.read(), size, is_new=True)
        elif size <= _ONE_PUT_BYTES:
            self._put(path, source, size, is_new=True)
        elif self.stat(path) is not None:
            raise AlreadyExistsError(f"file '{path}' of table {self.uri} exists already")
        else:
            self._put(path, source, size)

    def _put(self, path: str, source: bytes | BinaryIO, size: int, *, is_new: bool = False) -> None:
        """Write an object; listings of the table then show it, and a small one need not be read again."""
        try:
            with store_errors(self.url, path, writes=True):
                answer = put_object(self.store, path, source, is_new=is_new)
        except BaseException:
            self._note_unknown(path)
            raise
        if answer["e_tag"] and isinstance(source, bytes):
            cache_content(self.key_of(path, answer["e_tag"]), source)
        for listing in followers(self.url):
            listing.put(path, ListedObject(size, 0, answer["e_tag"]))

    def _note_unknown(self, *paths: str) -> None:
        """Let no listing answer for objects of which a request has failed, or which others replace."""
        for listing in followers(self.url):
            for path in paths:
                listing.forget(path)


def _status(entry: Any) -> FileStatus:
    return FileStatus(entry["path"], entry["size"], int(entry["last_modified"].timestamp() * 1000))
