"""From what a user writes as a table's place to the storage that serves it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.remote.cloud_options import FAMILIES
from pyhudi.storage.remote.cloud_storage import STORAGE_OPTION, CloudStorage
from pyhudi.storage.remote.hadoop_settings import with_session_settings
from pyhudi.storage.remote.object_store import ObjectStorage
from pyhudi.storage.storage_protocol import Storage

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)", re.DOTALL)


def open_storage(path: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> Storage:
    """Return the storage of the table at a path or URI; nothing is read yet.

    Plain paths and `file:` URIs name local folders. As in Hadoop's paths, percent signs of a URI stand for
    themselves. URLs of S3, Google Cloud Storage and Azure (`s3://`, `s3a://`, `gs://`, `abfss://`, ...) go through obstore, or through
    fsspec with the option `pyhudi.storage=fsspec`; all others go through fsspec, which gets the options.

    Raises:
        OptionError: the path is empty or no path, or options are given to a storage that has none.
        StorageError: the storage cannot be opened, because a package or credentials are missing.
        UnsupportedError: no storage serves the scheme.

    Example:
        >>> open_storage("file:///data/trips").uri
        '/data/trips'
    """
    text = _path_text(path)
    if storage_options is not None and not _are_strings(storage_options):
        raise OptionError("storage_options must be a mapping whose keys are strings, such as {'anon': True}")
    match = _SCHEME.fullmatch(text)
    if match and match[2] is not None and not (match[2] + match[3]).strip("/") and match[1].lower() not in ("file", "memory"):
        raise OptionError(f"'{text}' names no bucket and no folder")
    scheme, authority, rest = (match[1].lower(), match[2] or "", match[3]) if match else ("file", "", text)
    if scheme == "file" and authority in ("", "localhost"):
        storage: Storage = LocalStorage(rest.rstrip("/") or "/")
    elif scheme == "memory":
        storage = MemoryStorage((authority + rest).strip("/"))
    elif match and match[2] is not None and scheme != "file":
        return _remote_storage(f"{scheme}://{authority}{rest}".rstrip("/"), dict(storage_options or {}))
    else:
        raise UnsupportedError(f"no storage serves '{text}': local paths, file:, memory: and URLs of object stores do")
    if storage_options:
        raise OptionError(f"the storage of {storage.uri} takes no options, got {', '.join(sorted(storage_options))}")
    return storage


def open_source_folder(storage: Storage, uri: str) -> Storage:
    """Return a folder by its URI; on an object store it is opened with the options of the table, which hold the credentials.

    Raises:
        StorageError: the storage cannot be opened.
        UnsupportedError: no storage serves the scheme.

    Example:
        >>> open_source_folder(table.storage, "file:/lake/trips").uri
        '/lake/trips'
    """
    store = getattr(storage, "inner", storage)  # a writer's storage has the table's inside
    if not isinstance(store, CloudStorage | ObjectStorage) or "://" not in uri or uri.startswith("file:"):
        return open_storage(uri)
    by_fsspec = {STORAGE_OPTION: "fsspec"} if isinstance(store, ObjectStorage) else {}
    return open_storage(uri, {**dict(store.options), **by_fsspec})


def _remote_storage(url: str, options: dict[str, str]) -> Storage:
    """Return the storage of a URL: the clouds' stores by obstore, unless an option asks for fsspec, and all others by fsspec."""
    client = options.pop(STORAGE_OPTION, "")
    is_cloud = url.partition("://")[0] in FAMILIES
    served = ("obstore", "fsspec") if is_cloud else ("fsspec",)
    if client and client not in served:
        raise OptionError(f"storage option '{STORAGE_OPTION}' of {url} is '{client}', it can be {' or '.join(served)}")
    if is_cloud and client != "fsspec":
        return CloudStorage(url, tuple(sorted(with_session_settings(url, options).items())))
    return ObjectStorage(url, tuple(sorted(options.items())))


def _path_text(path: object) -> str:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(text, str):
        raise OptionError(f"the path of a table is {path!r:.100}, of type {type(path).__name__}; give a text or a pathlib.Path")
    if not text.strip():
        raise OptionError("the path of a table must not be empty")
    if "\0" in text:
        raise OptionError(f"the path of a table holds a NUL character: {text!r:.100}")
    return text


def _are_strings(options: object) -> bool:
    return isinstance(options, Mapping) and all(isinstance(name, str) for name in options)
