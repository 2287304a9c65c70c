"""Which files completed commits say that they wrote, and a view that holds a listing against them.

Rules: `HoodieWriteStat` (path, file size), "File slicing" of the Hudi technical specification. A listing alone cannot tell a file that was
lost from one that never was: the rows of a commit would be missing without a word. What a commit wrote is read once for the process,
since a completed commit never changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from pyhudi.cache import LruCache, cached_property
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_groups import PartitionFiles, ids_of
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.slice_list import SliceList
from pyhudi.spec.extra_metadata import LOG_CHECKSUM_KEY
from pyhudi.spec.files.file_group import BaseFile, join_path
from pyhudi.spec.files.file_names import file_and_instant, parse_log_file_name
from pyhudi.spec.instant import Instant
from pyhudi.spec.log_checksums import LogChecksum, noted_log_checksums
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import link_hint
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path, load_commit_metadata
from pyhudi.timeline.timeline import Timeline
from pyhudi.workers import workers

#: Of how many commits it is remembered what they wrote, and how many files in all.
_MOST_COMMITS, _MOST_FILES = 1024, 1 << 18
#: Instants of the metadata table that precede all commits (its builds) begin so; when one completed decides what came after it.
_BEFORE_ALL = "0" * 14


@dataclass(frozen=True, slots=True)
class StatedFile:
    """A file as its commit describes it: `instant` is the one in its name, `commit` and `completed` are the times of the commit."""

    name: str
    size: int
    instant: str
    commit: str
    completed: str
    is_log: bool


#: Files that are not as their commits state, with what is wrong.
_Differences: TypeAlias = list[tuple[StatedFile, str]]
#: Returns when a build of the metadata table completed, None where that is unknown.
_BuiltAt: TypeAlias = Callable[[Timeline, str], str | None]
#: The files of one partition by file group.
StatedFiles: TypeAlias = Mapping[str, list[StatedFile]]


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a commit, of each its partition path and file group, and the checksums that it noted of log files, by path."""

    files: tuple[tuple[str, str, StatedFile], ...]
    checksums: Mapping[str, LogChecksum]


def stated_files(storage: Storage, config: TableConfig, timeline: Timeline) -> dict[str, StatedFiles]:
    """Return the files that the completed commits of the active timeline wrote, by partition and file group.

    Raises:
        CorruptTableError: a commit is unreadable.
    """
    by_group: dict[str, dict[str, list[StatedFile]]] = defaultdict(lambda: defaultdict(list))
    for written in written_by(storage, config, timeline, timeline.data_instants()):
        for path, file_id, file in written.files:
            by_group[path][file_id].append(file)
    return dict(by_group)


class CheckedView(FileSystemView):
    """A view by listing whose newest slices must hold all that completed commits wrote to them, with the sizes that they state."""

    def _latest_of(self, partition_path: str, files: PartitionFiles) -> SliceList:
        self._check(partition_path, files)
        return super()._latest_of(partition_path, files)

    def latest_base_files(self, partition_path: str) -> tuple[BaseFile, ...]:
        """Return the newest base file of each file group that has one; see the parent."""
        self._check(partition_path, self._newest(partition_path), logs=False)
        return super().latest_base_files(partition_path)

    def _check(self, partition_path: str, files: PartitionFiles, *, logs: bool = True) -> None:
        for file, problem in self.differences(partition_path, files):
            if logs or not file.is_log:
                path = join_path(partition_path, file.name)
                hint = link_hint(self.storage, path)
                raise CorruptTableError(f"'{path}' of table {self.storage.uri} {problem}{self._in(file)}{hint}")

    def _in(self, file: StatedFile) -> str:
        """Return which file on the timeline states it, which may be the damaged one."""
        commits = (one for one in self.timeline.find(file.commit) if one.is_completed and one.action.writes_data)
        return next((f" (in '{instant_path(self.config, one)}')" for one in commits), "")

    def differences(self, partition_path: str, files: PartitionFiles) -> Iterator[tuple[StatedFile, str]]:
        """Yield the files of the newest slices of a partition that are not as their commits state, with what is wrong."""
        left_out = ids_of(self.replaced, partition_path)
        for file_id, stated in self._stated.get(partition_path, {}).items():
            if file_id not in left_out:
                yield from differences(files, file_id, stated, self.timeline)

    def _find_partition_paths(self) -> tuple[str, ...]:
        """Return the partitions that are there, and those that must be."""
        partition_paths = super()._find_partition_paths()
        return tuple(sorted((*partition_paths, *self.lost_partitions(partition_paths))))

    def lost_partitions(self, partition_paths: Collection[str]) -> tuple[str, ...]:
        """Return the partitions that must be there by what commits state, and are not among these, sorted."""
        absent = self._stated.keys() - set(partition_paths) if self.config.partition_fields else ()
        return tuple(sorted(path for path in absent if any(True for _ in self.differences(path, PartitionFiles()))))

    @cached_property
    def _stated(self) -> Mapping[str, StatedFiles]:
        return stated_files(self.storage, self.config, self.timeline)


def differences(files: PartitionFiles, file_id: str, stated: Sequence[StatedFile], timeline: Timeline) -> Iterator[tuple[StatedFile, str]]:
    """Yield the files of a file group's newest slice that are not as their commits state, with what is wrong.

    Args:
        files: the committed files of the partition by listing.
        file_id: the file group.
        stated: what commits say that they wrote to it.
        timeline: of the table, or as of a time.
    """
    different = _differences(files, file_id, stated, timeline, _built_at)
    if different:  # the completion of an archived build is looked up where it matters alone
        different = _differences(files, file_id, stated, timeline, Timeline.completion_time)
    return iter(different)


def _differences(files: PartitionFiles, file_id: str, stated: Sequence[StatedFile], timeline: Timeline, built_at: _BuiltAt) -> _Differences:
    base = {name: (instant, size) for name, instant, size, _ in files.base.get(file_id, ())}
    logs = files.logs.get(file_id, ())
    listed = {name: size for name, (_, size) in base.items()} | {str(log.name): log.size for log in logs}
    floor = _floor(
        timeline,
        (*(instant for instant, _ in base.values()), *(log.name.instant for log in logs), *(one.instant for one in stated)),
        built_at,
    )
    stated = [one for one in stated if one.completed > floor or one.instant.startswith(_BEFORE_ALL)]
    instants = {instant for instant, _ in base.values()} | {one.instant for one in stated if not one.is_log}
    start = max(instants, default="")
    longest: dict[str, StatedFile] = {}
    for one in stated:
        is_needed = _is_of_slice(one, start, instants, timeline.layout) if one.is_log else one.instant == start
        if is_needed and (one.name not in longest or longest[one.name].size < one.size):
            longest[one.name] = one
    problems = ((one, length_problem(one, listed.get(name), timeline.layout)) for name, one in longest.items())
    return [(one, problem) for one, problem in problems if problem is not None]


def _built_at(timeline: Timeline, build: str) -> str | None:
    """Return when a build of the active timeline completed."""
    return max((one.completed or "" for one in timeline.find(build)), default=None)


def _floor(timeline: Timeline, instants: Iterable[str], built_at: _BuiltAt) -> str:
    """Return when the file group was built last, `""` where that does not matter.

    A build of the metadata table has an instant from before all commits. What commits wrote before it completed was deleted before it.
    """
    builds = {instant for instant in instants if instant.startswith(_BEFORE_ALL)}
    return max((built_at(timeline, build) or "" for build in builds), default="")


def _is_of_slice(log: StatedFile, start: str, instants: Collection[str], layout: int) -> bool:
    """Tell whether a log file belongs to the slice that begins at `start`, the newest of a group with base files of these instants."""
    return (log.instant if layout == 1 or log.instant in instants else log.completed) >= start


def length_problem(stated: StatedFile, size: int | None, layout: int) -> str | None:
    """Return what is wrong with a file. In layout 1 others may append to a log file, or die while they do, so that it may be longer."""
    if size == stated.size or (size is not None and size > stated.size and stated.is_log and layout == 1):
        return None
    problem = "is missing" if size is None else f"has {size} bytes"
    return f"{problem}: commit {stated.commit} wrote it with {stated.size} bytes"


def written_by(storage: Storage, config: TableConfig, timeline: Timeline, instants: Iterable[Instant]) -> list[Written]:
    """Return what each of some completed commits wrote; several that are not known yet are read side by side.

    Raises:
        CorruptTableError: a commit is unreadable.
    """
    table, times = storage.uri, timeline.completion
    instants = tuple(instants)
    keys = [(table, one.requested, one.completed or times.get(one.requested) or "") for one in instants]
    matches = _known.get_all(keys)
    unknown = [(key, instant) for key, instant in zip(keys, instants, strict=True) if key not in matches]
    first, rest = unknown[:1], () if workers().is_one else unknown[1:]
    begun = [workers().begin(partial(_read, storage, config, timeline, one)) for _, one in rest]
    read = [_read(storage, config, timeline, one) for _, one in (first if rest else unknown)] + [end() for end in begun]
    for (key, _), written in zip(unknown, read, strict=True):
        matches[key] = written
        _known.put(key, written)
    return [matches[key] for key in keys]


def _read(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> Written:
    try:
        metadata = load_commit_metadata(storage, config, timeline, instant)
    except FileNotFoundError:
        return Written((), {})  # archived or restored since the timeline was read: nothing is known of it
    completed = timeline.completion_time(instant.requested) or instant.requested
    try:
        checksums = noted_log_checksums(metadata.extra_metadata.get(LOG_CHECKSUM_KEY))
    except CorruptTableError as error:
        raise CorruptTableError(f"file '{instant_path(config, instant)}' of table {storage.uri}: {error}") from error
    written = []
    for stat in metadata.all_stats():
        for file, size in stat.files.items():
            path, _, name = file.rpartition("/")
            if (base := file_and_instant(name)) is not None:
                written.append((path, base[0], StatedFile(name, size, base[1], instant.requested, completed, is_log=False)))
            elif (log := parse_log_file_name(name)) is not None and not log.suffix:
                written.append((path, log.file_id, StatedFile(name, size, log.instant, instant.requested, completed, is_log=True)))
    return Written(tuple(written), checksums)


#: What was read of commits, by table, requested time, and the time of their completion.
#: A commit of very many files has the cache for itself.
_Key: TypeAlias = tuple[str, str, str]
_known: LruCache[_Key, Written] = LruCache(_MOST_FILES, lambda written: min(len(written.files), _MOST_FILES), _MOST_COMMITS)
