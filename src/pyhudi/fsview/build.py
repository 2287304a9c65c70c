"""The pure core of the file-system view: names in a partition and a timeline become file groups.

Rules: Hudi technical specification, "File slicing"; `AbstractTableFileSystemView`, `HoodieFileGroup`; format notes 8.
Files of pending or failed actions are left out before logs look for their slice, so a failed base file never takes
the logs of a good one; a log written during a pending compaction then joins the slice before it, which is where a
reader needs it.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyhudi.spec.file_group import BaseFile, FileGroup, FileGroupId, FileSlice, LogFile
from pyhudi.spec.file_names import parse_base_file_name, parse_log_file_name
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
    """Return the data files of a listing that the timeline makes visible; other names are not ours and are ignored."""
    found = PartitionFiles()
    for status in listing:
        if status.is_dir:
            continue
        base = parse_base_file_name(status.name)
        if base is not None:
            if timeline.is_committed(base.instant):
                file = BaseFile(partition_path, base, status.size, status.modified_ms)
                found.base[base.file_id].append(file)
            continue
        log = parse_log_file_name(status.name)
        if log is not None and (timeline.layout == 1 or timeline.is_committed(log.instant)):
            found.logs[log.file_id].append(LogFile(partition_path, log, status.size))
    return found


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


def _slices(group: FileGroupId, base_files: Iterable[BaseFile], logs: Iterable[LogFile], timeline: Timeline) -> tuple[FileSlice, ...]:
    base_by_instant = {file.name.instant: file for file in base_files}
    logs_by_instant: dict[str, list[LogFile]] = {instant: [] for instant in base_by_instant}
    starts = sorted(base_by_instant)
    for log in sorted(logs, key=_log_order):
        start = _slice_start(log, starts, timeline)
        if start not in logs_by_instant:
            bisect.insort(starts, start)
            logs_by_instant[start] = []
        logs_by_instant[start].append(log)
    return tuple(FileSlice(group, start, base_by_instant.get(start), tuple(logs_by_instant[start])) for start in reversed(starts))


def _slice_start(log: LogFile, starts: list[str], timeline: Timeline) -> str:
    """Return the base instant of the slice a log belongs to, `starts` being those of the slices so far.

    In layout 1 the name says it, and a name of a pending compaction means the slice before; in layout 2 it is the
    newest slice that began at or before the log was completed. A log without such a slice begins one.
    """
    at = log.name.instant
    if timeline.layout == 1:
        if at in starts or timeline.is_committed(at):
            return at
    else:
        at = timeline.completion_time(at) or at
    position = bisect.bisect_right(starts, at)
    return starts[position - 1] if position else log.name.instant


def _log_order(log: LogFile) -> tuple[str, int, str, bool]:
    return (log.name.instant, log.name.version, log.name.write_token or "", log.name.is_cdc)
