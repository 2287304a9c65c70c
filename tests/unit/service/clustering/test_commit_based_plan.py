"""Plans that go by the commits which wrote file groups: every group once, and the checkpoint before whatever is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError
from pyhudi.service.clustering.commit_based_plan import CommitBasedPlan, WrittenGroups, plan_commits
from pyhudi.service.clustering.rewrite_settings import rewrite_settings
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.options import resolve
from tests.unit.service.clustering.test_rewrite import KINDS, QUIET, make, rides, state

PREFIX = "hoodie.clustering.plan.strategy."
CLASS = "org.apache.hudi.table.action.cluster.strategy.CommitBasedClusteringPlanStrategy"
SETTINGS = rewrite_settings(resolve({f"{PREFIX}class": CLASS, f"{PREFIX}earliest.commit.to.cluster": "0"}))


def options(after: str, **more: str) -> dict[str, str]:
    given = {f"{PREFIX}{name.replace('__', '.')}": value for name, value in more.items()}
    return {f"{PREFIX}class": CLASS, f"{PREFIX}earliest.commit.to.cluster": after, **given}


def group(name: str) -> FileGroupId:
    partition, _, file_id = name.partition("/")
    return FileGroupId(partition, file_id)


def planned(commits: dict[str, str], sizes: dict[str, int], busy: str = "", **settings: Any) -> tuple[list[list[str]], str]:
    """The groups of a plan as names of file groups, and the checkpoint."""
    latest = {}
    for name, size in sizes.items():
        id_ = group(name)
        latest[id_] = FileSlice(id_, "20260101", BaseFile(id_.partition_path, BaseFileName(id_.file_id, "0-0-0", "20260101"), size))
    written = [WrittenGroups(commit, tuple(group(name) for name in names.split())) for commit, names in commits.items()]
    taken = {group(name) for name in busy.split()}
    plan: CommitBasedPlan = plan_commits(written, latest, taken, "0", replace(SETTINGS, **settings), 100)
    return [[f"{one.group.partition_path}/{one.group.file_id}" for one in slices] for slices, _ in plan.groups], plan.checkpoint


def test_groups_of_all_commits_are_put_together_by_partition_the_largest_first() -> None:
    assert planned({"1": "p/a q/b", "2": "p/c"}, {"p/a": 5, "q/b": 5, "p/c": 6}) == ([["p/c", "p/a"], ["q/b"]], "2")


def test_a_group_that_two_commits_wrote_is_planned_once_and_one_that_was_replaced_is_not() -> None:
    assert planned({"1": "p/a p/gone", "2": "p/a p/b"}, {"p/a": 5, "p/b": 4}) == ([["p/a", "p/b"]], "2")


def test_large_files_are_taken_unless_a_limit_is_given() -> None:
    assert planned({"1": "p/a"}, {"p/a": 10 << 30})[0] == [["p/a"]]
    given = rewrite_settings(resolve(options("0", small__file__limit="100")))
    assert planned({"1": "p/a p/b"}, {"p/a": 100, "p/b": 99}, small_bytes=given.small_bytes)[0] == [["p/b"]]


def test_a_plan_ends_with_the_commit_that_filled_it() -> None:
    commits, sizes = {"1": "p/a", "2": "p/b", "3": "p/c"}, {"p/a": 10, "p/b": 10, "p/c": 10}
    assert planned(commits, sizes, group_bytes=10, most_groups=2) == ([["p/a"], ["p/b"]], "2")


def test_the_checkpoint_stays_before_what_the_limit_on_groups_leaves_out() -> None:
    assert planned({"1": "p/a", "2": "q/b", "3": "p/c"}, {"p/a": 5, "q/b": 5, "p/c": 5}, most_groups=1) == ([["p/a", "p/c"]], "1")


def test_the_checkpoint_stays_before_groups_that_other_plans_hold() -> None:
    assert planned({"1": "p/a", "2": "p/b", "3": "p/c"}, {"p/a": 5, "p/b": 5, "p/c": 5}, busy="p/b") == ([["p/a", "p/c"]], "1")


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_what_commits_wrote_after_the_checkpoint_is_clustered_and_nothing_else(table_type: str, version: str) -> None:
    table = make(table_type, version)
    commits = [row["requested"] for row in table.history().to_pylist()]
    before = state(table)
    (done,) = table.services.cluster(options=options(commits[1]))
    # The upsert rewrote the first two files, which the first commit had written.
    assert (done.slices, done.groups, done.checkpoint) == (6, 2, commits[-1])
    assert state(table) == before

    assert table.services.cluster(options=options(done.checkpoint or "")) == ()
    table.insert(rides(500, 2), QUIET)
    (next_one,) = table.services.cluster(options=options(done.checkpoint or "", single__group__clustering__enabled="true"))
    assert (next_one.slices, next_one.rows) == (2, 2)


def test_partitions_are_chosen_and_sort_columns_obeyed() -> None:
    table = make()
    (done,) = table.services.cluster(options=options("0", partition__selected="oslo", sort__columns="fare"))
    assert (done.partitions, done.slices) == (1, 4)


@pytest.mark.parametrize("given", [None, "", "yesterday", "-1"])
def test_without_the_commit_to_begin_after_the_class_is_refused(given: str | None) -> None:
    incomplete = {f"{PREFIX}class": "CommitBasedClusteringPlanStrategy"} if given is None else options(given)
    with pytest.raises(OptionError, match=r"earliest\.commit\.to\.cluster.*table\.history"):
        make().services.cluster(options=incomplete)


def test_inline_it_goes_by_commits_too() -> None:
    table = HudiTable.create("memory://by-commits-inline", make().schema, name="t", keys=["id"])
    inline = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2", **QUIET, **options("0")}
    for number in range(4):
        table.insert(rides(number * 10, 10), inline)
    assert [row["operation"] for row in table.history().to_pylist()].count("CLUSTER") == 2
    assert table.to_arrow().num_rows == 40
