"""Which files of a partition can belong to the newest slices of its file groups: a writer asks for nothing else, with each commit.

Names say that much. They are sorted by file group and instant once, and what a process has sorted it keeps. The next time only names that
came or went since are looked at, so that a commit does not grow with the versions of its files. What is kept answers for nothing: it is
brought in line with the names and sizes of now, whoever changed them, before it is used.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyhudi.cache import LruCache
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import file_and_instant, parse_log_file_name
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline

#: Of how many partitions names are kept, and how many names in all.
_MOST_PARTITIONS, _MOST_NAMES = 256, 1 << 16


@dataclass(frozen=True, slots=True)
class _Group:
    """Names of the base files and of the log files of one file group, each with its instant, sorted."""

    base: tuple[tuple[str, str], ...] = ()
    logs: tuple[tuple[str, str], ...] = ()

    def candidates(self, timeline: Timeline) -> Iterator[str]:
        """Yield the names that can belong to the newest slice."""
        is_visible = timeline.visibility.is_visible
        start = next((instant for instant, _ in reversed(self.base) if is_visible(instant)), "")
        since = bisect.bisect_left(self.logs, (start, ""))
        if since and timeline.layout > 1 and timeline.completed_at_or_after(self.logs[0][0], self.logs[since - 1][0], start):
            start, since = "", 0  # when each of the logs was completed decides on its slice
        yield from (name for _, name in self.base[bisect.bisect_left(self.base, (start, "")) :])
        yield from (name for _, name in self.logs[since:])


@dataclass(frozen=True, slots=True)
class SortedNames:
    """The data files of one partition by file group; `sizes` are those of all of its files, in bytes by name."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, _Group] = field(default_factory=dict)

    def with_sizes(self, sizes: Mapping[str, int]) -> SortedNames:
        """Return the same of other files; only names that are not in both are looked at.

        Raises:
            UnsupportedError: a name is that of a log file of table version 10.
        """
        removed, come = self.sizes.keys() - sizes.keys(), sizes.keys() - self.sizes.keys()
        if not removed and not come:
            return SortedNames(sizes, self.groups)
        touched = _parse_names(removed).keys() | (added := _parse_names(come)).keys()
        groups = dict(self.groups)
        for file_id in touched:
            known, new = groups.pop(file_id, _Group()), added.get(file_id, _Group())
            group = _Group(_merge_names(known.base, new.base, removed), _merge_names(known.logs, new.logs, removed))
            if group.base or group.logs:
                groups[file_id] = group
        return SortedNames(sizes, groups)

    def newest(self, partition_path: str, timeline: Timeline, file_ids: Collection[str] | None = None) -> list[FileStatus]:
        """Return the files that can belong to the newest slice of a file group, of these or of all; among them are all that do."""
        groups = self.groups.values() if file_ids is None else [self.groups[one] for one in file_ids if one in self.groups]
        names = (name for group in groups for name in group.candidates(timeline))
        return [FileStatus(join_path(partition_path, name), self.sizes[name], 0) for name in names]


def newest_files(
    uri: str, partition_path: str, sizes: Mapping[str, int], timeline: Timeline, file_ids: Collection[str] | None = None
) -> list[FileStatus]:
    """Return those files of a partition that can belong to the newest slices as a timeline shows them.

    Args:
        uri: that of the table.
        partition_path: the partition.
        sizes: the sizes of all of its files in bytes by name.
        timeline: what it shows counts.
        file_ids: the file groups that are asked for, as far as they are there; all when None.

    Raises:
        UnsupportedError: a name is that of a log file of table version 10.
    """
    key = (uri, partition_path)
    names = (_names_cache.get(key) or SortedNames()).with_sizes(sizes)
    _names_cache.put(key, names)
    return names.newest(partition_path, timeline, file_ids)


#: What was sorted for the partitions of tables.
_names_cache: LruCache[tuple[str, str], SortedNames] = LruCache(_MOST_NAMES, lambda one: len(one.sizes), _MOST_PARTITIONS)


def _parse_names(names: Iterable[str]) -> dict[str, _Group]:
    base: dict[str, list[tuple[str, str]]] = {}
    logs: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        if (parsed := file_and_instant(name)) is not None:
            base.setdefault(parsed[0], []).append((parsed[1], name))
        elif (log := parse_log_file_name(name)) is not None and not log.suffix:
            logs.setdefault(log.file_id, []).append((log.instant, name))
    return {file_id: _Group(tuple(base.get(file_id, ())), tuple(logs.get(file_id, ()))) for file_id in base.keys() | logs.keys()}


def _merge_names(known: tuple[tuple[str, str], ...], new: tuple[tuple[str, str], ...], removed: set[str]) -> tuple[tuple[str, str], ...]:
    """Return the names of a group as they are now."""
    left = tuple(one for one in known if one[1] not in removed) if removed else known
    return tuple(sorted((*left, *new))) if new else left
