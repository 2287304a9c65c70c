"""From what a user writes as a table's place to the storage that serves it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.storage.local import LocalStorage
from pyhudi.storage.memory import MemoryStorage
from pyhudi.storage.object_store import ObjectStorage
from pyhudi.storage.protocol import Storage

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)", re.DOTALL)


def open_storage(path: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> Storage:
    """Return the storage of the table at a path or URI; nothing is read yet.

    Plain paths and `file:` URIs name local folders. As in Hadoop's paths, percent signs of a URI stand for
    themselves. Other URLs (`s3://`, `gs://`, `abfs://`) go through fsspec, which gets the options.

    Raises:
        OptionError: the path is empty, or options are given to a storage that has none.
        UnsupportedError: no storage serves the scheme.

    Example:
        >>> open_storage("file:///data/trips").uri
        '/data/trips'
    """
    text = os.fspath(path)
    if not text.strip():
        raise OptionError("the path of a table must not be empty")
    found = _SCHEME.fullmatch(text)
    scheme, authority, rest = (found[1].lower(), found[2] or "", found[3]) if found else ("file", "", text)
    if scheme == "file" and authority in ("", "localhost"):
        storage: Storage = LocalStorage(rest.rstrip("/") or "/")
    elif scheme == "memory":
        storage = MemoryStorage((authority + rest).strip("/"))
    elif found and found[2] is not None and scheme != "file":
        return ObjectStorage(f"{scheme}://{authority}{rest}".rstrip("/"), tuple(sorted((storage_options or {}).items())))
    else:
        raise UnsupportedError(f"no storage serves '{text}': local paths, file:, memory: and URLs of object stores do")
    if storage_options:
        raise OptionError(f"the storage of {storage.uri} takes no options, got {', '.join(sorted(storage_options))}")
    return storage
