"""What must hold for every table at rest, whatever happened before: checkers that return what is wrong, in words.

- `timeline_faults`: every state of an instant has its predecessors, no time is used twice, nothing completes early.
- `dangling_references`: each file that a commit names is there, with the size and (if visible) the rows it says.
- `garbage`: nothing is left of writes that failed or ended: no instants, data files, markers, temporary files.
- `folders_without_metafile`: no data file is where readers do not look.

Each returns an empty list for a sound table, so that a test says `assert garbage(storage) == []` and shows the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.files.file_group import BaseFile, join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.storage.table_properties import BACKUP, load_properties
from pyhudi.storage.temporary_files import is_left_over
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_action_metadata, load_commit_metadata, read_action
from pyhudi.timeline.state import first_state
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

RowCount = Callable[[Storage, BaseFile], int]


def timeline_faults(storage: Storage) -> list[str]:
    """Return what is wrong with the state files of the active timeline; an archival that was cut may have deleted the first of them."""
    config = _config(storage)
    by_time: dict[str, dict[Action, list[Instant]]] = defaultdict(lambda: defaultdict(list))
    for status in storage.list(config.timeline_path):
        instant = parse_instant(status.name, config.layout)
        if instant is not None:
            by_time[instant.requested][instant.comparable_action].append(instant)
    faults = []
    archived = {one.instant.requested for one in archived_instants(storage, config, read_rows)}
    for requested, actions in sorted(by_time.items()):
        if len(actions.keys() - {Action.SAVEPOINT}) > 1:
            faults.append(f"time {requested} is used by {', '.join(sorted(actions))}")
        for action, instants in actions.items():
            if requested not in archived or not any(instant.is_completed for instant in instants):
                faults += _fault_of_states(requested, action, instants)
    return faults


def _fault_of_states(requested: str, action: Action, instants: list[Instant]) -> Iterator[str]:
    states = sorted(instant.state for instant in instants)
    expected = list(range(first_state(action), states[-1] + 1))
    if [int(state) for state in states] != expected:
        yield f"{action} {requested} has the states {[state.name for state in states]}"
    for instant in instants:
        if instant.state is State.COMPLETED and instant.completed is not None and instant.completed <= requested:
            yield f"{action} {requested} completed at {instant.completed}"


def dangling_references(storage: Storage, row_count: RowCount) -> list[str]:
    """Return the files of completed commits that are missing or differ from what their commit says.

    `row_count` opens a base file and counts its rows (`kernels.base_file.read_base.row_count`). Files that a clean has deleted, or
    that one which is pending may have deleted, are not missing.
    """
    config = _config(storage)
    timeline = load_full_timeline(storage, config).with_archived()
    view = FileSystemView(storage, config, timeline)
    visible = {base.path: base for path in view.partition_paths() for base in view.latest_base_files(path)}
    faults = []
    named: set[str] = set()
    cleaned = _cleaned_files(storage, config, timeline)
    may_be_cleaned = _files_of_pending_cleans(storage, config, timeline)
    for requested, commit in _commits(storage, config, timeline):
        for stat in commit.all_stats():
            if stat.path is None:
                continue
            named.add(stat.path)
            status = storage.stat(stat.path)
            if stat.path in cleaned:
                faults += [] if status is None else [f"'{stat.path}' of {requested} was cleaned and is there"]
            elif status is None and stat.path in may_be_cleaned:
                continue
            elif status is None or status.size != stat.file_size_in_bytes:
                size = "is missing" if status is None else f"has {status.size} bytes, not {stat.file_size_in_bytes}"
                faults.append(f"'{stat.path}' of {requested} {size}")
            elif stat.path in visible and row_count(storage, visible[stat.path]) != stat.num_writes:
                faults.append(f"'{stat.path}' has not the {stat.num_writes} rows that {requested} wrote")
    return faults + [f"'{path}' is visible, but no commit names it" for path in sorted(visible.keys() - named)]


def _commits(storage: Storage, config: TableConfig, timeline: Timeline) -> Iterator[tuple[str, CommitMetadata]]:
    """Yield requested time and metadata of each completed commit of a timeline with its archived instants."""
    for instant in timeline.data_instants():
        yield instant.requested, load_commit_metadata(storage, config, timeline, instant)
    active = {instant.requested for instant in timeline.data_instants()}
    for archived in archived_instants(storage, config, read_rows) if config.layout == 1 else ():
        if archived.metadata is not None and archived.instant.requested not in active:
            yield archived.instant.requested, archived.metadata


def _cleaned_files(storage: Storage, config: TableConfig, timeline: Timeline) -> frozenset[str]:
    """Return the paths of the files that the completed cleans of a timeline have deleted."""
    cleans = (load_action_metadata(storage, config, timeline, one) for one in timeline.completed() if one.action is Action.CLEAN)
    return frozenset(
        join_path(path, name.rpartition("/")[2])
        for done in cleans
        if isinstance(done, CleanMetadata)
        for path, partition in done.partitions.items()
        for name in partition.deleted
    )


def _files_of_pending_cleans(storage: Storage, config: TableConfig, timeline: Timeline) -> frozenset[str]:
    """Return the paths of the files that the plans of pending cleans name."""
    pending = (replace(one, state=State.REQUESTED) for one in timeline.pending() if one.action is Action.CLEAN)
    plans = (read_action(storage, config, one) for one in pending)
    return frozenset(
        join_path(path, name.rpartition("/")[2])
        for plan in plans
        if isinstance(plan, CleanPlan)
        for path, names in plan.files.items()
        for name in names
    )


def garbage(storage: Storage) -> list[str]:
    """Return the paths of what failed and finished writes left behind. Fit for tables at rest after a successful
    write.
    """
    config = _config(storage)
    pending = load_full_timeline(storage, config).pending()
    leftovers = [f"{config.timeline_path}/{instant.file_name(config.layout)}" for instant in pending]
    leftovers += [status.path for status in storage.list(".hoodie/.temp")]
    leftovers += [status.path for folder in (".hoodie", config.timeline_path) for status in _left_overs(storage, folder)]
    leftovers += [BACKUP] if storage.stat(BACKUP) is not None else []
    return leftovers + list(_list_unnamed_data_files(storage, config))


def _list_unnamed_data_files(storage: Storage, config: TableConfig) -> Iterator[str]:
    timeline = load_full_timeline(storage, config).with_archived()
    named = {stat.path for _, commit in _commits(storage, config, timeline) for stat in commit.all_stats() if stat.path is not None} | set(
        _rolled_back_logs(storage, config, timeline)
    )
    for _, listing in walk_partitions(storage):
        for status in listing:
            is_data = parse_base_file_name(status.name) or parse_log_file_name(status.name)
            if (is_data and status.path not in named) or is_left_over(status.name):
                yield status.path


def _rolled_back_logs(storage: Storage, config: TableConfig, timeline: Timeline) -> Iterator[str]:
    """Yield the log files of version 6 that stay after a rollback, and those by which it rolled them back."""
    for instant in timeline.completed(Action.ROLLBACK):
        done = load_action_metadata(storage, config, timeline, instant)
        assert isinstance(done, RollbackMetadata)
        for path, part in done.partitions.items():
            for name in (*(part.rollback_log_files or ()), *(part.failed_log_files or ())):
                yield join_path(path, name.rsplit("/", 1)[-1])


def folders_without_metafile(storage: Storage) -> list[str]:
    """Return the folders that hold data files but no partition metafile: their rows would be lost to readers."""
    result = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        listing = storage.list(folder)
        names = {status.name for status in listing}
        if any(map(parse_base_file_name, names)) and not any(name.startswith(PARTITION_METAFILE) for name in names):
            result.append(folder)
        waiting += [status.path for status in listing if status.is_dir and status.path != ".hoodie"]
    return result


def _left_overs(storage: Storage, folder: str) -> list[FileStatus]:
    return [status for status in storage.list(folder) if is_left_over(status.name)]


def _config(storage: Storage) -> TableConfig:
    return TableConfig(load_properties(storage))
