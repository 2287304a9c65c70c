"""Which base files may take new records.

Rules: `UpsertPartitioner.getSmallFiles`, `SparkUpsertDeltaCommitPartitioner`; docs/format/data-files.md#routing-in-merge-on-read-tables.
New records of a merge-on-read table go to base files without logs that no compaction is to rewrite, few at a time, because to
take them the file is written again (`hoodie.merge.small.file.group.candidates.limit`). Unlike Hudi, a file is left alone that is much
larger
than what it would take: a small write stays small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.write.plan.insert_packing import small_files
from pyhudi.write.plan.workload_profile import Profile

#: Up to this size, or this many times the bytes of the new records, a base file below a merge-on-read table is written again for them.
_CHEAP_BYTES: Final = 4 << 20
_MOST_AMPLIFIED: Final = 8


def insert_candidates(
    view: FileSystemView, profile: Profile, row_bytes: float, settings: WriterSettings, limit: int, *, allow_updated_groups: bool = True
) -> Mapping[str, Sequence[BaseFile]]:
    """Return the base files that may take the new records of each partition.

    Args:
        view: the table's files.
        profile: what the write touches.
        row_bytes: bytes of a record in a base file.
        settings: sizes of files.
        limit: how many base files of a partition of a merge-on-read table.
        allow_updated_groups: whether a file group that gets updates may take new records too; not when updates are partial.
    """
    counts = {path: part.inserts for path, part in profile.partitions.items() if part.inserts}
    if not view.config.is_merge_on_read:
        return {path: view.latest_base_files(path) for path in counts}
    result, planned = {}, view.pending_compaction
    for path, count in counts.items():
        cheap = max(_CHEAP_BYTES, _MOST_AMPLIFIED * count * row_bytes)
        updated = () if allow_updated_groups else profile.partitions[path].updates
        free = (
            file_slice
            for file_slice in view.latest_slices(path)
            if not file_slice.logs and file_slice not in updated and file_slice.group not in planned
        )
        small = small_files([file_slice.base for file_slice in free if file_slice.base is not None], settings)
        result[path] = [base for base in small if base.size <= cheap][: max(0, limit)]
    return result
