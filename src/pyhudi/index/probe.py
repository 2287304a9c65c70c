"""Asks base files which of some keys they hold, one task a file."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.view import FileSystemView
from pyhudi.index.protocol import Lookup
from pyhudi.kernels.probe import find_keys
from pyhudi.spec.file_group import BaseFile, FileSlice
from pyhudi.storage.protocol import Storage


@dataclass(frozen=True, slots=True)
class ProbeTask:
    """Look for `keys` in one base file."""

    file: BaseFile
    keys: pa.StringArray


@dataclass(frozen=True, slots=True)
class Hits:
    """Which rows of a partition's data have their key in a slice: `rows` for each the row of the base file, null for none."""

    piece: FileSlice
    rows: pa.Int64Array


def slices_to_ask(view: FileSystemView, partition_path: str) -> tuple[FileSlice, ...]:
    """Return the slices of a partition whose base files tell which keys the partition holds.

    Raises:
        UnsupportedError: a file group has log files only, so that no base file tells its keys.
    """
    slices = view.latest_slices(partition_path)
    for piece in slices:
        if piece.base is None:
            raise UnsupportedError(
                f"file group {piece.group.file_id} in partition '{partition_path}' of table {view.storage.uri} has log files only; another"
                " index than SIMPLE and GLOBAL_SIMPLE wrote it, and these cannot tell its keys. Compact the table, then write."
            )
    return slices


def probe(lookup: Lookup, asked: Sequence[tuple[FileSlice, pa.StringArray]]) -> list[Hits]:
    """Return for every slice and its keys which of them its base file holds, key by key."""
    tasks = [ProbeTask(piece.base, keys) for piece, keys in asked if piece.base is not None]
    found = lookup.engine.run(functools.partial(_rows_of, lookup.storage), tasks)
    return [Hits(piece, rows) for (piece, _), rows in zip(asked, found, strict=True)]


def _rows_of(storage: Storage, task: ProbeTask) -> pa.Int64Array:
    return find_keys(storage, task.file, task.keys)
