"""File slices with logs, merged when a query runs: which base rows no longer count, and files of the rows that replace them.

What was merged once serves every later query of the session that reads the same slice. The files of a slice live as
long as the cache or any scan holds it.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np
from pyspark.sql import SparkSession

from pyhudi.cache import LruCache
from pyhudi.codec.log.log_file import MOST_BLOCK_BYTES
from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.meta_column_writer import without_identity
from pyhudi.kernels.merge.slice_delta import SliceTask, slice_delta
from pyhudi.read.snapshot.slice_cache import SliceIdentity, slice_identity, slice_task
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.engine.task_engine import SparkEngine
from pyhudi.spark.scan.delta_files import DeltaFile, DeltaFolder
from pyhudi.spark.scan.row_mask import bits_of
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage

#: Logs up to so many bytes are merged in this process; more of them in Spark's tasks.
LOCAL_BYTES: Final = 64 * 1024 * 1024
#: The cache holds slices of so many bytes, bits and files together.
_CACHED_BYTES: Final = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class MergedSlice:
    """`masked` has a bit for each base row that does not count; `files` hold the rows that replace them."""

    masked: bytes
    files: tuple[DeltaFile, ...]

    @property
    def size(self) -> int:
        """Bytes of bits and files."""
        return len(self.masked) + sum(file.size for file in self.files)


_Identity: TypeAlias = tuple[SliceIdentity, DeltaFolder]


_CACHES: weakref.WeakKeyDictionary[SparkSession, LruCache[_Identity, MergedSlice]] = weakref.WeakKeyDictionary()


def merge_slices(session: SparkSession, snapshot: Snapshot, slices: Sequence[FileSlice], folder: DeltaFolder) -> list[MergedSlice]:
    """Return the slices, which have logs, merged, in their order; what a merger of the owner's makes of them is not kept.

    Raises:
        CorruptTableError: a log or base file is damaged or missing.
        UnsupportedError: records merge in a way that is not served.
    """
    cache = _CACHES.setdefault(session, LruCache(_CACHED_BYTES, lambda merged: merged.size))
    identities = [(slice_identity(snapshot, one), folder) for one in slices]
    matches = {identity: merged for identity in identities if (merged := cache.get(identity)) is not None}
    missing = {identity: one for identity, one in zip(identities, slices, strict=True) if identity not in matches}
    for identity, merged in zip(missing, _merge_slice(session, snapshot, list(missing.values()), folder), strict=True):
        if snapshot.context.merger is None:
            cache.put(identity, merged)
        matches[identity] = merged
    return [matches[identity] for identity in identities]


def _merge_slice(session: SparkSession, snapshot: Snapshot, slices: Sequence[FileSlice], folder: DeltaFolder) -> list[MergedSlice]:
    if not slices:
        return []
    tasks = [task for one in slices for task in _tasks(snapshot, one)]
    log_bytes = sum(log.size for one in slices for log in one.logs)
    engine: Engine = LocalEngine() if log_bytes <= LOCAL_BYTES else SparkEngine(session)
    merge_part = partial(_merge_part, snapshot.storage, snapshot.context, folder)
    # Each part of a log that is longer than writers make them may search all of it before it fails: one part goes first.
    probes = [task for task in tasks if task.work.part[0] == 0 and any(log.size > MOST_BLOCK_BYTES for log in task.work.slice.logs)]
    parts = {task.name: part for task, part in zip(probes, engine.run(merge_part, probes), strict=True)} if probes else {}
    others = [task for task in tasks if task.name not in parts]
    parts |= {task.name: part for task, part in zip(others, engine.run(merge_part, others), strict=True)}
    by_slice = groupby(((task, parts[task.name]) for task in tasks), key=lambda pair: pair[0].work.slice)
    return [_whole([part for _, part in pairs], folder) for _, pairs in by_slice]


@dataclass(frozen=True, slots=True)
class _PartTask:
    """Merge a slice, or a part of it, into a file of this name."""

    work: SliceTask
    name: str


_numbers = itertools.count()


def _tasks(snapshot: Snapshot, one: FileSlice) -> list[_PartTask]:
    one = snapshot.with_checksums(one)
    count = max(1, -(-sum(log.size for log in one.logs) // snapshot.query.slice_bytes))
    return [_PartTask(slice_task(snapshot, one, part=(part, count)), f"{one.group.file_id}-{next(_numbers)}") for part in range(count)]


def _merge_part(storage: Storage, context: RecordContext, folder: DeltaFolder, task: _PartTask) -> MergedSlice:
    delta = slice_delta(storage, context, task.work)
    rows = delta.rows if context.virtual_key is None else without_identity(delta.rows)
    files = (folder.write(task.name, rows),) if rows.num_rows else ()
    return MergedSlice(bits_of(delta.masked.to_numpy(zero_copy_only=False)), files)


def _whole(parts: Sequence[MergedSlice], folder: DeltaFolder) -> MergedSlice:
    """Return the parts of a slice as one, whose files go when nobody holds it any more."""
    bits = np.zeros(max(len(part.masked) for part in parts), dtype=np.uint8)
    for part in parts:
        bits[: len(part.masked)] |= np.frombuffer(part.masked, dtype=np.uint8)
    whole = MergedSlice(bits.tobytes(), tuple(file for part in parts for file in part.files))
    for file in whole.files:
        weakref.finalize(whole, folder.delete, file)
    return whole
