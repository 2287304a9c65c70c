"""From the path of a partition, or a pattern of paths, to the table that they belong to.

Rules: `TablePathUtils.getTablePath`. The table is the nearest folder above that has table properties.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Sequence
from typing import Final

from pyhudi.errors import OptionError, TableNotFound, UsageError
from pyhudi.read.snapshot.path_scope import WILDCARDS, PathScope
from pyhudi.storage.local_storage import real_uri
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import BACKUP, PROPERTIES

#: Partitions are not deeper than this below their table.
_MOST_FOLDERS: Final = 32
#: Paths of partitions to read, parted by commas.
PATHS: Final = "hoodie.datasource.read.paths"
#: The path of the table itself.
BASE_PATH: Final = "hoodie.base.path"
_SAME_SCHEMES: Final = {"s3a": "s3", "s3n": "s3"}


def find_table(paths: Sequence[str]) -> tuple[Storage, PathScope | None]:
    """Return the table of some paths, and which of its partitions they name; None for all of them.

    A path is that of a table, of a folder in it, or a pattern such as `/data/trips/*/*`. Where a table is, nothing else is looked for.

    Raises:
        TableNotFound: there is no table at a path, nor above it.
        UsageError: the paths belong to several tables, or name a table and a part of it.

    Example:
        >>> find_table(["/data/trips/city=oslo"])
        Traceback (most recent call last):
        ...
        pyhudi.errors.TableNotFound: there is no Hudi table at /data/trips/city=oslo, nor in a folder above it
    """
    matches = [_table_of(path) for path in paths]
    storages = {real_uri(storage): storage for storage, _ in matches}
    if len(storages) != 1:
        raise UsageError(
            f"one read is of one table, and these paths belong to {', '.join(sorted(storages))}: read the tables one by one and join them"
            " with union."
        )
    relative = [path for _, path in matches if path]
    if relative and len(relative) < len(matches):
        raise UsageError(f"the paths name the table {matches[0][0].uri} and folders in it ({', '.join(relative)}): name either.")
    return matches[0][0], PathScope(tuple(dict.fromkeys(relative))) if relative else None


def split_paths(text: str) -> list[str]:
    """Return the paths of a list with commas."""
    return [stripped for one in text.split(",") if (stripped := one.strip())]


def scope_of(storage: Storage, text: str | None) -> PathScope | None:
    """Return which partitions of a table the option `hoodie.datasource.read.paths` names; None when it is not given.

    Raises:
        UsageError: a path is not below the table, or there is none between the commas.
    """
    paths = split_paths(text or "")
    if not paths:
        if (text or "").strip():
            raise UsageError(f"{PATHS}={text} names no path: leave it out to read all partitions.")
        return None
    return PathScope(tuple(_relative(storage, path) for path in paths))


def _relative(storage: Storage, path: str) -> str:
    """Return a path in a table relative to the table, which the path may name by way of links."""
    base, plain = f"{storage.uri}/", _plain(path)
    if not _is_absolute(path) or plain.startswith(base):
        return plain.removeprefix(base).strip("/")
    if plain.startswith("/") and "://" not in base:
        with contextlib.suppress(TableNotFound):
            named, rest = _table_of(path)
            if rest and real_uri(named) == real_uri(storage):
                return rest
    raise UsageError(f"{PATHS}={path} is not below the table at {storage.uri}.")


def _is_absolute(path: str) -> bool:
    return "://" in path or path.startswith(("/", "file:"))


def check_base_path(stated: str | None, uri: str) -> None:
    """Refuse the option `hoodie.base.path` where it names another folder than that of the table, `uri`.

    Raises:
        OptionError: it does; both paths are named.
    """
    if stated is not None and _comparable(stated) != _comparable(uri) and not _leads_to(stated.strip(), uri):
        raise OptionError(f"{BASE_PATH}={stated} is not the path of this table, which is at {uri}: leave the option out.")


def _leads_to(path: str, uri: str) -> bool:
    """Tell whether a local path and that of a table name one folder, one of them by way of links."""
    return "://" not in uri and _plain(path).startswith("/") and real_uri(open_storage(path)) == real_uri(open_storage(uri))


def _comparable(path: str) -> str:
    """Return a path without what may differ between two names of one folder."""
    scheme, separator, rest = _plain(path.strip()).partition("://")
    if not separator:
        return posixpath.normpath(scheme)
    return f"{_SAME_SCHEMES.get(scheme.lower(), scheme.lower())}://{rest.rstrip('/')}"


def _plain(path: str) -> str:
    """Return a path as storages name it: local ones without scheme."""
    return f"/{path.removeprefix('file:').lstrip('/')}" if path.startswith("file:") else path


def _table_of(path: str) -> tuple[Storage, str]:
    """Return the table at or above a path, and the rest of the path."""
    storage = open_storage(path)
    if _is_table(storage):
        return storage, ""
    root, rest = path.rstrip("/"), ""
    for _ in range(_MOST_FOLDERS):
        root, name = posixpath.split(root)
        rest = f"{name}/{rest}" if rest else name
        if not root.strip("/") or root.endswith((":", ":/")) or not name:
            break
        if WILDCARDS & set(root):
            continue
        storage = open_storage(root)
        if rest.split("/", 1)[0] != ".hoodie" and _is_table(storage):
            return storage, rest
    raise TableNotFound(f"there is no Hudi table at {path}, nor in a folder above it")


def _is_table(storage: Storage) -> bool:
    return any(storage.stat(path) is not None for path in (PROPERTIES, BACKUP))
