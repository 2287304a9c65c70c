"""An object of a store that is replaced only if nobody else has replaced it since it was read.

S3, Google Cloud Storage and Azure decide that themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyhudi.errors import UnsupportedError
from pyhudi.storage.remote.cloud_options import FAMILIES
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class Version:
    """What a store says of the version of an object; all None for one that does not exist."""

    e_tag: str | None = None
    version: str | None = None

    @property
    def is_absent(self) -> bool:
        """Whether there is no object."""
        return self.e_tag is None and self.version is None


class ConditionalObject(Protocol):
    """One object of a store."""

    def read(self) -> tuple[bytes, Version] | None:
        """Return the content with its version, None where there is no object.

        Raises:
            StorageError: the store does not answer, or refuses.
        """
        ...

    def write(self, data: bytes, expected: Version) -> Version | None:
        """Put the content in place of the expected version, or create it, and return the new version; None when there is another one.

        Raises:
            StorageError: the store does not answer, or refuses; the object may be written.
        """
        ...


def object_of(storage: Storage, path: str) -> ConditionalObject:
    """Return an object in a table.

    Raises:
        UnsupportedError: the table's storage has no conditional writes.
        StorageError: a package is not installed, or the store cannot be opened.
    """
    if not isinstance(storage, CloudStorage):
        raise UnsupportedError(
            f"StorageBasedLockProvider needs conditional writes, which {storage.uri} does not have: it serves {', '.join(FAMILIES)}. On a"
            " file system take FileSystemBasedLockProvider."
        )
    return StoreObject(storage, path)


class StoreObject:
    """An object of a store that obstore serves."""

    def __init__(self, storage: CloudStorage, path: str) -> None:
        """Nothing is read yet."""
        self._uri, self._path, self._storage = f"{storage.uri}/{path}", path, storage

    def read(self) -> tuple[bytes, Version] | None:
        """Return the content with its version; see the protocol."""
        try:
            data, e_tag, version = self._storage.read_version(self._path)
        except FileNotFoundError:
            return None
        return data, Version(e_tag, version)

    def write(self, data: bytes, expected: Version) -> Version | None:
        """Put the content in place of the expected version; see the protocol."""
        written = self._storage.replace_version(self._path, data, expected.e_tag, expected.version)
        return None if written is None else Version(*written)
