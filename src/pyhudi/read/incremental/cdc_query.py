"""Change data of a span: for each commit and file group of it, which slices and logs tell what changed.

Rules: `HoodieCDCExtractor`; docs/format/cdc.md#how-changes-are-derived, docs/design/0081-change-data-and-streams.md. A commit's statistics
say which file groups it wrote and which it replaced; compaction, log compaction and clustering change no record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa

from pyhudi.cache import cached_property
from pyhudi.errors import OptionError, UsageError
from pyhudi.fsview.slice_history import SlicesOverTime
from pyhudi.kernels.cdc.change_rows import CHANGE_SCHEMA, ChangeTask, iter_changes
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.read.incremental.incremental import ChangedRows, ChangesQuery, Written
from pyhudi.read.incremental.instant_range import InstantRange, instant_range_of
from pyhudi.read.snapshot.prefetch import side_by_side
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.files.file_group import FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.cdc_mode import LoggingMode, logging_mode
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_readable
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.moved_timeline import reread_when_moved
from pyhudi.timeline.timeline import Timeline

#: Operations that move records and change none.
_MOVES: Final = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER"})
#: In tables born with this version or a later one the names of log files tell what counts, and tasks need not carry the timeline.
_NAMES_TELL: Final = 8


@dataclass(frozen=True)
class ChangeData:
    """The change data of a span, ready to be read."""

    instant_range: InstantRange
    mode: LoggingMode
    snapshot: Snapshot

    @cached_property
    def tasks(self) -> tuple[ChangeTask, ...]:
        """What to read, in the order of the commits; partitions that the span wrote are listed.

        Raises:
            UsageError: files that the images need were cleaned away.
        """
        return tuple(task for instant in self.instant_range.instants for task in self._tasks_of(instant))

    def batches(self, tasks: Sequence[ChangeTask] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the changes: `op`, `ts_ms`, `before`, `after`."""
        storage, context = self.instant_range.storage, self.snapshot.context
        return side_by_side([partial(iter_changes, storage, context, task) for task in (self.tasks if tasks is None else tasks)], ahead=1)

    def to_arrow(self) -> pa.Table:
        """Return the changes as a table."""
        return pa.Table.from_batches(list(self.batches()), schema=CHANGE_SCHEMA)

    @cached_property
    def _slices(self) -> SlicesOverTime:
        return SlicesOverTime(self.instant_range.storage, self.instant_range.config)

    def _tasks_of(self, instant: Instant) -> Iterator[ChangeTask]:
        metadata = load_commit_metadata(self.instant_range.storage, self.instant_range.config, self.instant_range.end, instant)
        if metadata.operation in _MOVES:
            return
        before, after = self.instant_range.end.before(instant), self.instant_range.end.through(instant)
        for group in _replaced_groups(metadata):
            file_slice = self._slices.at(group, before)
            if file_slice is None and not self._slices.files(group):
                raise self._cleaned(instant, f"of the replaced file group {group.file_id}")
            if file_slice is not None:
                yield ChangeTask(instant.requested, self._task(file_slice, before), None)
        for group, stats in _written_files(metadata).items():
            yield self._task_of(instant, group, stats, before, after)

    def _task_of(self, instant: Instant, group: FileGroupId, stats: Sequence[WriteStat], before: Timeline, after: Timeline) -> ChangeTask:
        """Return how the changes of a commit to one file group are found."""
        base = next((stat for stat in stats if _name(stat).endswith(".parquet")), None)
        if base is not None and base.cdc_stats and self.mode is not LoggingMode.OP_KEY_ONLY:
            logs = tuple(self._log(instant, group, path) for path in sorted(base.cdc_stats))
            now = None if self.mode is LoggingMode.DATA_BEFORE_AFTER else self._task(self._present(instant, group, after, stats), after)
            return ChangeTask(instant.requested, None, now, logs)
        now = self._task(self._present(instant, group, after, stats), after)
        was = self._slices.at(group, before)
        needed = base is not None and base.prev_commit not in (None, "", "null")
        if base is not None and needed and not _is_slice(was, base):
            raise self._cleaned(instant, f"that commit {base.prev_commit} wrote ({base.prev_base_file or group.file_id})")
        return ChangeTask(instant.requested, None if was is None else self._task(was, before), now, appended=base is None)

    def _present(self, instant: Instant, group: FileGroupId, after: Timeline, stats: Sequence[WriteStat]) -> FileSlice:
        """Return the slice after a commit, all of whose files must be there."""
        file_slice = self._slices.at(group, after)
        names = {status.name for status in self._slices.files(group)}
        missing = [
            name for stat in stats for name in (_name(stat), stat.base_file or "", *(stat.log_files or ())) if name and name not in names
        ]
        if file_slice is None or missing:
            raise self._cleaned(instant, missing[0] if missing else f"of file group {group.file_id}")
        return file_slice

    def _log(self, instant: Instant, group: FileGroupId, path: str) -> LogFile:
        file = path.rpartition("/")[2]
        name = parse_log_file_name(file)
        status = next((status for status in self._slices.files(group) if status.name == file), None)
        if name is None or status is None:
            raise self._cleaned(instant, file)
        log = LogFile(group.partition_path, name, status.size)
        return self.snapshot.with_checksums(FileSlice(group, name.instant, None, (log,))).logs[0]

    def _task(self, file_slice: FileSlice, timeline: Timeline) -> SliceTask:
        config = self.instant_range.config
        names_tell = config.layout > 1 and (config.initial_version or 0) >= _NAMES_TELL
        file_slice = self.snapshot.with_checksums(file_slice)
        return SliceTask(file_slice, Visibility(frozenset()) if names_tell else timeline.visibility, config.layout)

    def _cleaned(self, instant: Instant, what: str) -> UsageError:
        return UsageError(
            f"change data of table {self.instant_range.storage.uri}: the images of commit {instant.requested} need a file "
            f"{what}, which was cleaned"
            f" away; the earliest safe time is {self._earliest_safe(instant)}. Begin there, or read the rows as they are now"
            " (format latest_state)."
        )

    def _earliest_safe(self, failed: Instant) -> str:
        """Return the begin after the last commit whose images can't be made."""
        instant_range = self.instant_range
        later = [one for one in reversed(instant_range.instants) if instant_range.time_of(one) > instant_range.time_of(failed)]
        for one in later:
            probe = ChangeData(instant_range, self.mode, self.snapshot)
            try:
                list(probe._tasks_of(one))
            except UsageError:
                return instant_range.time_of(one)
        return instant_range.time_of(failed)


@reread_when_moved
def open_change_data(storage: Storage, query: ChangesQuery) -> ChangeData:
    """Open a table for the change data of a span.

    Raises:
        TableNotFound: there is no table.
        UnsupportedError: a feature of the table is not served.
        OptionError: partitions are chosen.
        UsageError: the table logs no changes, a bound is no time, or commits or files of the span are missing.
    """
    config = TableConfig(load_properties(storage))
    check_readable(config)
    mode = logging_mode(config)
    if mode is None:
        raise UsageError(
            f"table {storage.uri} does not capture its changes: create it with hoodie.table.cdc.enabled=true, or read the rows that were"
            " written (format latest_state)."
        )
    if query.scope is not None:
        raise OptionError(f"change data of table {storage.uri} is of all partitions, not of '{query.scope}': read it all, and filter it.")
    # Scripts take the bounds from `_hoodie_commit_time` or from the list of commits; Apache Hudi compares both with requested times.
    span = partial(
        instant_range_of,
        storage,
        config,
        query.since,
        query.until,
        by_requested=query.by_requested,
        holes=query.holes,
        names_commits=True,
    )
    instant_range = span()
    if instant_range.begins_archived and instant_range.latest.archive is not None and instant_range.latest.archive.is_whole:
        instant_range = span(archived=True)
    if instant_range.begins_archived:
        raise instant_range.refusal(", or read the rows that were written (format latest_state)")
    snapshot = ChangedRows(
        storage,
        SnapshotQuery("snapshot", instant_range.until),
        config,
        instant_range.end,
        instant_range.latest,
        Written(frozenset()),
        query.schema_at_end,
    )
    return ChangeData(instant_range, mode, snapshot)


def _written_files(metadata: CommitMetadata) -> dict[FileGroupId, list[WriteStat]]:
    stats_of_group: dict[FileGroupId, list[WriteStat]] = defaultdict(list)
    for path, stats in metadata.stats.items():
        for stat in stats:
            if stat.file_id and stat.path:
                stats_of_group[FileGroupId(path, stat.file_id)].append(stat)
    return stats_of_group


def _replaced_groups(metadata: CommitMetadata) -> Iterator[FileGroupId]:
    for path, file_ids in (metadata.replaced or {}).items():
        for file_id in file_ids:
            yield FileGroupId(path, file_id)


def _name(stat: WriteStat) -> str:
    return (stat.path or "").rpartition("/")[2]


def _is_slice(file_slice: FileSlice | None, stat: WriteStat) -> bool:
    """Tell whether a slice is the one that a base file was written on top of."""
    if file_slice is None:
        return False
    if stat.prev_base_file and parse_base_file_name(stat.prev_base_file) is not None:
        return file_slice.base is not None and str(file_slice.base.name) == stat.prev_base_file
    return file_slice.base_instant == stat.prev_commit
