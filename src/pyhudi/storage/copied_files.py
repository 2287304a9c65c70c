"""Copies of files from one storage to another."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from pyhudi.errors import StorageError
from pyhudi.storage.storage_protocol import FileStatus, Storage

_CHUNK_BYTES: Final = 1 << 20


def copy_file(source: Storage, target: Storage, file: FileStatus) -> None:
    """Copy a file to the same path of another storage.

    Raises:
        StorageError: the copy has not the size of the file.
    """
    with source.open_input(file.path) as reader, target.open_output(file.path) as writer:
        shutil.copyfileobj(reader, writer, _CHUNK_BYTES)
    made = target.stat(file.path)
    if made is None or made.size != file.size:
        raise StorageError(f"the copy of '{file.path}' of {source.uri} in {target.uri} is not whole: try again")


def temporary_folder(name: str) -> str:
    """Return the path of a folder of this name where this machine has temporary files; it is not made."""
    return str(Path(tempfile.gettempdir(), name))
