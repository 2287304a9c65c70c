"""Which file groups new records go to: small files first, then new groups of the greatest size allowed.

Rules: `UpsertPartitioner.assignInserts`, `CommonUtils` sizes; docs/format/data-files.md#packing-of-inserts. Unlike Hudi, the size of a
record is an estimate from real bytes, never a constant, and the smallest file is filled first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.spec.files.file_group import BaseFile


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
    """Return new groups of nearly equal size for `count` records, as few as the greatest file size allows."""
    groups = math.ceil(count * row_bytes / settings.max_file_bytes) if count else 0
    return [InsertGroup(new_file_id(), None, count * (n + 1) // groups - count * n // groups) for n in range(groups)]


def small_files(files: Sequence[BaseFile], settings: WriterSettings) -> list[BaseFile]:
    """Return the files that may take more records, the smallest first."""
    small = (file for file in files if file.size < settings.small_file_bytes)
    return sorted(small, key=lambda file: (file.size, file.name.file_id))
