"""What archived instants said, for callers that ask for one after another.

A file of the archive has no index: one instant is found by reading the file from its start, which for each of its instants takes a time
that grows with the square of their number. So what was read around an instant is remembered, up to a number of bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from pyhudi.spec.instant import Instant
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline_lsm import COLUMNS, HistoryFile, RowReader

_MOST_BYTES: Final = 32 << 20
#: What an instant without content takes.
_LEAST_BYTES: Final = 256
_REQUESTED, _, _ACTION, _METADATA = _CONTENT = COLUMNS[:4]


class ArchivedContents:
    """Finds what the completed files of archived instants held. Threads may share one: what is remembered is replaced as a whole."""

    def __init__(self, storage: Storage, rows: RowReader) -> None:
        self._storage = storage
        self._rows = rows
        self._known: tuple[HistoryFile | None, Mapping[tuple[str, str], bytes]] = (None, {})

    def find(self, file: HistoryFile, instant: Instant) -> bytes | None:
        """Return what a file of the archive holds of an instant, None when it holds nothing; errors as in the reader of rows."""
        target = (instant.requested, instant.action.value)
        known, near = self._known
        if known != file or target not in near:
            near = self._around(file, target)
            self._known = (file, near)
        return near.get(target)

    def _around(self, file: HistoryFile, target: tuple[str, str]) -> Mapping[tuple[str, str], bytes]:
        """Return the contents of an instant and of those next to it in the file: half of the bytes may come before it."""
        near: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        size = 0
        for row in self._rows(self._storage, file.path, _CONTENT):
            key = (row[_REQUESTED], row[_ACTION])
            if key in near:
                continue
            near[key] = row[_METADATA] or b""
            size += len(near[key]) + _LEAST_BYTES
            if target in near:
                if size > _MOST_BYTES:
                    break
                continue
            while size > _MOST_BYTES // 2:
                size -= len(near.popitem(last=False)[1]) + _LEAST_BYTES
        return near
