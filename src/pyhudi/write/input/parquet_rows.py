"""Parquet files by their paths as rows to write."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.errors import StorageError, UsageError
from pyhudi.storage.local_storage import link_names
from pyhudi.storage.named_files import open_named_input
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage, names_of_files

Path = str | os.PathLike[str]


def are_paths(data: object) -> bool:
    """Tell whether data are a path, or a list of paths.

    Example:
        >>> are_paths("rows.parquet"), are_paths([]), are_paths([{"id": 1}])
        (True, False, False)
    """
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, Sequence) and len(data) > 0 and all(isinstance(one, str | os.PathLike) for one in data)


def read_paths(data: object) -> pa.Table:
    """Return the rows of Parquet files.

    Args:
        data: the path or URI of a file or of a folder, or a list of them; of a folder all files that end in `.parquet` are read, without
            those of folders in it.

    Raises:
        UsageError: there is no file, a file is not Parquet, or the folder is a Hudi table, whose files also hold rows that were replaced.
        StorageError: the storage does not answer.
    """
    paths: Sequence[Path] = [data] if isinstance(data, str | os.PathLike) else data  # type: ignore[assignment]
    tables = [table for path in paths for table in _read_path(os.fspath(path))]
    return pa.concat_tables(tables, promote_options="default")


def _read_path(path: str) -> list[pa.Table]:
    if path.rstrip("/").endswith(".parquet") or not _is_folder(path):
        folder, _, name = path.rpartition("/")
        return [_read_file(open_storage(folder or ("/" if path.startswith("/") else ".")), name, path)]
    storage = open_storage(path)
    if storage.stat(".hoodie") is not None:
        raise UsageError(f"'{path}' is a Hudi table: give pyhudi.HudiTable.open('{path}'), whose rows are the current ones.")
    names = [*names_of_files(storage.list("")), *link_names(storage, "")]
    files = sorted(name for name in names if name.endswith(".parquet"))
    if not files:
        raise UsageError(f"The folder '{path}' holds no file that ends in .parquet.")
    return [_read_file(storage, name, posixpath.join(path, name)) for name in files]


def _is_folder(path: str) -> bool:
    storage = open_storage(path)
    return bool(storage.list("") or link_names(storage, ""))


def _read_file(storage: Storage, name: str, path: str) -> pa.Table:
    try:
        with open_named_input(storage, name) as source:
            return pq.ParquetFile(source, page_checksum_verification=True).read()
    except FileNotFoundError:
        hint = " A condition is where='...'." if any(sign in path for sign in "=<>") else ""
        raise UsageError(f"There is no file '{path}': data that are a text are the path of a Parquet file.{hint}") from None
    except pa.ArrowInvalid as error:
        raise UsageError(f"The file '{path}' is no Parquet file, or is damaged: {error}") from None
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise UsageError(f"The file '{path}' cannot be read: {error}") from None
