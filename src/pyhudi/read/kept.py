"""What reading found out about file slices with logs, kept in this process for later reads.

Files of a table never change under their names, so what two of them merge to stays true. The least recently used goes when a limit is
reached.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeAlias, TypeVar

from pyhudi.kernels.base_file import TableShape
from pyhudi.kernels.delta import Delta, SliceTask, slice_delta
from pyhudi.kernels.merge_slice import Merge, count_merged
from pyhudi.kernels.read_base import row_count
from pyhudi.read.snapshot import Snapshot
from pyhudi.spec.file_group import FileSlice
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.protocol import Storage

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: Table, slice, what of its logs counts, how records merge.
SliceIdentity: TypeAlias = tuple[str, FileSlice, Visibility | str | None, TableShape | None]

_DELTA_BYTES: Final = 64 << 20
_COUNTS: Final = 100_000


class Kept(Generic[Key, Value]):
    """Values by key, of a limited size in all, the latest used last. Threads share it.

    Args:
        most: how large the values may be together; one that is larger alone is not kept.
        size_of: the size of a value.
    """

    def __init__(self, most: int, size_of: Callable[[Value], int]) -> None:
        self._most = most
        self._size_of = size_of
        self._found: OrderedDict[Key, Value] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, None when there is none."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value, and let go of the least recently used that have no room beside it."""
        size = self._size_of(value)
        if size > self._most:
            return
        with self._lock:
            before = self._found.pop(key, None)
            self._found[key] = value
            self._size += size - (0 if before is None else self._size_of(before))
            while self._size > self._most:
                _, dropped = self._found.popitem(last=False)
                self._size -= self._size_of(dropped)


def slice_identity(snapshot: Snapshot, piece: FileSlice) -> SliceIdentity:
    """Return what tells this state of a slice from all others.

    From layout 2 on the files tell what counts; before, and for a time before an upgrade, it depends on the timeline which blocks of them
    do.
    """
    if not piece.logs:
        return snapshot.storage.uri, piece, None, None
    whole = snapshot.timeline.visibility
    return snapshot.storage.uri, piece, whole if snapshot.config.layout == 1 or whole.until is not None else None, snapshot.shape


_counts: Final[Kept[SliceIdentity, int]] = Kept(_COUNTS, lambda _: 1)
_deltas: Final[Kept[tuple[SliceIdentity, tuple[str, ...] | None, tuple[int, int]], Delta]] = Kept(
    _DELTA_BYTES, lambda delta: delta.rows.nbytes + delta.masked.nbytes
)


def count_slice(snapshot: Snapshot, piece: FileSlice) -> int:
    """Return the number of rows of a slice.

    Raises:
        CorruptTableError: a file of the slice is damaged or missing.
        UnsupportedError: the logs hold what is not served.
    """
    if not piece.logs:
        return 0 if piece.base is None else row_count(snapshot.storage, piece.base)
    if snapshot.shape.merger is not None:
        return _counted(snapshot, piece)
    identity = slice_identity(snapshot, piece)
    if (known := _counts.get(identity)) is not None:
        return known
    counted = _counted(snapshot, piece)
    _counts.put(identity, counted)
    return counted


def _counted(snapshot: Snapshot, piece: FileSlice) -> int:
    task = SliceTask(piece, snapshot.timeline.visibility, snapshot.config.layout)
    return count_merged(snapshot.storage, snapshot.shape, task, limit_bytes=snapshot.query.slice_bytes)


def kept_delta(snapshot: Snapshot) -> Merge:
    """Return a `slice_delta` for slices of the snapshot that remembers what it found, unless that is a merger's affair."""
    if snapshot.shape.merger is not None:
        return slice_delta

    def found(storage: Storage, shape: TableShape, task: SliceTask) -> Delta:
        key = (slice_identity(snapshot, task.slice), task.columns, task.part)
        if (known := _deltas.get(key)) is not None:
            return known
        delta = slice_delta(storage, shape, task)
        _deltas.put(key, delta)
        return delta

    return found
