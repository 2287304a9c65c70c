"""Which files of a partition no reader needs any more: pure rules on file slices.

Rules: `CleanPlanner.getFilesToCleanKeepingLatestCommits`, `.getFilesToCleanKeepingLatestVersions`; docs/format/services.md. Apache Hudi
goes by requested times alone; a compaction that was requested early and completed late then takes files away which readers of the time in
between need. Here a slice gives way to a newer one only when that one was complete at the earliest time that is retained.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pyhudi.fsview.file_groups import PartitionFiles, build_groups
from pyhudi.fsview.slice_list import ListedBase
from pyhudi.spec.files.file_group import FileSlice, LogFile
from pyhudi.timeline.timeline import Timeline

_File = TypeVar("_File")


@dataclass(frozen=True, slots=True)
class Retention:
    """What stays.

    Attributes:
        timeline: the table's.
        earliest: requested time of the earliest commit whose state stays readable; None when slices are counted.
        versions: file slices that stay of each file group where there is no earliest commit.
        pending: the base instant of the slice that a pending compaction or log compaction reads, by partition path and file id.
        is_late: whether an instant before the earliest one may have completed after it.
    """

    timeline: Timeline
    earliest: str | None
    versions: int = 1
    pending: Mapping[tuple[str, str], str] = field(default_factory=dict)
    is_late: bool = False

    def was_visible(self, requested: str) -> bool:
        """Tell whether a reader of the earliest retained state saw what an instant wrote."""
        if self.earliest is None or requested >= self.earliest:
            return False
        if not self.is_late:
            return True
        completed = self.timeline.completion_time(requested) or requested
        return completed <= self.timeline.effective_time(self.earliest)


def retention(timeline: Timeline, earliest: str | None, versions: int, pending: Mapping[tuple[str, str], str]) -> Retention:
    """Return what stays, with the question answered once whether instants completed out of order."""
    is_late = (
        earliest is not None
        and timeline.layout > 1
        and timeline.completed_at_or_after("", earliest, f"{timeline.effective_time(earliest)}0")
    )
    return Retention(timeline, earliest, versions, pending, is_late)


def obsolete_files(
    partition_path: str, files: PartitionFiles, replaced: Mapping[str, str], protected: Collection[str], rule: Retention
) -> dict[str, int]:
    """Return the names of the files to delete with their sizes.

    Args:
        partition_path: the partition.
        files: its committed files.
        replaced: the requested time of the action that replaced a file group, by file id.
        protected: names of files that savepoints retain; a slice with one of them stays whole.
        rule: what else stays.
    """
    several = {file_id for file_id, bases in files.base.items() if len(bases) > 1} | {*files.logs} | (replaced.keys() & files.base.keys())
    if not several:
        return {}
    result: dict[str, int] = {}
    if rule.earliest is not None:
        plain = several - files.logs.keys() - files.changes.keys() - replaced.keys()
        plain = {file_id for file_id in plain if (partition_path, file_id) not in rule.pending}
        result |= _older_bases((files.base[file_id] for file_id in plain), protected, rule)
        several -= plain
    some = PartitionFiles(_of(files.base, several), _of(files.logs, several))
    for group in build_groups(partition_path, some, rule.timeline, {}):
        file_id = group.id.file_id
        changes = files.changes.get(file_id, ())
        for file_slice in _obsolete(group.slices, replaced.get(file_id), rule):
            names = _names(file_slice, _changes_of(file_slice, group.slices, changes))
            if names.keys().isdisjoint(protected):
                result |= names
    return result


def _older_bases(groups: Iterable[Sequence[ListedBase]], protected: Collection[str], rule: Retention) -> dict[str, int]:
    """Return the same of file groups of base files alone, as most are: each file is a slice, and none of them need be made."""
    was_visible = functools.lru_cache(rule.was_visible)
    result: dict[str, int] = {}
    for bases in groups:
        by_instant = {base[1]: base for base in bases}
        instants = sorted(by_instant, reverse=True)
        read = next((index for index, instant in enumerate(instants) if was_visible(instant)), len(instants))
        for instant in instants[read + 1 :]:
            name, _, size, _ = by_instant[instant]
            if name not in protected:
                result[name] = size
    return result


def _obsolete(slices: Sequence[FileSlice], replaced: str | None, rule: Retention) -> Iterator[FileSlice]:
    """Yield the slices of a file group, newest first, that give way."""
    if replaced is not None:
        if rule.earliest is None or rule.was_visible(replaced):
            yield from slices
        return
    group = slices[0].group
    compacted = rule.pending.get((group.partition_path, group.file_id))
    candidates = _older(slices, rule) if rule.earliest is not None else _surplus(slices, rule.versions, compacted)
    yield from (one for one in candidates if compacted is None or one.base_instant < compacted)


def _older(slices: Sequence[FileSlice], rule: Retention) -> Sequence[FileSlice]:
    """Return the slices before the one that a reader of the earliest retained state reads."""
    read = next((index for index, one in enumerate(slices) if rule.was_visible(one.base_instant)), len(slices))
    return slices[read + 1 :]


def _surplus(slices: Sequence[FileSlice], versions: int, compacted: str | None) -> Sequence[FileSlice]:
    """Return the slices after the newest few; the one that a pending compaction is going to make counts."""
    if compacted is None:
        return slices[versions:]
    return [one for one in slices if one.base_instant < compacted][max(versions - 1, 0) :]


def _names(file_slice: FileSlice, changes: Sequence[LogFile]) -> dict[str, int]:
    names = {} if file_slice.base is None else {str(file_slice.base.name): file_slice.base.size}
    return names | {str(log.name): log.size for log in (*file_slice.logs, *changes)}


def _changes_of(file_slice: FileSlice, slices: Sequence[FileSlice], changes: Sequence[LogFile]) -> list[LogFile]:
    """Return the logs of changes that were written with a slice."""
    newer = min((one.base_instant for one in slices if one.base_instant > file_slice.base_instant), default=None)
    first = file_slice is slices[-1]
    return [
        log for log in changes if (first or log.name.instant >= file_slice.base_instant) and (newer is None or log.name.instant < newer)
    ]


def _of(files: Mapping[str, list[_File]], file_ids: Collection[str]) -> dict[str, list[_File]]:
    return {file_id: files[file_id] for file_id in files.keys() & file_ids}
