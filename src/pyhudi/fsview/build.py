"""The pure core of the file-system view: names in a partition and a timeline become file groups.

Rules: Hudi technical specification, "File slicing"; `AbstractTableFileSystemView`, `HoodieFileGroup`; format notes 8.
Files of pending or failed actions are left out before logs look for their slice, so a failed base file never takes
the logs of a good one; a log written during a pending compaction then joins the slice before it, which is where a
reader needs it.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyhudi.spec.file_group import BaseFile, FileGroup, FileGroupId, FileSlice, LogFile
from pyhudi.spec.file_names import LogFileName, parse_base_file_name, parse_log_file_name
from pyhudi.storage.protocol import FileStatus
from pyhudi.timeline.timeline import Timeline


@dataclass(slots=True)
class PartitionFiles:
    """Committed base and log files of one partition, by file id."""

    base: dict[str, list[BaseFile]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[str, list[LogFile]] = field(default_factory=lambda: defaultdict(list))

    def repeated_base_files(self) -> list[BaseFile]:
        """Return base files that share their file id and instant with another: attempts of one task."""
        found = []
        for files in self.base.values():
            instants = [file.name.instant for file in files]
            if len(set(instants)) < len(instants):
                found += [file for file in files if instants.count(file.name.instant) > 1]
        return found

    def drop(self, file: BaseFile) -> None:
        """Leave a base file out."""
        self.base[file.name.file_id].remove(file)


def committed_files(partition_path: str, listing: Iterable[FileStatus], timeline: Timeline) -> PartitionFiles:
    """Return the data files of a listing that the timeline makes visible; other names are not ours and are ignored.

    Logs of changes are left out: no reader of rows merges them.
    """
    found, is_committed, names_tell = PartitionFiles(), timeline.visibility.shows, timeline.layout > 1
    for status in listing:
        if status.is_dir:
            continue
        name = status.name
        base = parse_base_file_name(name)
        if base is not None:
            if is_committed(base.instant):
                file = BaseFile(partition_path, base, status.size, status.modified_ms)
                found.base[base.file_id].append(file)
            continue
        log = parse_log_file_name(name)
        if log is not None and not log.suffix and (is_committed(log.instant) if names_tell else _log_may_count(log, timeline)):
            found.logs[log.file_id].append(LogFile(partition_path, log, status.size))
    return found


def _log_may_count(log: LogFileName, timeline: Timeline) -> bool:
    """In layout 1 the name tells the slice, and each block its own instant, which is later than the slice's."""
    return timeline.until is None or log.instant <= timeline.until


def build_groups(
    partition_path: str, files: PartitionFiles, timeline: Timeline, replaced: Mapping[FileGroupId, str]
) -> tuple[FileGroup, ...]:
    """Return the file groups of a partition with their slices, newest first; `replaced` groups are left out.

    Two base files of one file id and instant must have been told apart before; the last one given counts.
    """
    groups = []
    for file_id in sorted(files.base.keys() | files.logs.keys()):
        group_id = FileGroupId(partition_path, file_id)
        if group_id in replaced:
            continue
        slices = _slices(group_id, files.base.get(file_id, []), files.logs.get(file_id, []), timeline)
        if slices:
            groups.append(FileGroup(group_id, slices))
    return tuple(groups)


def _slices(group: FileGroupId, base_files: Sequence[BaseFile], logs: Sequence[LogFile], timeline: Timeline) -> tuple[FileSlice, ...]:
    if len(base_files) == 1 and not logs:  # nearly all file groups of large tables
        return (FileSlice(group, base_files[0].name.instant, base_files[0]),)
    base_by_instant = {file.name.instant: file for file in base_files}
    if not logs:
        return tuple(FileSlice(group, instant, base_by_instant[instant]) for instant in sorted(base_by_instant, reverse=True))
    logs_by_instant: dict[str, list[LogFile]] = {instant: [] for instant in base_by_instant}
    starts = sorted(base_by_instant)
    for log in sorted(logs, key=_log_order):
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
    """In layout 1 a log begins the slice it names when that is committed, and belongs to the slice before when it names a pending
    compaction. Without a slice before, it is left of a write that failed to make the file group.
    """
    if timeline.is_committed(at):
        return at
    before = bisect.bisect_left(starts, at)
    return starts[before - 1] if before else None


def _log_order(log: LogFile) -> tuple[str, int, str]:
    return (log.name.instant, log.name.version, log.name.write_token or "")
