"""The pure core of the file-system view: names in a partition and a timeline become file groups.

Rules: Hudi technical specification, "File slicing"; `AbstractTableFileSystemView`, `HoodieFileGroup`;
docs/format/data-files.md#file-system-view. Files of pending or failed actions are left out before logs look for their slice, so a failed
base file never takes the logs of a good one; a log written during a pending compaction then joins the slice before it, which is where a
reader needs it.

Upgrades and downgrades leave log files as they are. So in layout 2 there are logs that are named by their slice, as version 6 does
it, and in layout 1 logs that are named by their own instant.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from pyhudi.fsview.slice_list import ListedBase, SliceList, base_file
from pyhudi.spec.files.file_group import BaseFile, FileGroup, FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import LogFileName, file_and_instant, parse_log_file_name
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline


@dataclass(slots=True)
class PartitionFiles:
    """Committed base and log files of one partition, by file id; `changes` are the logs of changes, which no reader of rows merges."""

    base: dict[str, list[ListedBase]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[str, list[LogFile]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[str, list[LogFile]] = field(default_factory=lambda: defaultdict(list))

    def repeated_base_files(self) -> list[tuple[str, ListedBase]]:
        """Return base files that share their file id, which precedes each, and instant with another: attempts of one task."""
        result = []
        for file_id, files in self.base.items():
            if len(files) > 1 and len({file[1] for file in files}) < len(files):
                counts = Counter(instant for _, instant, _, _ in files)
                result += [(file_id, file) for file in files if counts[file[1]] > 1]
        return result

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by their names."""
        base = {name: size for files in self.base.values() for name, _, size, _ in files}
        return base | {str(file.name): file.size for files in self.logs.values() for file in files}


def committed_files(partition_path: str, listing: Iterable[FileStatus], timeline: Timeline) -> PartitionFiles:
    """Return the data files of a listing that the timeline makes visible; other names are not ours and are ignored."""
    result, is_committed, names_tell = PartitionFiles(), lru_cache(timeline.visibility.is_visible), timeline.layout > 1
    unseen: list[tuple[LogFileName, int]] = []
    unseen_bases: set[tuple[str, str]] = set()
    for status in listing:
        if status.is_dir:
            continue
        name = status.name
        base = file_and_instant(name)
        if base is not None:
            file_id, instant = base
            if is_committed(instant):
                result.base[file_id].append((name, instant, status.size, status.modified_ms))
            else:
                unseen_bases.add(base)
            continue
        log = parse_log_file_name(name)
        if log is None:
            continue
        if is_committed(log.instant) if names_tell or log.is_cdc else _log_may_count(log, timeline):
            logs = result.changes if log.is_cdc else result.logs
            logs[log.file_id].append(LogFile(partition_path, log, status.size))
        elif names_tell:
            unseen.append((log, status.size))
    for log, size in unseen:
        # Its blocks tell: the name is that of the slice which a compaction was going to make, before the table was upgraded.
        if (log.file_id, log.instant) in unseen_bases and not log.is_cdc:
            result.logs[log.file_id].append(LogFile(partition_path, log, size, is_shared=True))
    return result


def _log_may_count(log: LogFileName, timeline: Timeline) -> bool:
    """In layout 1 the name tells the slice, and each block its own instant, which is later than the slice's."""
    return timeline.until is None or log.instant <= timeline.until


def build_groups(
    partition_path: str, files: PartitionFiles, timeline: Timeline, replaced: Mapping[FileGroupId, str]
) -> tuple[FileGroup, ...]:
    """Return the file groups of a partition with their slices, newest first; `replaced` groups are left out.

    Two base files of one file id and instant must have been distinguished before; the last one given counts.
    """
    groups = []
    for file_id in sorted(files.base.keys() | files.logs.keys()):
        group_id = FileGroupId(partition_path, file_id)
        if group_id in replaced:
            continue
        slices = _slices(group_id, files.base.get(file_id, ()), files.logs.get(file_id, ()), timeline)
        if slices:
            groups.append(FileGroup(group_id, slices))
    return tuple(groups)


def latest_slices(partition_path: str, files: PartitionFiles, timeline: Timeline, replaced: Mapping[FileGroupId, str]) -> SliceList:
    """Return the newest slice of each file group that `build_groups` returns, in the same order."""
    file_ids: list[str] = []
    latest: list[ListedBase | FileSlice] = []
    for file_id in sorted((files.base.keys() | files.logs.keys()) - ids_of(replaced, partition_path)):
        base, logs = files.base.get(file_id, ()), files.logs.get(file_id, ())
        slices = _slices(FileGroupId(partition_path, file_id), base, logs, timeline) if logs else ()
        if slices or base:
            file_ids.append(file_id)
            latest.append(slices[0] if slices else max(base, key=itemgetter(1)))
    return SliceList([partition_path] * len(latest), file_ids, latest)


def latest_base_files(partition_path: str, files: PartitionFiles, replaced: Mapping[FileGroupId, str]) -> tuple[BaseFile, ...]:
    """Return the newest base file of each file group that has one."""
    file_ids = sorted(files.base.keys() - ids_of(replaced, partition_path))
    return tuple(base_file(partition_path, max(bases, key=itemgetter(1))) for file_id in file_ids if (bases := files.base[file_id]))


def ids_of(groups: Iterable[FileGroupId], partition_path: str) -> set[str]:
    """Return the ids of those file groups that are in a partition."""
    return {group.file_id for group in groups if group.partition_path == partition_path}


def _slices(group: FileGroupId, listed: Sequence[ListedBase], logs: Sequence[LogFile], timeline: Timeline) -> tuple[FileSlice, ...]:
    base_by_instant = {one[1]: base_file(group.partition_path, one) for one in listed}
    if not logs:
        return tuple(FileSlice(group, instant, base_by_instant[instant]) for instant in sorted(base_by_instant, reverse=True))
    logs_by_instant: dict[str, list[LogFile]] = {instant: [] for instant in base_by_instant}
    starts = sorted(base_by_instant)
    for log in sorted(logs, key=log_order):
        at = log.name.instant
        start = at if at in base_by_instant else _slice_start(at, starts, timeline)
        if start is None:
            continue
        if start not in logs_by_instant:
            bisect.insort(starts, start)
            logs_by_instant[start] = []
        logs_by_instant[start].append(log)
    return tuple(FileSlice(group, start, base_by_instant.get(start), tuple(logs_by_instant[start])) for start in reversed(starts))


def _slice_start(at: str, starts: list[str], timeline: Timeline) -> str | None:
    """Return the base instant of the slice that a log of instant `at` belongs to, `starts` being those of the slices so far.

    The slice of a base file of that very instant is the log's in both layouts: so are the logs named that an upgrade from version 6 left.
    """
    if timeline.layout == 1:
        return _start_by_name(at, starts, timeline)
    newest = bisect.bisect_right(starts, at)
    if newest < len(starts):
        # Only now does it matter when the log completed, which for an archived instant costs a look into the history.
        newest = bisect.bisect_right(starts, timeline.completion_time(at) or at)
    return starts[newest - 1] if newest else at


def _start_by_name(at: str, starts: list[str], timeline: Timeline) -> str | None:
    """Return the slice of a log of layout 1 that names no base file: the one before it, or one of its own that it begins.

    It names a pending or failed compaction, or is named by its own instant, which a table has that was downgraded. Without a slice before
    it belongs to records that began in log files; then it must be committed, or it is left of a write that failed to make the file group.
    """
    before = bisect.bisect_left(starts, at)
    if before:
        return starts[before - 1]
    return at if timeline.is_committed(at) else None


def log_order(log: LogFile) -> tuple[str, int, str]:
    """Return what the log files of a slice are sorted by: those of writes that began later apply later, whenever they completed."""
    return (log.name.instant, log.name.version, log.name.write_token or "")
