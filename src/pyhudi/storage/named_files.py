"""Files that a person names: properties, policies, schemas, scripts, rows to write. They are no part of a table."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from pyhudi.errors import UsageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage


def read_named_file(path: str, noun: str) -> bytes:
    """Return the content of a file.

    Args:
        path: a path, or a URI as Hadoop takes it (`file:///etc/clean.properties`, `s3a://bucket/clean.properties`).
        noun: what messages call the file.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        StorageError: the storage does not answer.
    """
    storage, name = _location(path)
    try:
        return Path(storage.root, name).read_bytes() if isinstance(storage, LocalStorage) else storage.read(name)
    except FileNotFoundError:
        raise UsageError(f"the {noun} {path} does not exist") from None
    except OSError as error:
        raise UsageError(f"the {noun} {path} cannot be read: {error.strerror or error}") from error


def open_named_input(storage: Storage, name: str) -> BinaryIO:
    """Open a data file that a person names for seekable reading; unlike a file of a table, it may be a link.

    Raises:
        FileNotFoundError: there is none, or the link leads nowhere.
        OSError: it cannot be read.
    """
    if isinstance(storage, LocalStorage) and (path := Path(storage.root, name)).is_symlink():
        target = path.resolve()
        return LocalStorage(str(target.parent)).open_input(target.name)
    return storage.open_input(name)


def named_file_exists(path: str) -> bool:
    """Tell whether there is a file, or anything else, of that name.

    Raises:
        StorageError: the storage does not answer.
    """
    storage, name = _location(path)
    return Path(storage.root, name).exists() if isinstance(storage, LocalStorage) else storage.stat(name) is not None


def read_named_text(path: str, noun: str) -> str:
    """Return the same as text, which is UTF-8, without what editors of Windows add: the byte order mark, and carriage returns.

    Raises:
        UsageError: as above, or the file is no text in UTF-8.
        StorageError: the storage does not answer.
    """
    try:
        text = read_named_file(path, noun).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the {noun} {path} is no text in UTF-8: {error.reason} at byte {error.start}") from error
    return text.replace("\r\n", "\n")


def _location(path: str) -> tuple[Storage, str]:
    """Return the storage of a file's folder, and its name.

    The methods of a local one follow no links. Settings often are links, as those that Kubernetes mounts, so its root is used alone.
    """
    folder, slash, name = path.rpartition("/")
    if not slash:
        return LocalStorage("."), name
    return open_storage(f"{folder}{slash}" if folder.endswith(":") or not folder else folder), name
