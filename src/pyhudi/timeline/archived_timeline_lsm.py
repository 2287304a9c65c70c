"""The archived timeline of layout 2: sorted Parquet files below `timeline/archived_timeline`, listed by numbered manifests.

Rules: `LSMTimeline`, `TimelineArchiverV2`; docs/format/timeline.md#history-of-layout-2. `_version_` holds the number of the current
manifest; when it is missing or unreadable, or names one that is missing, the greatest number counts, unless `_version_` names a greater
one: what is there does not know what was archived last. Files are named `<min>_<max>_<level>.parquet` after the requested
times in them, so a question about one instant opens few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pyhudi.codec.actions.lsm_manifest import ManifestEntry, decode_manifest
from pyhudi.errors import CorruptTableError
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage

VERSION_FILE = "_version_"

_MANIFEST = re.compile(r"manifest_(\d+)")
_FILE = re.compile(r"(\d+)_(\d+)_(\d)\.parquet")
_MAX_MANIFEST_BYTES = 64 << 20
_MAX_VERSION_BYTES = 32
_RESTORE = "without it nobody can tell what was archived. Restore it from a copy."


class RowReader(Protocol):
    """Reads rows of a Parquet file; `pyhudi.timeline_archive.full_timeline` gives one, since this layer knows no Parquet."""

    def __call__(self, storage: Storage, path: str, columns: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """Yield the rows of the file at `path` with these columns."""
        ...

    def greatest(self, storage: Storage, path: str, column: str) -> str | None:
        """Return the greatest text of a column by the footer of the file; None where the footer does not tell."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """One file of the archived timeline; `first` and `last` are the least and greatest requested times in it.

    Fresh files have level 0, those that were merged of files of one level the next one. `size` and `modified_ms` are those of the file.
    """

    path: str
    first: str
    last: str
    level: int = 0
    size: int = 0
    modified_ms: int = 0

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """A completed instant as its row is in the archive; `metadata` is the content of its completed file, `plan`
    that of its plan.
    """

    requested: str
    completed: str | None
    action: str
    metadata: bytes | None = None
    plan: bytes | None = None


def history_files(storage: Storage, config: TableConfig, listing: Sequence[FileStatus] | None = None) -> tuple[HistoryFile, ...]:
    """Return the files of the current manifest; empty when nothing was ever archived. `listing` is that of the archive's folder.

    Raises:
        CorruptTableError: the manifest is unreadable or lists a file that is none of the archive.
    """
    return current_manifest(storage, config, listing)[1]


def current_manifest(
    storage: Storage, config: TableConfig, listing: Sequence[FileStatus] | None = None
) -> tuple[int, tuple[HistoryFile, ...]]:
    """Return the number of the current manifest and the files that it lists; 0 when nothing was ever archived. Errors as above."""
    listing = storage.list(config.history_path) if listing is None else listing
    current = _current_number(storage, config) if listing else None
    if current is not None and current not in manifest_numbers(listing):
        listing = storage.list(config.history_path)  # it was written since
    numbers = sorted(manifest_numbers(listing))
    if current is not None and current > max(numbers, default=0):
        raise CorruptTableError(
            f"'{manifest_path(config, current)}' of the archive of table {storage.uri} is missing, which '{VERSION_FILE}' names: {_RESTORE}"
        )
    if not numbers:
        return 0, ()
    number = current if current in numbers else numbers[-1]
    return number, files_of_manifest(storage, config, number, listing)


def files_of_manifest(storage: Storage, config: TableConfig, number: int, listing: Iterable[FileStatus]) -> tuple[HistoryFile, ...]:
    """Return the files that a manifest lists, as they are in a listing of the archive's folder; errors as above."""
    path = manifest_path(config, number)
    try:
        entries = decode_manifest(storage.read(path, max_bytes=_MAX_MANIFEST_BYTES))
    except CorruptTableError as error:
        raise CorruptTableError(f"'{path}' of the archive of table {storage.uri}: {error}; {_RESTORE}") from error
    known = {status.path: status for status in listing}
    return tuple(_history_file(storage, config, path, entry, known) for entry in entries)


def check_nothing_archived(storage: Storage, config: TableConfig, listing: Iterable[FileStatus], first_active: str) -> None:
    """Check that an archive without manifests holds no instants of before the first active one: they would be forgotten.

    An archival that was cut off before its first manifest leaves a file whose instants are all active still.

    Raises:
        CorruptTableError: names the file.
    """
    last = last_archived(status.name for status in listing)
    if last is not None and last < first_active:
        raise CorruptTableError(
            f"'{config.history_path}' of table {storage.uri} holds instants up to {last} and has no manifest any more: {_RESTORE}"
        )


def manifest_path(config: TableConfig, number: int) -> str:
    """Return the path of a manifest."""
    return f"{config.history_path}/manifest_{number}"


def manifest_numbers(listing: Iterable[FileStatus]) -> Iterator[int]:
    """Yield the numbers of the manifests in a listing of the archive's folder."""
    for status in listing:
        match = _MANIFEST.fullmatch(status.name)
        if match is not None:
            yield int(match[1])


def is_history_file(name: str) -> bool:
    """Tell whether a file of the archive's folder holds instants."""
    return _FILE.fullmatch(name) is not None


def last_archived(names: Iterable[str]) -> str | None:
    """Return the greatest requested time that files of the archive's folder hold by their names; None when there are none.

    Files that no manifest lists yet count: their instants are all active still.
    """
    return max((match[2] for name in names if (match := _FILE.fullmatch(name))), default=None)


#: Columns of the files, in the order of the fields of `ArchivedRow`.
COLUMNS: Final = ("instantTime", "completionTime", "action", "metadata", "plan")


def archived_rows(storage: Storage, config: TableConfig, rows: RowReader, columns: Sequence[str] = COLUMNS) -> Iterator[ArchivedRow]:
    """Yield the rows of all archived instants by requested time; one that a cut archival left in two files comes
    once. `columns` are the first of `COLUMNS`, at least three.
    """
    rows_by_key = {
        (row["instantTime"], row["action"]): ArchivedRow(*(row[column] for column in columns))
        for file in history_files(storage, config)
        for row in rows(storage, file.path, columns)
    }
    for key in sorted(rows_by_key):
        yield rows_by_key[key]


def _current_number(storage: Storage, config: TableConfig) -> int | None:
    try:
        text = storage.read(f"{config.history_path}/{VERSION_FILE}", max_bytes=_MAX_VERSION_BYTES).strip()
    except (FileNotFoundError, CorruptTableError):
        return None
    return int(text) if text.isdigit() else None


def _history_file(
    storage: Storage, config: TableConfig, manifest: str, entry: ManifestEntry, known: Mapping[str, FileStatus]
) -> HistoryFile:
    match = _FILE.fullmatch(entry.name)
    if match is None:
        raise CorruptTableError(f"'{manifest}' of table {storage.uri} lists '{entry.name}', which is no file of an archive")
    path = f"{config.history_path}/{entry.name}"
    size, modified_ms = (known[path].size, known[path].modified_ms) if path in known else (entry.size, 0)
    if path not in known and storage.stat(path) is None:
        raise CorruptTableError(f"'{path}' of table {storage.uri}, which '{manifest}' lists, is missing; {_RESTORE}")
    if entry.size not in (0, size):
        raise CorruptTableError(f"'{path}' of table {storage.uri} has {size} bytes, '{manifest}' lists it with {entry.size}; {_RESTORE}")
    return HistoryFile(path, match[1], match[2], int(match[3]), size, modified_ms)
