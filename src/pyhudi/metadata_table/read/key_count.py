"""How many keys a partition of the metadata table holds, without reading its records.

The largest file, or log block, of a file group says in its trailer how many it has. Of the others the keys are read, and looked
for in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from pyhudi.metadata_table.read.raw_cells import Part, parts_of
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Keys of more bytes than this are not read to be counted.
_MOST_BYTES: Final = 4 << 20


def count_keys(storage: Storage, slices: Sequence[FileSlice], timeline: Timeline) -> int | None:
    """Return the number of keys in file slices of the metadata table; None when counting them would take too long.

    Raises:
        CorruptTableError: a file is damaged or missing.
    """
    total, room = 0, _MOST_BYTES
    for slice_ in slices:
        with ExitStack() as files:
            parts = list(parts_of(storage, slice_, timeline, files))
            largest = max(range(len(parts)), key=lambda index: _entries(parts[index]), default=None)
            if largest is None:
                continue
            room -= sum(part.size for index, part in enumerate(parts) if index != largest)
            if room < 0:
                return None
            total += _count(parts, largest)
    return total


def _entries(part: Part) -> int:
    return 0 if part.file is None else len(part.file)


def _count(parts: Sequence[Part], largest: int) -> int:
    """Return how many keys are there after all parts."""
    last: dict[bytes, tuple[int, bool]] = {}
    for index, part in enumerate(parts):
        if index != largest:
            rows = [key.encode() for key in part.deleted] if part.file is None else [row for row, _ in part.file.entries()]
            last.update((row, (index, part.file is not None)) for row in rows)
    file = parts[largest].file
    known = set() if file is None or not last else {row for row, _ in file.get_many(sorted(last))}
    live = sum(is_present or (row in known and index < largest) for row, (index, is_present) in last.items())
    return _entries(parts[largest]) - len(known) + live
