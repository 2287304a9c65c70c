"""Tables below a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike

from pyhudi.errors import HudiError, OptionError, UsageError
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage

_PROPERTIES = ".hoodie/hoodie.properties"
_HIDDEN = (".", "_")
#: So many folders are looked at for the hint of an error.
_LOOKED_AT = 20


def list_tables(folder: str | PathLike[str], storage_options: Mapping[str, str] | None = None, *, depth: int = 3) -> list[str]:
    """Return the paths of the Hudi tables in a folder, sorted.

    Args:
        folder: a path or URI, as in `HudiTable.open`; that of a table is a list of itself.
        storage_options: options of the storage, as there.
        depth: so many levels of folders below `folder` are looked at; folders of tables are not.

    Raises:
        UsageError: there is no such folder, or an argument is wrong.
        StorageError: the storage does not answer.

    Example:
        >>> import pyarrow as pa
        >>> from pyhudi import HudiTable
        >>> schema = pa.schema({"id": pa.int64()})
        >>> for name in ("raw/users", "trips"):
        ...     _ = HudiTable.create(f"{folder}/lake/{name}", schema, name="t", keys=["id"])
        >>> [path.removeprefix(folder) for path in list_tables(f"{folder}/lake")]
        ['/lake/raw/users', '/lake/trips']
    """
    _check_depth(depth)
    storage = open_storage(folder, storage_options)
    if storage.stat(_PROPERTIES) is not None:
        return [storage.uri]
    if not storage.list(""):
        raise UsageError(f"'{storage.uri}' is no folder, or an empty one: there is no table.")
    return [f"{storage.uri.rstrip('/')}/{path}" for path in _tables(storage, "", depth)]


def holds_tables(folder: str, storage_options: Mapping[str, str] | None = None) -> bool:
    """Tell whether one of the first folders in a folder is a table, for the message of an error; False when the folder cannot be read."""
    try:
        storage = open_storage(folder, storage_options)
        folders = [status.path for status in storage.list("") if status.is_dir and not status.name.startswith(_HIDDEN)]
        return any(storage.stat(f"{path}/{_PROPERTIES}") is not None for path in folders[:_LOOKED_AT])
    except HudiError:
        return False


def _check_depth(depth: object) -> None:
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 0:
        raise OptionError(f"depth is {depth!r:.100}; give a number of levels, 0 or more.")


def _tables(storage: Storage, path: str, depth: int) -> Iterator[str]:
    """Yield the paths of the tables below a folder that is none itself."""
    for status in storage.list(path) if depth else ():
        if not status.is_dir or status.name.startswith(_HIDDEN):
            continue
        if storage.stat(f"{status.path}/{_PROPERTIES}") is not None:
            yield status.path
        else:
            yield from _tables(storage, status.path, depth - 1)
