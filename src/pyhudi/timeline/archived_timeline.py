"""What the archived timeline of layout 2 knows, read when it is asked: completion times, instants, what they said.

Rules: `CompletionTimeQueryViewV2`, `ArchivedTimelineV2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_contents import ArchivedContents
from pyhudi.timeline.archived_timeline_lsm import COLUMNS, ArchivedRow, HistoryFile, RowReader, check_nothing_archived, history_files

_Default = TypeVar("_Default")
_NAMES = COLUMNS[:3]


@dataclass(frozen=True, slots=True)
class _Names:
    """The instants of one file by requested time, and their completion times."""

    rows: Mapping[str, tuple[ArchivedRow, ...]]
    times: Mapping[str, str]


_MOST_FILES = 256
#: Names of the instants in files that were read: files never change, and each commit asks for some.
_known: LruCache[tuple[str, HistoryFile], _Names] = LruCache(_MOST_FILES)
#: The latest completion time in each file.
_latest: LruCache[tuple[str, HistoryFile], str] = LruCache(_MOST_FILES)


class History(Mapping[str, str]):
    """Completion times of archived instants by requested time, each file read when one of its instants is asked for.

    The table may continue being archived: what is not found is looked for once more in the files of now.
    """

    def __init__(
        self, storage: Storage, config: TableConfig, rows: RowReader, known: Mapping[str, str] | None = None, first_active: str = ""
    ) -> None:
        """Answer from the archive on `storage`, and from the times that are `known`; nothing is read yet.

        `first_active` is the requested time of the first action that the timeline still has.
        """
        self._first_active = first_active
        self._times = known or {}
        self._storage = storage
        self._config = config
        self._rows = rows
        self._read: dict[HistoryFile, _Names] = {}
        #: The times of the file that had the last one: logs are asked for in their order.
        self._lately: Mapping[str, str] = {}
        self._files: tuple[HistoryFile, ...] | None = None
        self._contents = ArchivedContents(storage, rows)

    @property
    def is_whole(self) -> bool:
        """True when nothing of the table's life is missing: it was born with layout 2.

        Archives of layout 1 were often deleted to save space, and an upgrade may leave them behind.
        """
        return self._config.initial_version is not None and self._config.initial_version >= 8

    def instants(self, since: str = "") -> tuple[Instant, ...]:
        """Return the archived instants of the files that reach to the requested time `since` or beyond it.

        Raises:
            UnsupportedError: an action is unknown to table versions 8 and 9.
        """
        matches = {
            (row.requested, row.action): row
            for file in self._all_files()
            if file.last >= since
            for rows in self._names_of(file).rows.values()
            for row in rows
        }
        return tuple(self._instant(matches[key]) for key in sorted(matches))

    def find(self, requested: str) -> tuple[Instant, ...]:
        """Return the archived instants of a requested time."""
        rows = (row for file in self._files_about(requested) for row in self._names_of(file).rows.get(requested, ()))
        return tuple(dict.fromkeys(map(self._instant, rows)))

    def content(self, instant: Instant) -> bytes:
        """Return what the completed file of an archived instant held.

        Raises:
            CorruptTableError: the archive lists the instant, and the file that should hold it does not.
            FileNotFoundError: it is not archived.
        """
        for _ in self._attempts():
            for file in self._files_about(instant.requested):
                if not any(row.action == instant.action.value for row in self._names_of(file).rows.get(instant.requested, ())):
                    continue
                content = self._contents.find(file, instant)
                if content is None:
                    raise CorruptTableError(
                        f"archive file '{file.path}' of table {self._storage.uri} is damaged: it lists {instant.action} {instant.requested}"
                        " and does not hold its content; restore the file from a copy"
                    )
                return content
        raise FileNotFoundError(f"{instant.action} {instant.requested} of table {self._storage.uri} is not in its archive")

    def __getitem__(self, requested: str) -> str:
        """Return the completion time of an archived instant."""
        match = self.get(requested)
        if match is None:
            raise KeyError(requested)
        return match

    def get(self, requested: str, default: _Default | None = None) -> str | _Default | None:  # type: ignore[override]
        """Return the completion time of an archived instant, or the default: asked for each log file of old instants."""
        if (known := self._times.get(requested)) is not None:
            return known
        if (result := self._lately.get(requested)) is not None:
            return result
        for file in self._all_files():
            if file.first <= requested <= file.last and (result := self._names_of(file).times.get(requested)) is not None:
                self._lately = self._names_of(file).times
                return result
        return default

    def latest_completion(self, first: str, last: str) -> str:
        """Return a time at which or before which all instants requested from `first` to `last` were completed; `""` when it knows none."""
        files = (file for file in self._all_files() if file.first <= last and file.last >= first)
        known = (time for requested, time in self._times.items() if first <= requested <= last)
        return max((*known, *map(self._latest_of, files)), default="")

    def __iter__(self) -> Iterator[str]:
        """Yield the requested times of all archived instants whose completion time is known."""
        return iter(dict.fromkeys((*self._times, *(time for file in self._all_files() for time in self._names_of(file).times))))

    def __len__(self) -> int:
        """Return the number of archived instants."""
        return sum(1 for _ in self)

    def _attempts(self) -> Iterator[None]:
        """Yield, and once more after forgetting the manifest: the instant may have been archived since that was read."""
        yield
        self._files = None
        yield

    def _files_about(self, requested: str) -> Sequence[HistoryFile]:
        return [file for file in self._all_files() if file.first <= requested <= file.last]

    def _all_files(self) -> tuple[HistoryFile, ...]:
        if self._files is None:
            listing = self._storage.list(self._config.history_path)
            self._files = history_files(self._storage, self._config, listing)
            if not self._files:
                check_nothing_archived(self._storage, self._config, listing, self._first_active)
        return self._files

    def _latest_of(self, file: HistoryFile) -> str:
        """Return the latest completion time in a file: by its footer, so that the number of instants in it does not count.

        Nothing was completed before it was requested: a footer that says so is damaged, and the names, which have checksums, tell.
        """
        key = (self._storage.uri, file)
        result = _latest.get(key)
        if result is None:
            result = self._rows.greatest(self._storage, file.path, COLUMNS[1])
            if result is None or len(result) != len(file.last) or result < file.last:
                result = max(self._names_of(file).times.values(), default="")
            _latest.put(key, result)
        return result

    def _names_of(self, file: HistoryFile) -> _Names:
        if file in self._read:
            return self._read[file]
        key = (self._storage.uri, file)
        result = _known.get(key)
        if result is None:
            result = _names(ArchivedRow(*(row[name] for name in _NAMES)) for row in self._rows(self._storage, file.path, _NAMES))
            _known.put(key, result)
        self._read[file] = result
        return result

    def _instant(self, row: ArchivedRow) -> Instant:
        try:
            action = Action(row.action)
        except ValueError:
            raise UnsupportedError(f"the archived timeline of table {self._storage.uri} names the unknown action '{row.action}'") from None
        return Instant(row.requested, action, State.COMPLETED, row.completed)


def _names(rows: Iterable[ArchivedRow]) -> _Names:
    of_time: dict[str, tuple[ArchivedRow, ...]] = {}
    times: dict[str, str] = {}
    for row in rows:
        of_time[row.requested] = (*of_time.get(row.requested, ()), row)
        if row.completed:
            times[row.requested] = row.completed
    return _Names(of_time, times)
