"""Plans a compaction: which slices, in which order, measured how.

Rules: `BaseHoodieCompactionPlanGenerator`, `HoodieCompactionPlanGenerator`. Slices are the committed ones: what a pending write has put
into logs is not in them. Groups that another pending plan holds are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.compaction.compaction_settings import CompactionSettings
from pyhudi.spec.actions.compaction import LOG_COMPACTION_STRATEGY, CompactionOperation, CompactionPlan, operation_of
from pyhudi.spec.files.file_group import FileGroupId, FileSlice


def plan_compaction(view: FileSystemView, settings: CompactionSettings, busy: Collection[FileGroupId]) -> CompactionPlan:
    """Return the plan that the strategies make of a table's slices with logs; it may hold no operations.

    `missing_partitions` are those with work that the strategies left for later; Apache Hudi looks at them next time.

    Raises:
        OptionError: a strategy goes by days and a partition is named for none.
    """
    everywhere = view.partition_paths()
    paths: Sequence[str] = everywhere
    for strategy in settings.strategies:
        paths = strategy.partitions(paths, settings.limits)
    operations = [operation_of(file_slice, settings.default_base_bytes) for file_slice in _with_logs(view, paths, busy)]
    chosen: Sequence[CompactionOperation] = operations
    for strategy in settings.strategies:
        chosen = strategy.operations(chosen, settings.limits)
    left = set(everywhere) - set(paths)
    left.update(one.group.partition_path for one in operations if one not in chosen)
    return CompactionPlan(tuple(chosen), extra_metadata={}, preserve_meta_columns=False, missing_partitions=tuple(sorted(left)))


def plan_log_compaction(view: FileSystemView, settings: CompactionSettings, busy: Collection[FileGroupId]) -> CompactionPlan:
    """Return the plan that stitches together the logs of every slice that has as many as the settings ask for."""
    slices = _with_logs(view, view.partition_paths(), busy)
    operations = tuple(
        operation_of(file_slice, settings.default_base_bytes) for file_slice in slices if len(file_slice.logs) >= settings.log_blocks
    )
    return CompactionPlan(
        operations, extra_metadata={}, strategy=LOG_COMPACTION_STRATEGY, preserve_meta_columns=True, missing_partitions=()
    )


def _with_logs(view: FileSystemView, paths: Iterable[str], busy: Collection[FileGroupId]) -> Iterable[FileSlice]:
    for path in paths:
        yield from (file_slice for file_slice in view.latest_slices(path) if file_slice.logs and file_slice.group not in busy)
