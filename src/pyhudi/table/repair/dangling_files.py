"""Data files that no commit names: those of instants that no timeline has, and those that the commit of their instant does not name.

Rules: `HoodieRepairTool`, `RepairUtils`. Tasks that outlive their write leave such files, and rollbacks that could not delete them;
once later commits are archived, readers take them for committed. Other than there

- files of pending instants are left to the rollback of these, and log files to their slices where the table was ever of version 6, in which
  they are named by these;
- a file that readers see counts as one of no instant only if the archive tells: it is whole, and reaches back to the time of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.spec.files.file_names import file_and_instant, parse_log_file_name
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.copied_files import copy_file
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.table.repair.folder_outside import folder_outside
from pyhudi.table.repair.repair_result import DanglingFilesRepair
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows
from pyhudi.txn.locked_table import LockedTable

_PURPOSE: Final = "copies of dangling files"
#: From this version on a log file is named by the instant that wrote it.
_NAMED_BY_WRITER: Final = 8


@dataclass(frozen=True, slots=True)
class InstantRange:
    """Requested times, both ends included; a shorter text stands for all times that begin with it."""

    start: str | None = None
    end: str | None = None

    def __post_init__(self) -> None:
        """Raises:
        UsageError: a bound is no time, or the start is after the end.
        """
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None and not (value.isascii() and value.isdigit()):
                raise UsageError(f"the {name} of the instants is '{value}': give the time of an instant, as 20260131093000000")
        if self.start is not None and self.end is not None and self.end < self.start[: len(self.end)]:
            raise UsageError(f"the instants start at {self.start}, after their end {self.end}")

    def holds(self, requested: str) -> bool:
        """Tell whether a requested time is in the range."""
        return (self.start is None or requested >= self.start) and (self.end is None or requested[: len(self.end)] <= self.end)


def remove_dangling_files(table: LockedTable, chosen: InstantRange, backup: str, *, dry_run: bool) -> DanglingFilesRepair:
    """Copy the files to a folder and delete them; see `DanglingFileServices.remove_dangling_files`."""
    storage = table.storage
    target = folder_outside(storage, backup, _PURPOSE)
    files = sorted(find_dangling_files(storage, table.config, chosen), key=lambda file: file.path)
    if not files:
        return DanglingFilesRepair("nothing to do", (), 0, None)
    if not dry_run:
        for file in files:
            copy_file(storage, target, file)
        for file in files:
            storage.delete(file.path)
    size = sum(file.size for file in files)
    return DanglingFilesRepair("planned" if dry_run else "completed", tuple(file.path for file in files), size, target.uri)


def restore_dangling_files(table: LockedTable, backup: str, *, dry_run: bool) -> DanglingFilesRepair:
    """Copy files that were removed to where they were; see `DanglingFileServices.restore_dangling_files`."""
    source = folder_outside(table.storage, backup, _PURPOSE, is_new=False)
    files = sorted(_below(source, ""), key=lambda file: file.path)
    if not files:
        raise UsageError(f"the folder for {_PURPOSE}, {source.uri}, holds no file: name the one that the repair named")
    missing = [file for file in files if table.storage.stat(file.path) is None]
    if not missing:
        return DanglingFilesRepair("nothing to do", (), 0, None)
    if not dry_run:
        for file in missing:
            copy_file(source, table.storage, file)
    size = sum(file.size for file in missing)
    return DanglingFilesRepair("planned" if dry_run else "restored", tuple(file.path for file in missing), size, source.uri)


def find_dangling_files(storage: Storage, config: TableConfig, chosen: InstantRange) -> Iterator[FileStatus]:
    """Yield the files; those of writers that begin meanwhile are none, since the timeline is read after the folders.

    Raises:
        CorruptTableError: the archive has a gap, so that it does not tell which instants there were.
    """
    folders = (listing for _, listing in walk_partitions(storage)) if config.partition_fields else (storage.list(""),)
    written = ((file, _instant_of(file.name, config)) for listing in folders for file in listing if not file.is_dir)
    files = [(file, instant) for file, instant in written if instant is not None and chosen.holds(instant)]
    timeline = load_full_timeline(storage, config)
    known = frozenset(one.requested for one in timeline.with_archived().instants)
    named_by = _named_files(storage, config, timeline, known.intersection(instant for _, instant in files))
    archive_begin = _begin_of_archive(timeline)
    for file, instant in files:
        if instant in known:
            # A pending instant names no file yet, and a log file may be named by its slice.
            named = named_by.get(instant, frozenset())
            is_dangling = bool(named) and file.path not in named and file_and_instant(file.name) is not None
        else:
            is_dangling = not timeline.visibility.is_visible(instant) or (archive_begin is not None and instant >= archive_begin)
        if is_dangling:
            yield file


def _instant_of(name: str, config: TableConfig) -> str | None:
    """Return the time of the instant that wrote a file; None where its name does not tell."""
    base = file_and_instant(name)
    if base is not None:
        return base[1]
    log = parse_log_file_name(name) if (config.initial_version or 0) >= _NAMED_BY_WRITER else None
    return None if log is None else log.instant


def _begin_of_archive(timeline: Timeline) -> str | None:
    """Return the requested time from which on the archive holds every instant; None where it does not tell."""
    archive = timeline.archive
    return min((one.requested for one in archive.instants()), default=None) if archive is not None and archive.is_whole else None


def _named_files(storage: Storage, config: TableConfig, timeline: Timeline, requested_times: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the files that the completed commits of some requested times name. The archive is read once, and not at all in layout 1."""
    active = (one for one in timeline.completed() if one.requested in requested_times and one.action.writes_data)
    commits = {one.requested: load_commit_metadata(storage, config, timeline, one) for one in active}
    if config.layout > 1:
        archived = archived_instants(storage, config, read_rows)
        commits |= {
            one.instant.requested: one.metadata for one in archived if one.metadata is not None and one.instant.requested in requested_times
        }
    return {requested: frozenset(path for stat in commit.all_stats() for path in stat.files) for requested, commit in commits.items()}


def _below(storage: Storage, folder: str) -> Iterator[FileStatus]:
    for status in storage.list(folder):
        if status.is_dir:
            yield from _below(storage, status.path)
        else:
            yield status
