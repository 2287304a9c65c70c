"""How many keys a partition of the metadata table holds, without reading its records.

Base files say it in their trailers. Of log files the keys are read, and looked for in the base file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from pyhudi.codec.hfile import HFileReader
from pyhudi.metadata_table.stored_cells import log_rows
from pyhudi.spec.file_group import FileSlice
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.timeline import Timeline

#: Log files of more bytes are not read to count their keys.
_MOST_LOG_BYTES: Final = 4 << 20


def count_keys(storage: Storage, slices: Sequence[FileSlice], timeline: Timeline) -> int | None:
    """Return the number of keys in file slices of the metadata table; None when counting them would take too long.

    Raises:
        CorruptTableError: a file is damaged or gone.
    """
    if sum(log.size for slice_ in slices for log in slice_.logs) > _MOST_LOG_BYTES:
        return None
    return sum(_count(storage, slice_, timeline) for slice_ in slices)


def _count(storage: Storage, slice_: FileSlice, timeline: Timeline) -> int:
    changed = log_rows(storage, slice_, timeline)
    added = sum(changed.values())
    if slice_.base is None:
        return added
    with ExitStack() as files:
        base = HFileReader(files.enter_context(storage.open_input(slice_.base.path)), slice_.base.size, slice_.base.path)
        known = sum(1 for _ in base.get_many(sorted(changed))) if changed else 0
        return len(base) - known + added
