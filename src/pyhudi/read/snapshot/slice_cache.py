"""What reading found out about file slices with logs, kept in this process for later reads.

Files of a table never change under their names, so what two of them merge to stays true. The least recently used goes when a limit is
reached.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from pyhudi.cache import LruCache
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.kernels.merge.merge_slice import Merge, count_merged
from pyhudi.kernels.merge.slice_delta import Delta, SliceTask, slice_delta
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.storage_protocol import Storage

#: Table, slice, what of its logs counts, how records merge, and whether they do.
SliceIdentity: TypeAlias = tuple[str, FileSlice, Visibility | str | None, RecordContext | None, bool]

_DELTA_BYTES: Final = 64 << 20
_COUNTS: Final = 100_000


def slice_identity(snapshot: Snapshot, file_slice: FileSlice) -> SliceIdentity:
    """Return what tells this state of a slice from all others.

    From layout 2 on the files tell what counts; before, and for a time before an upgrade, it depends on the timeline which blocks of them
    do.
    """
    if not file_slice.logs:
        return snapshot.storage.uri, file_slice, None, None, True
    whole = snapshot.timeline.visibility
    visibility = whole if snapshot.config.layout == 1 or whole.until is not None else None
    return snapshot.storage.uri, file_slice, visibility, snapshot.context, snapshot.query.merges_logs


_counts: Final[LruCache[SliceIdentity, int]] = LruCache(_COUNTS)
_deltas: Final[LruCache[tuple[SliceIdentity, tuple[str, ...] | None, tuple[int, int]], Delta]] = LruCache(
    _DELTA_BYTES, lambda delta: delta.rows.nbytes + delta.masked.nbytes
)


def slice_task(
    snapshot: Snapshot, file_slice: FileSlice, columns: tuple[str, ...] | None = None, part: tuple[int, int] = (0, 1)
) -> SliceTask:
    """Return the task that merges a slice, or a part of it, as the snapshot sees it."""
    unmerged = not snapshot.query.merges_logs
    return SliceTask(file_slice, snapshot.timeline.visibility, snapshot.config.layout, columns, part, unmerged)


def count_slice(snapshot: Snapshot, file_slice: FileSlice) -> int:
    """Return the number of rows of a slice.

    Raises:
        CorruptTableError: a file of the slice is damaged or missing.
        UnsupportedError: the logs hold what is not served.
    """
    if not file_slice.logs:
        return 0 if file_slice.base is None else row_count(snapshot.storage, file_slice.base)
    if snapshot.context.merger is not None:
        return _counted(snapshot, file_slice)
    identity = slice_identity(snapshot, file_slice)
    if (known := _counts.get(identity)) is not None:
        return known
    counted = _counted(snapshot, file_slice)
    _counts.put(identity, counted)
    return counted


def _counted(snapshot: Snapshot, file_slice: FileSlice) -> int:
    task = slice_task(snapshot, snapshot.with_checksums(file_slice))
    return count_merged(snapshot.storage, snapshot.context, task, limit_bytes=snapshot.query.slice_bytes)


def remember_deltas(snapshot: Snapshot) -> Merge:
    """Return a `slice_delta` for slices of the snapshot that remembers what it found, unless that is a merger's affair."""
    if snapshot.context.merger is not None:
        return slice_delta

    def cached_delta(storage: Storage, context: RecordContext, task: SliceTask) -> Delta:
        key = (slice_identity(snapshot, task.slice), task.columns, task.part)
        if (known := _deltas.get(key)) is not None:
            return known
        delta = slice_delta(storage, context, task)
        _deltas.put(key, delta)
        return delta

    return cached_delta
