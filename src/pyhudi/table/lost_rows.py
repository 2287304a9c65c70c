"""Lost rows of completed commits, according to the commits themselves: missing files, and writes that were built on too little.

Rules: `HoodieWriteStat` (path, size, previous commit), `HoodieCompactionPlan`. A reader that missed a file leaves no trace. A writer that
missed one made the loss permanent: a compaction that left a log file out, an update of a version that was not the newest.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.fsview.committed_sizes import CheckedView, stated_files
from pyhudi.fsview.file_groups import committed_files
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId, join_path
from pyhudi.spec.files.file_names import file_and_instant
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import read_action, read_commit

#: What is lost (a file or an instant), and why.
Loss = tuple[str, str]


def lost_files(view: FileSystemView) -> Iterator[Loss]:
    """Yield the files of the newest slices that are not as their commits state."""
    checked = CheckedView(view.storage, view.config, view.timeline)
    for path in checked.partition_paths():
        files = committed_files(path, view.storage.list(path), view.timeline)
        for file, problem in checked.differences(path, files):
            yield join_path(path, file.name), problem


def overlooked_writes(view: FileSystemView) -> Iterator[Loss]:
    """Yield what later actions of the active timeline overlooked: their results lack rows of commits that were complete before."""
    if view.config.is_merge_on_read:
        for instant in view.timeline.data_instants():
            if instant.action is Action.COMMIT:
                yield from _versions_left_out_by(view, instant)
    else:
        yield from _skipped_versions(view)


def _versions_left_out_by(view: FileSystemView, compaction: Instant) -> Iterator[Loss]:
    """Yield the log files of earlier commits that a compaction did not merge, though they lie on the slices that it did."""
    try:
        plan = read_action(view.storage, view.config, Instant(compaction.requested, Action.COMPACTION, State.REQUESTED))
    except FileNotFoundError:
        return
    if not isinstance(plan, CompactionPlan):
        return
    stated = stated_files(view.storage, view.config, view.timeline)
    for operation in plan.operations or ():
        group = operation.group
        merged = {name.rpartition("/")[2] for name in operation.delta_files or ()}
        for file in stated.get(group.partition_path, {}).get(group.file_id, ()):
            if file.is_log and file.name not in merged and _is_merged_by(view, operation, file.instant, file.completed, compaction):
                path = join_path(group.partition_path, file.name)
                yield (
                    path,
                    f"compaction {compaction.requested} left it out: rows of commit {file.commit} are lost where no later write has them",
                )


def _is_merged_by(view: FileSystemView, operation: CompactionOperation, instant: str, completed: str, compaction: Instant) -> bool:
    if view.timeline.layout == 1 or instant == operation.base_instant:
        return instant == operation.base_instant
    return (operation.base_instant or "") <= completed < compaction.requested


def _skipped_versions(view: FileSystemView) -> Iterator[Loss]:
    """Yield commits whose versions of files were not taken up by the next one."""
    newest: dict[FileGroupId, str] = {}
    for instant in view.timeline.data_instants():
        metadata = read_commit(view.storage, view.config, instant)
        if metadata.operation == Operation.CLUSTER:
            continue
        for stat in metadata.all_stats():
            named = file_and_instant((stat.path or "").rpartition("/")[2])
            if named is None or stat.path is None:
                continue
            group = FileGroupId(stat.path.rpartition("/")[0], named[0])
            before, known = stat.prev_commit, newest.get(group)
            if known is not None and before not in (None, "", "null") and str(before) < known:
                yield stat.path, f"commit {instant.requested} updated version {before}, not {known}: rows of commit {known} are lost in it"
            newest[group] = max(named[1], known or "")
