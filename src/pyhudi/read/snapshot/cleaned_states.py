"""Whether a state of a table can still be read, given the files that cleans have deleted since, or are deleting.

Rules: `TimelineUtils.validateTimestampAsOf`; docs/design/0084-cleaning.md. Apache Hudi looks at the earliest commit that the last clean
retained. All cleans since the time count here: one that retains more than those before it does not bring their files back, and one that is
inflight may have deleted any of the files that it plans to delete.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from typing import Final, ParamSpec, TypeVar

from pyhudi.errors import CorruptTableError, StateDeletedError, UsageError
from pyhudi.fsview.file_groups import PartitionFiles
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.actions.clean import CleanMetadata, CleanPartition, CleanPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.file_names import file_and_instant, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.instant_details import load_action_metadata, read_action
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.moved_timeline import TimelineMovedError
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.timeline_files import timeline_files
from pyhudi.timeline_archive.full_timeline import load_full_timeline

P = ParamSpec("P")
T = TypeVar("T")
#: A read begins again so often; a reader that is suspended each time for as long as a clean takes is told so.
_MOST_READS: Final = 3


def reread_when_deleted(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that reads a table begin again when files are deleted meanwhile; one that is missing twice is damage."""

    @functools.wraps(read)
    def reread(*args: P.args, **kwargs: P.kwargs) -> T:
        missing = ""
        for _ in range(_MOST_READS - 1):
            try:
                return read(*args, **kwargs)
            except StateDeletedError:
                continue
            except CorruptTableError as error:
                if not isinstance(error.__cause__, FileNotFoundError) or str(error) == missing:
                    raise
                missing = str(error)
        return read(*args, **kwargs)

    return reread


def check_not_cleaned(storage: Storage, config: TableConfig, timeline: Timeline, time: str) -> None:
    """Refuse a time whose files a clean has deleted, unless a savepoint retained them or the table was restored to it.

    Args:
        storage: the table's.
        config: its properties.
        timeline: that of now, with the archived instants that the time needs (`Timeline.known_at`).
        time: the time to read.

    Raises:
        UsageError: names the earliest time that can be read.
    """
    last = timeline.as_of(time).last_completed()
    # Before its first commit the table was empty, whatever has been deleted since. Layout 1 cannot tell which commit that was: instants
    # left for an archive that may have been deleted.
    is_whole = timeline.layout > 1 and (timeline.archive is None or timeline.archive.is_whole)
    if (last is None and is_whole) or last == timeline.last_completed():
        return
    at = timeline.effective_time(time)
    view: FileSystemView | None = None
    for instant, done in _cleans_since(storage, config, timeline, at):
        reaches = bool(done.retained_from) and at >= timeline.effective_time(done.retained_from)
        if reaches and (timeline.layout == 1 or not timeline.completed_at_or_after("", done.retained_from, f"{at}0")):
            continue
        if not reaches and done.retained_from and not _is_savepointed(timeline, time):
            raise _refusal(storage, time, instant, done.retained_from)
        view = view or open_view(storage, config, timeline.as_of(time))
        if any(True for _ in _needed(view, done)):
            raise _refusal(storage, time, instant, done.last_completed if reaches or not done.retained_from else done.retained_from)


def check_not_cleaned_since(storage: Storage, config: TableConfig, state: Timeline, listed: Collection[str]) -> None:
    """Refuse a state whose files were listed after a clean, a rollback or a restore had deleted some of them.

    Files are listed some time after the timeline was read, and a metadata table does not tell which ones it listed before: the rows of
    deleted files would be missing. Call it once the files are listed.

    Args:
        storage: the table's.
        config: its properties.
        state: the timeline of the state.
        listed: the names of the timeline's files when it was read.

    Raises:
        StateDeletedError: says what deleted the files, and the earliest time that can be read.
    """
    files = timeline_files(storage, config)
    last = state.last_completed()
    if files.keys() == set(listed) or last is None:
        return
    try:
        now = load_full_timeline(storage, config, files=files)
    except TimelineMovedError:  # an upgrade or downgrade deletes no files of the table's rows
        config = TableConfig(load_properties(storage))
        now = load_full_timeline(storage, config)
    if not now.is_committed(last.requested):
        raise StateDeletedError(
            f"{last.action} {last.requested} of table {storage.uri} was rolled back after it had been opened to be read: read it again"
        )
    has_times = 1 not in (state.layout, now.layout)
    end = max(state.effect(instant)[0] for instant in state.data_instants()) if has_times else last.requested
    try:
        check_not_cleaned(storage, config, now.known_at(now.effective_time(end)), end)
    except UsageError as error:
        raise StateDeletedError(f"{error}. It was opened before the clean: open it again to read its rows of now") from None


def check_not_cleaned_file(storage: Storage, path: str) -> None:
    """Refuse a data file that is missing because a clean has deleted it.

    Args:
        storage: the table's.
        path: the file, below the table's base path.

    Raises:
        StateDeletedError: names the clean; cleans that are archived are not asked.
        CorruptTableError: the timeline, or what a clean says that it deleted, is damaged.
    """
    config = TableConfig(load_properties(storage))
    folder, _, name = path.rpartition("/")
    for instant, done in _cleans_since(storage, config, load_timeline(storage, config), ""):
        partition = done.partitions.get(folder)
        if partition is not None and any(deleted.rpartition("/")[2] == name for deleted in partition.deleted):
            raise StateDeletedError(
                f"file '{path}' of table {storage.uri} was deleted by clean {instant.requested} after the read had been planned: read the"
                " table again, with a new DataFrame or after REFRESH TABLE, to have its rows of now"
            )


def _cleans_since(storage: Storage, config: TableConfig, timeline: Timeline, at: str) -> Iterator[tuple[Instant, CleanMetadata]]:
    """Yield the cleans that have deleted something and were planned after a time, the newest first; what came before left its files."""
    for instant in reversed(timeline.instants):
        if instant.action is not Action.CLEAN or instant.state is State.REQUESTED:
            continue
        if instant.requested <= at:
            return
        done = _deletions(storage, config, timeline, instant)
        if done is not None and done.partitions:
            yield instant, done


def _deletions(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CleanMetadata | None:
    """Return what a clean has deleted, or may have deleted if it is inflight; None where its plan is unreadable: it deletes nothing."""
    if instant.is_completed:
        done = load_action_metadata(storage, config, timeline, instant)
        return done if isinstance(done, CleanMetadata) else None
    try:
        plan = read_action(storage, config, Instant(instant.requested, Action.CLEAN, State.REQUESTED))
    except (CorruptTableError, FileNotFoundError):
        return None
    if not isinstance(plan, CleanPlan):
        return None
    partitions = {path: CleanPartition(path, plan.policy, deleted=files) for path, files in plan.files.items()}
    return CleanMetadata(instant.requested, 0, 0, plan.retained_from or "", plan.last_completed, partitions)


def _is_savepointed(timeline: Timeline, time: str) -> bool:
    last = timeline.as_of(time).last_completed()
    return last is not None and any(one.action is Action.SAVEPOINT and one.is_completed for one in timeline.find(last.requested))


def _needed(view: FileSystemView, done: CleanMetadata) -> Iterator[str]:
    """Yield the deleted files that a state needs: those of a slice than which the state has no newer one."""
    for path, partition in done.partitions.items():
        files = view.partition_files(path)
        for name in partition.deleted:
            parsed = _file_id_and_instant(name.rpartition("/")[2])
            if parsed is None or FileGroupId(path, parsed[0]) in view.replaced or not view.timeline.is_committed(parsed[1]):
                continue
            if _newest_base(files, parsed[0]) <= parsed[1]:
                yield name


def _file_id_and_instant(name: str) -> tuple[str, str] | None:
    """Return what a data file's name says; None of a log of changes, which no reader of rows needs."""
    log = parse_log_file_name(name)
    if log is None:
        return file_and_instant(name)
    return None if log.is_cdc else (log.file_id, log.instant)


def _newest_base(files: PartitionFiles, file_id: str) -> str:
    return max((instant for _, instant, _, _ in files.base.get(file_id, ())), default="")


def _refusal(storage: Storage, time: str, clean: Instant, earliest: str) -> UsageError:
    verb = "deleted" if clean.is_completed else "is deleting"
    return UsageError(
        f"table {storage.uri} cannot be read as of {time}: clean {clean.requested} {verb} files of that time;"
        f" the earliest time is {earliest}"
    )
