"""Which file groups new records go to: small files first, then new groups of the greatest size allowed; and how large a record is.

Rules: `UpsertPartitioner.assignInserts`, `UpsertPartitioner.getSmallFiles`, `SparkUpsertDeltaCommitPartitioner`,
`AverageRecordSizeEstimator`; docs/format/data-files.md#packing-of-inserts, docs/format/data-files.md#routing-in-merge-on-read-tables,
docs/format/data-files.md#estimate-of-the-record-size. Unlike Hudi, the size of a record is an estimate from real bytes, never a constant
(1024 bytes would make hundreds of small files of small records), and the smallest file is filled first. To take new records a file is
rewritten, so a file is left alone that is much larger than what it would take: a small write stays small. A file that the write
rewrites anyway takes new records, and where the options state a small-file limit, every file below it does, as in Hudi. New records of a
merge-on-read table go to base files without logs that no compaction is to rewrite, few at a time
(`hoodie.merge.small.file.group.candidates.limit`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.arrays.byte_size import byte_size
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.kernels.base_file.size_estimate import row_bytes
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import BaseFile, FileGroupId
from pyhudi.storage.storage_protocol import Storage
from pyhudi.write.plan.workload_profile import PartitionProfile, Profile


@dataclass(frozen=True, slots=True)
class InsertGroup:
    """A file group that takes `count` new records; `base` is None for a group that begins with them."""

    file_id: str
    base: BaseFile | None
    count: int


def pack_inserts(
    count: int, files: Sequence[BaseFile], row_bytes: float, settings: WriterSettings, new_file_id: Callable[[], str]
) -> list[InsertGroup]:
    """Return the groups that take `count` new records of a partition whose latest base files are `files`.

    Example:
        >>> groups = pack_inserts(250, [], 1024.0, WriterSettings(max_file_bytes=102400), iter("ab-").__next__)
        >>> [(group.file_id, group.count) for group in groups]
        [('a', 100), ('b', 100), ('-', 50)]
    """
    groups, left = [], count
    for file in small_files(files, settings):
        taken = min(left, int((settings.max_file_bytes - file.size) / row_bytes))
        if taken > 0:
            groups.append(InsertGroup(file.name.file_id, file, taken))
            left -= taken
    per_group = max(1, int(settings.max_file_bytes / row_bytes))
    while left > 0:
        taken = min(left, per_group)
        groups.append(InsertGroup(new_file_id(), None, taken))
        left -= taken
    return groups


def spread_inserts(count: int, row_bytes: float, settings: WriterSettings, new_file_id: Callable[[], str]) -> list[InsertGroup]:
    """Return new groups of nearly equal size for `count` records, as few as the greatest file size allows; each has a record at least.

    Example:
        >>> groups = spread_inserts(2, 5000.0, WriterSettings(max_file_bytes=1000), iter("ab").__next__)
        >>> [(group.file_id, group.count) for group in groups]
        [('a', 1), ('b', 1)]
    """
    groups = min(count, math.ceil(count * row_bytes / settings.max_file_bytes))
    return [InsertGroup(new_file_id(), None, count * (n + 1) // groups - count * n // groups) for n in range(groups)]


def small_files(files: Sequence[BaseFile], settings: WriterSettings) -> list[BaseFile]:
    """Return the files that may take more records, the smallest first."""
    small = (file for file in files if file.size < settings.small_file_bytes)
    return sorted(small, key=lambda file: (file.size, file.name.file_id))


#: Up to this size, or this many times the bytes of the new records, a base file is rewritten for them alone.
_CHEAP_BYTES: Final = 4 << 20
_MOST_AMPLIFIED: Final = 8
#: Narrow rows make files that are small and take long to rewrite: above this size the rows are counted, in so many files at the most.
_UNCOUNTED_BYTES: Final = 512 << 10
_CHEAP_ROWS: Final = 1 << 17
_MOST_COUNTED: Final = 4


def insert_candidates(
    view: FileSystemView,
    profile: Profile,
    row_bytes: float,
    settings: WriterSettings,
    limit: int,
    *,
    allow_updated_groups: bool = True,
    clustered: Collection[FileGroupId] = (),
) -> Mapping[str, Sequence[BaseFile]]:
    """Return the base files that may take the new records of each partition.

    Args:
        view: the table's files.
        profile: what the write touches.
        row_bytes: bytes of a record in a base file.
        settings: sizes of files; a small-file limit that the options state is all that is asked of a file's size.
        limit: how many base files of a partition of a merge-on-read table.
        allow_updated_groups: whether a file group that gets updates may take new records too; not when updates are partial.
        clustered: file groups that a planned clustering holds; they take no new records.
    """
    counts = {path: part.inserts for path, part in profile.partitions.items() if part.inserts}
    if not view.config.is_merge_on_read:
        return {
            path: [base for base in _cheap_files(view, path, part, row_bytes, settings) if _group_of(base) not in clustered]
            for path, part in profile.partitions.items()
            if part.inserts
        }
    result, planned = {}, view.pending_compaction
    for path, count in counts.items():
        cheap = _cheap_bytes(count, row_bytes, settings)
        updated = () if allow_updated_groups else profile.partitions[path].updates
        free = (
            file_slice
            for file_slice in view.latest_slices(path)
            if not file_slice.logs and file_slice not in updated and file_slice.group not in planned and file_slice.group not in clustered
        )
        small = small_files([file_slice.base for file_slice in free if file_slice.base is not None], settings)
        few_rows = _without_many_rows(view.storage, [base for base in small if base.size <= cheap], count, settings)
        result[path] = few_rows[: max(0, limit)]
    return result


def _group_of(base: BaseFile) -> FileGroupId:
    return FileGroupId(base.partition_path, base.name.file_id)


def _cheap_files(view: FileSystemView, path: str, part: PartitionProfile, row_bytes: float, settings: WriterSettings) -> Sequence[BaseFile]:
    """Return the base files of a partition of a copy-on-write table that are rewritten anyway, or cheaply."""
    cheap = _cheap_bytes(part.inserts, row_bytes, settings)
    rewritten = {file_slice.base for file_slice in part.updates}
    bases = view.latest_base_files(path)
    only_for_inserts = [base for base in bases if base.size <= cheap and base not in rewritten]
    return [*(base for base in bases if base in rewritten), *_without_many_rows(view.storage, only_for_inserts, part.inserts, settings)]


def _without_many_rows(storage: Storage, files: Sequence[BaseFile], count: int, settings: WriterSettings) -> list[BaseFile]:
    """Return the files, the smallest first, without those whose rows are too many to be rewritten for `count` new ones.

    Footers are read until a file is found that takes new records; the files after it are left out.
    """
    ordered = small_files(files, settings)
    if settings.small_file_stated:
        return ordered
    retained = [base for base in ordered if base.size <= _UNCOUNTED_BYTES]
    for base in ordered[len(retained) :][:_MOST_COUNTED]:
        if row_count(storage, base) <= max(_CHEAP_ROWS, _MOST_AMPLIFIED * count):
            return [*retained, base]
    return retained


def _cheap_bytes(count: int, row_bytes: float, settings: WriterSettings) -> float:
    """Return the size up to which a base file is rewritten for so many new records."""
    return math.inf if settings.small_file_stated else max(_CHEAP_BYTES, _MOST_AMPLIFIED * count * row_bytes)


_LEAST_BYTES = 1.0
#: Of so few rows the size in memory is good enough: they fit anywhere.
_FEW_ROWS = 1000
#: What the meta columns and the columns' own structure add to a row, at most.
_META_BYTES = 200.0


def record_bytes(latest: CommitMetadata | None, tagged: Iterable[TaggedRows], settings: WriterSettings, *, threshold: float) -> float:
    """Return the bytes that one record takes.

    Args:
        latest: the commit before, None when there is none.
        tagged: the rows of this write; those of its largest partition are looked at.
        settings: how base files are written.
        threshold: share of the small-file limit that the commit before must have written to be believed.
    """
    if latest is not None:
        in_base_files = [stat for stat in latest.all_stats() if stat.log_version is None]
        size = sum(stat.total_write_bytes for stat in in_base_files)
        records = sum(stat.num_writes for stat in in_base_files)
        if records and size > threshold * settings.small_file_bytes:
            return max(_LEAST_BYTES, size / records)
    rows = max((rows for part in tagged for rows in (part.inserts, *(rows for _, rows in part.new_buckets))), key=len, default=None)
    if rows is None or not rows.num_rows:
        return _LEAST_BYTES
    if rows.num_rows < _FEW_ROWS:
        in_memory: float = byte_size(rows) / rows.num_rows
        return max(_LEAST_BYTES, in_memory + _META_BYTES)
    return max(_LEAST_BYTES, row_bytes(rows, settings))
