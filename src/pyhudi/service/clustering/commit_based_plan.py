"""Plans a clustering of the file groups that commits after a checkpoint wrote. Pure.

Rules: `CommitBasedClusteringPlanStrategy`. Apache Hudi plans each file of each commit, also one that a later commit has rewritten, and
moves the checkpoint past what the limit on groups left out; here a file group is planned once, by its newest slice, and the checkpoint
stays before what is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.service.clustering.rewrite_plan import plan_groups
from pyhudi.service.clustering.rewrite_settings import RewriteSettings
from pyhudi.spec.files.file_group import FileGroupId, FileSlice

#: Entry of a plan's metadata: the commit from which the next plan begins.
CHECKPOINT: Final = "clustering.commit.checkpoint"


@dataclass(frozen=True, slots=True)
class WrittenGroups:
    """The file groups that a commit wrote."""

    commit: str
    groups: tuple[FileGroupId, ...]


@dataclass(frozen=True, slots=True)
class CommitBasedPlan:
    """Slices that are rewritten together, each with its number of new files, and where the next plan begins."""

    groups: tuple[tuple[list[FileSlice], int], ...]
    checkpoint: str


def plan_commits(
    commits: Iterable[WrittenGroups],
    latest: Mapping[FileGroupId, FileSlice],
    busy: Collection[FileGroupId],
    earliest: str,
    settings: RewriteSettings,
    default_base_bytes: int,
) -> CommitBasedPlan:
    """Return the plan for these commits, the oldest first, as far as the limit on groups allows.

    Args:
        commits: the commits after `earliest` with the file groups that they wrote.
        latest: the newest slices of the partitions that may be clustered; replaced file groups have none.
        busy: file groups that other plans hold; the checkpoint stays before them.
        earliest: requested time of the commit after which the plan begins.
        settings: sizes to keep to.
        default_base_bytes: the size to expect of a base file where there is none yet.
    """
    collected: dict[str, list[FileSlice]] = defaultdict(list)
    groups: list[tuple[list[FileSlice], int]] = []
    first_commit: dict[FileGroupId, str] = {}
    previous = checkpoint = earliest
    for commit in commits:
        for id_ in commit.groups:
            if id_ not in latest or id_ in first_commit:
                continue
            first_commit[id_] = previous
            if id_ not in busy:
                collected[id_.partition_path].append(latest[id_])
        checkpoint = previous = commit.commit
        for path in [path for path, slices in collected.items() if _base_bytes(slices) >= settings.group_bytes]:
            groups += plan_groups(collected.pop(path), settings, default_base_bytes)
        if len(groups) >= settings.most_groups:
            break
    left_out = [id_ for id_ in first_commit if id_ in busy]
    for slices in collected.values():
        if len(groups) >= settings.most_groups:
            left_out += [one.group for one in slices]
        else:
            groups += plan_groups(slices, settings, default_base_bytes)
    return CommitBasedPlan(tuple(groups), min([checkpoint, *(first_commit[id_] for id_ in left_out)]))


def _base_bytes(slices: Sequence[FileSlice]) -> int:
    return sum(0 if one.base is None else one.base.size for one in slices)
