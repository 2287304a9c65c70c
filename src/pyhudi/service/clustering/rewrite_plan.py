"""Plans which file groups a clustering rewrites together, and reads such plans. Pure.

Rules: `PartitionAwareClusteringPlanStrategy`, `SparkSizeBasedClusteringPlanStrategy`, `SparkSingleFileSortPlanStrategy`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.arrays.space_curves import Layout
from pyhudi.service.clustering.rewrite_settings import LAYOUT, SORT_COLUMNS, RewriteSettings
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, Strategy
from pyhudi.spec.actions.clustering_slices import planned_files, render_slice
from pyhudi.spec.actions.compaction import group_metrics
from pyhudi.spec.files.file_group import FileGroupId, FileSlice


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Slices of one partition, by the names of their files, whose rows go to `outputs` new files."""

    partition_path: str
    files: Mapping[FileGroupId, frozenset[str]]
    outputs: int


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """A plan to rewrite file groups: its groups, checked, the order of the rows, and the content of the requested instant."""

    groups: tuple[RewriteGroup, ...]
    sort_columns: tuple[str, ...]
    layout: Layout | None
    content: ClusteringPlan


def plan_groups(slices: Sequence[FileSlice], settings: RewriteSettings, default_base_bytes: int) -> Iterator[tuple[list[FileSlice], int]]:
    """Yield groups of slices of one partition that are rewritten together, and how many files each becomes.

    Args:
        slices: the newest slices of the partition that no other plan holds.
        settings: sizes to keep to.
        default_base_bytes: the size to expect of a base file where there is none yet.
    """
    eligible = [one for one in slices if _base_bytes(one, 0) < settings.small_bytes]
    if settings.single_files:
        yield from (([file_slice], 1) for file_slice in eligible)
        return
    if settings.oldest_first:
        eligible.sort(key=lambda one: "" if one.base is None else one.base.name.instant)
    else:
        eligible.sort(key=lambda one: -_base_bytes(one, default_base_bytes))
    group: list[FileSlice] = []
    total = 0
    for file_slice in eligible:
        size = _base_bytes(file_slice, default_base_bytes)
        if group and total + size > settings.group_bytes:
            yield group, _outputs(total, settings)
            group, total = [], 0
        group.append(file_slice)
        total += size
    if len(group) > 1 or (group and (settings.single_groups or _outputs(total, settings) > 1)):
        yield group, _outputs(total, settings)


def render_plan(
    groups: Sequence[tuple[list[FileSlice], int]],
    missing: Sequence[str],
    settings: RewriteSettings,
    uri: str,
    default_base_bytes: int,
    extra_metadata: Mapping[str, str] | None = None,
) -> ClusteringPlan:
    """Return what the requested instant says.

    Args:
        groups: slices that are rewritten together, with the number of files that they become.
        missing: partition paths with slices that are left for the next plan.
        settings: what else is in the plan.
        uri: the table's; plans of clustering name files in full.
        default_base_bytes: as in `plan_groups`.
        extra_metadata: what the strategy notes for its next plan.
    """
    parameters = {SORT_COLUMNS: ",".join(settings.sort_columns)} if settings.sort_columns else {}
    if settings.layout is not Layout.LINEAR and settings.sort_columns:
        parameters[LAYOUT] = settings.layout.value  # Apache Hudi runs by its own options; whoever runs the plan here does not need any
    return ClusteringPlan(
        groups=tuple(
            ClusteringGroup(
                slices=tuple(render_slice(one, uri) for one in slices),
                metrics=group_metrics(slices, default_base_bytes),
                output_file_groups=outputs,
            )
            for slices, outputs in groups
        ),
        strategy=Strategy(settings.run_class, parameters),
        extra_metadata=extra_metadata or {},
        preserve_meta_columns=True,
        missing_partitions=tuple(missing),
    )


def parse_plan(content: ClusteringPlan) -> RewritePlan:
    """Return what a plan rewrites.

    Raises:
        CorruptTableError: it leads out of the table, a group is none, or two groups hold one file group, whose rows would be there twice.
        UnsupportedError: rows are not to keep their times.
        ValueError: the layout is none.
    """
    if content.preserve_meta_columns is False:
        raise UnsupportedError("its rows are to get new commit times; let Apache Hudi run it")
    parameters = (content.strategy.params if content.strategy else None) or {}
    columns = tuple(name.strip() for name in parameters.get(SORT_COLUMNS, "").split(",") if name.strip())
    layout = parameters.get(LAYOUT)
    groups = tuple(_group(group) for group in content.groups or ())
    times = Counter(id_ for group in groups for id_ in group.files)
    if twice := [id_ for id_, count in times.items() if count > 1]:
        raise CorruptTableError(f"{len(twice)} of its file groups are in more than one group of the plan, the first is {twice[0]}")
    return RewritePlan(groups, columns, None if layout is None else Layout.parse(layout), content)


def _group(group: ClusteringGroup) -> RewriteGroup:
    files = planned_files(group)
    paths = {id_.partition_path for id_ in files}
    if len(paths) != 1:
        raise CorruptTableError(f"a group holds slices of {len(paths)} partitions")
    return RewriteGroup(paths.pop(), files, max(1, group.output_file_groups or 1))


def _base_bytes(file_slice: FileSlice, default: int) -> int:
    return default if file_slice.base is None else file_slice.base.size


def _outputs(total: int, settings: RewriteSettings) -> int:
    return max(1, -(-total // settings.target_bytes))
