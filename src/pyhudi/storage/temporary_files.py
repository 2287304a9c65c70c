"""Temporary files of creates that were killed: how to know them, and how to be rid of them."""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.storage.storage_protocol import Storage


def is_left_over(name: str) -> bool:
    """Tell whether a name is one that the local storage gives to a file it has not finished.

    Example:
        >>> is_left_over(".20261201040547825.inflight.4711-0.tmp")
        True
    """
    return name.startswith(".") and name.endswith(".tmp")


def remove_left_overs(storage: Storage, folders: Iterable[str]) -> dict[str, list[str]]:
    """Delete the unfinished files of these folders and return the names of the others by folder. The caller holds the lock, so nobody
    writes them.
    """
    names = {folder: storage.file_names(folder) for folder in folders}
    for folder, listed in names.items():
        for name in filter(is_left_over, listed):
            storage.delete(f"{folder}/{name}")
    return {folder: [name for name in listed if not is_left_over(name)] for folder, listed in names.items()}
