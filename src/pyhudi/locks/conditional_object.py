"""An object of a store that is replaced only if nobody else has replaced it since it was read.

S3, Google Cloud Storage and Azure decide that themselves; `obstore` asks them alike, with the credentials of the table's storage options or
of the environment.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pyhudi.errors import StorageError, UnsupportedError
from pyhudi.storage.object_store import ObjectStorage
from pyhudi.storage.storage_protocol import Storage

_SCHEMES: Final = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss", "wasb": "abfs", "wasbs": "abfss"}
#: Storage options as fsspec's packages call them, and the names of obstore.
_OPTIONS: Final = {
    "key": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "token": "aws_session_token",
    "endpoint_url": "aws_endpoint",
    "account_name": "azure_storage_account_name",
    "account_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_token",
}


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
    scheme = storage.uri.partition("://")[0]
    if scheme not in _SCHEMES or not isinstance(storage, ObjectStorage):
        raise UnsupportedError(
            f"StorageBasedLockProvider needs conditional writes, which {storage.uri} does not have: it serves {', '.join(_SCHEMES)}. On a"
            " file system take FileSystemBasedLockProvider."
        )
    return StoreObject(storage.uri, dict(storage.options), path)


class StoreObject:
    """An object of a store that obstore serves."""

    def __init__(self, url: str, options: Mapping[str, str], path: str) -> None:
        """Open the store of a table's URL with the storage options of the table."""
        self._uri, self._path = f"{url}/{path}", path
        scheme, _, rest = url.partition("://")
        config: dict[str, Any] = {_OPTIONS[name]: value for name, value in options.items() if name in _OPTIONS}
        client = {"allow_http": True} if str(options.get("endpoint_url", "")).startswith("http://") else {}
        try:
            self._obstore: Any = importlib.import_module("obstore")
            store = importlib.import_module("obstore.store")
            self._store = store.from_url(f"{_SCHEMES[scheme]}://{rest}", config=config or None, client_options=client or None)
        except ImportError as error:
            raise StorageError("StorageBasedLockProvider needs a package that is not installed: pip install obstore") from error
        except Exception as error:
            raise StorageError(f"the lock object '{self._uri}' cannot be opened: {error}") from error

    def read(self) -> tuple[bytes, Version] | None:
        """Return the content with its version; see the protocol."""
        errors = importlib.import_module("obstore.exceptions")
        try:
            answer = self._obstore.get(self._store, self._path)
            return bytes(answer.bytes()), Version(answer.meta["e_tag"], answer.meta.get("version"))
        except (errors.NotFoundError, FileNotFoundError):
            return None
        except Exception as error:
            raise StorageError(f"the lock object '{self._uri}' cannot be read: {error}") from error

    def write(self, data: bytes, expected: Version) -> Version | None:
        """Put the content in place of the expected version; see the protocol."""
        errors = importlib.import_module("obstore.exceptions")
        stated = {"e_tag": expected.e_tag, "version": expected.version}
        mode: Any = "create" if expected.is_absent else {name: value for name, value in stated.items() if value is not None}
        try:
            answer = self._obstore.put(self._store, self._path, data, mode=mode, use_multipart=False)
        except (errors.AlreadyExistsError, errors.PreconditionError, errors.NotFoundError):
            return None
        except Exception as error:
            raise StorageError(f"the lock object '{self._uri}' cannot be written: {error}") from error
        return Version(answer["e_tag"], answer.get("version"))
