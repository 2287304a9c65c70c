"""The archived timeline of layout 2: sorted Parquet files below `timeline/history`, listed by numbered manifests.

Rules: `LSMTimeline`, `TimelineArchiverV2`; format notes 5.2. `_version_` holds the number of the current manifest;
when it is missing or unreadable, or names a manifest that is gone, the greatest number counts. Files are named
`<min>_<max>_<level>.parquet` after the requested times in them, so a question about one instant opens few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyhudi.codec.lsm_manifest import decode_manifest
from pyhudi.errors import CorruptTableError
from pyhudi.spec.table_config import TableConfig
from pyhudi.storage.protocol import Storage

VERSION_FILE = "_version_"

_MANIFEST = re.compile(r"manifest_(\d+)")
_FILE = re.compile(r"(\d+)_(\d+)_(\d)\.parquet")
_MAX_MANIFEST_BYTES = 64 << 20
_MAX_VERSION_BYTES = 32


class RowReader(Protocol):
    """Reads rows of a Parquet file; `pyhudi.kernels.history` gives one, since this floor knows no Parquet."""

    def __call__(self, storage: Storage, path: str, columns: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """Yield the rows of the file at `path` with these columns."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """One file of the archived timeline; `first` and `last` are the least and greatest requested times in it."""

    path: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """A completed instant as its row stands in the archive; `metadata` is the content of its completed file, `plan`
    that of its plan.
    """

    requested: str
    completed: str | None
    action: str
    metadata: bytes | None = None
    plan: bytes | None = None


def history_files(storage: Storage, config: TableConfig) -> tuple[HistoryFile, ...]:
    """Return the files of the current manifest; empty when nothing was ever archived.

    Raises:
        CorruptTableError: the manifest is unreadable or lists a file that is none of the archive.
    """
    numbers = sorted(_manifest_numbers(storage, config))
    if not numbers:
        return ()
    current = _current_number(storage, config)
    number = current if current in numbers else numbers[-1]
    path = f"{config.history_path}/manifest_{number}"
    names = decode_manifest(storage.read(path, max_bytes=_MAX_MANIFEST_BYTES))
    return tuple(_history_file(storage, config, path, name) for name in names)


def archived_rows(storage: Storage, config: TableConfig, rows: RowReader) -> Iterator[ArchivedRow]:
    """Yield the rows of all archived instants by requested time; one that a cut archival left in two files comes
    once.
    """
    columns = ("instantTime", "completionTime", "action", "metadata", "plan")
    found = {
        (row["instantTime"], row["action"]): ArchivedRow(*(row[column] for column in columns))
        for file in history_files(storage, config)
        for row in rows(storage, file.path, columns)
    }
    for key in sorted(found):
        yield found[key]


class CompletionTimes(Mapping[str, str]):
    """Completion times of archived instants by requested time, each file read when one of its instants is asked for.

    Example:
        >>> timeline = load_timeline(storage, config, CompletionTimes(storage, config, rows))  # doctest: +SKIP
    """

    def __init__(self, storage: Storage, config: TableConfig, rows: RowReader) -> None:
        """Answer from the archive on `storage`; nothing is read yet."""
        self._storage = storage
        self._config = config
        self._rows = rows
        self._files: tuple[HistoryFile, ...] | None = None
        self._read: dict[str, dict[str, str]] = {}

    def __getitem__(self, requested: str) -> str:
        """Return the completion time of an archived instant."""
        for file in self._all_files():
            if file.first <= requested <= file.last and requested in self._times_of(file):
                return self._times_of(file)[requested]
        raise KeyError(requested)

    def __iter__(self) -> Iterator[str]:
        """Yield the requested times of all archived instants."""
        return iter(dict.fromkeys(time for file in self._all_files() for time in self._times_of(file)))

    def __len__(self) -> int:
        """Return the number of archived instants."""
        return sum(1 for _ in self)

    def _all_files(self) -> tuple[HistoryFile, ...]:
        if self._files is None:
            self._files = history_files(self._storage, self._config)
        return self._files

    def _times_of(self, file: HistoryFile) -> dict[str, str]:
        if file.path not in self._read:
            rows = self._rows(self._storage, file.path, ("instantTime", "completionTime"))
            self._read[file.path] = {row["instantTime"]: row["completionTime"] for row in rows if row["completionTime"]}
        return self._read[file.path]


def _manifest_numbers(storage: Storage, config: TableConfig) -> Iterator[int]:
    for status in storage.list(config.history_path):
        match = _MANIFEST.fullmatch(status.name)
        if match is not None:
            yield int(match[1])


def _current_number(storage: Storage, config: TableConfig) -> int | None:
    try:
        text = storage.read(f"{config.history_path}/{VERSION_FILE}", max_bytes=_MAX_VERSION_BYTES).strip()
    except (FileNotFoundError, CorruptTableError):
        return None
    return int(text) if text.isdigit() else None


def _history_file(storage: Storage, config: TableConfig, manifest: str, name: str) -> HistoryFile:
    match = _FILE.fullmatch(name)
    if match is None:
        raise CorruptTableError(f"'{manifest}' of table {storage.uri} lists '{name}', which is no file of an archive")
    return HistoryFile(f"{config.history_path}/{name}", match[1], match[2])
