"""File groups and slices from names and a timeline, for both timeline layouts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.fsview.file_groups import build_groups, committed_files, latest_slices
from pyhudi.fsview.slice_list import FileColumns, SliceList
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline, collapse_states


def at(day: int) -> str:
    return f"202612{day:02}000000000"


def commit(day: int, completed_day: int | None = None, action: Action = Action.COMMIT) -> Instant:
    return Instant(at(day), action, State.COMPLETED, at(completed_day or day)[:-1] + "1")


def pending(day: int, action: Action = Action.COMMIT) -> Instant:
    return Instant(at(day), action, State.INFLIGHT)


def base(file_id: str, day: int, token: str = "0-0-0") -> str:
    return f"{file_id}_{token}_{at(day)}.parquet"


def log(file_id: str, day: int, version: int = 1) -> str:
    return f".{file_id}_{at(day)}.log.{version}_0-0-0"


def groups(names, *instants, layout=2, replaced=(), **fields):
    """File groups as `{file id: [(day of the slice, base name or None, [log names])]}`."""
    timeline = Timeline(collapse_states(instants), layout, **fields)
    listing = [FileStatus(f"p/{name}", 10, 0) for name in names]
    files = committed_files("p", listing, timeline)
    built = build_groups("p", files, timeline, {FileGroupId("p", file_id): at(9) for file_id in replaced})
    return {
        group.id.file_id: [
            (int(file_slice.base_instant[6:8]), file_slice.base and str(file_slice.base.name), [str(file.name) for file in file_slice.logs])
            for file_slice in group.slices
        ]
        for group in built
    }


def test_versions_of_a_base_file_are_slices_newest_first() -> None:
    names = [base("a", 1), base("a", 2), base("b", 1)]
    assert groups(names, commit(1), commit(2)) == {
        "a": [(2, base("a", 2), []), (1, base("a", 1), [])],
        "b": [(1, base("b", 1), [])],
    }


def test_files_of_pending_and_unknown_instants_are_invisible() -> None:
    names = [base("a", 1), base("a", 2), base("b", 3), base("c", 2)]
    assert groups(names, commit(1), pending(2), commit(4)) == {"a": [(1, base("a", 1), [])]}


def test_files_older_than_the_timeline_are_visible() -> None:
    assert groups([base("a", 1)], commit(3)) == {"a": [(1, base("a", 1), [])]}


def test_files_older_than_a_timeline_that_never_was_archived_are_left_overs() -> None:
    assert groups([base("a", 1)], commit(3), archive_boundary="") == {}


def test_replaced_group_is_left_out_with_all_its_slices() -> None:
    names = [base("a", 1), base("a", 2), base("b", 1)]
    assert groups(names, commit(1), commit(2), replaced=["a"]) == {"b": [(1, base("b", 1), [])]}


@pytest.mark.parametrize(
    "name",
    [
        ".hoodie_partition_metadata",
        ".hoodie_partition_metadata.parquet",
        ".a_0-0-0_20261201000000000.parquet.crc",
        ".a_0-0-0_20261201000000000.parquet.4711-0.tmp",
        "a_0-0-0_20261201000000000.parquet.tmp",
        "part-00000.parquet",
        "_SUCCESS",
        "a_0-0-0_20261201000000000.txt",
    ],
)
def test_name_that_is_no_data_file_is_ignored(name) -> None:
    assert groups([name], commit(1)) == {}


def test_log_joins_the_newest_slice_begun_before_it_completed() -> None:
    names = [base("a", 1), base("a", 3), log("a", 2), log("a", 4)]
    instants = [commit(1), commit(2, 5, Action.DELTA_COMMIT), commit(3), commit(4, action=Action.DELTA_COMMIT)]
    assert groups(names, *instants) == {"a": [(3, base("a", 3), [log("a", 2), log("a", 4)]), (1, base("a", 1), [])]}


def test_log_completed_before_a_base_file_began_stays_with_the_slice_before() -> None:
    names = [base("a", 1), base("a", 3), log("a", 2)]
    instants = [commit(1), commit(2, action=Action.DELTA_COMMIT), commit(3)]
    assert groups(names, *instants) == {"a": [(3, base("a", 3), []), (1, base("a", 1), [log("a", 2)])]}


def test_log_of_a_pending_instant_is_invisible() -> None:
    names = [base("a", 1), log("a", 2)]
    assert groups(names, commit(1), pending(2, Action.DELTA_COMMIT)) == {"a": [(1, base("a", 1), [])]}


def test_logs_without_base_file_begin_a_slice() -> None:
    instants = [commit(day, action=Action.DELTA_COMMIT) for day in (1, 2)]
    assert groups([log("a", 2), log("a", 1)], *instants) == {"a": [(1, None, [log("a", 1), log("a", 2)])]}


def test_failed_base_file_does_not_take_the_logs_of_the_good_one() -> None:
    names = [base("a", 1), base("a", 2), log("a", 3)]
    assert groups(names, commit(1), pending(2), commit(3, action=Action.DELTA_COMMIT)) == {"a": [(1, base("a", 1), [log("a", 3)])]}


def test_log_of_an_archived_instant_is_placed_by_the_history() -> None:
    names = [base("a", 1), base("a", 3), log("a", 2)]
    assert groups(names, commit(8), completion={at(2): at(4)}) == {"a": [(3, base("a", 3), [log("a", 2)]), (1, base("a", 1), [])]}


def test_log_that_completed_after_a_base_file_began_stays_before_it_when_it_names_an_older_base_file() -> None:
    names = [base("a", 1), base("a", 3), log("a", 1)]
    assert groups(names, commit(1, 5), commit(3)) == {"a": [(3, base("a", 3), []), (1, base("a", 1), [log("a", 1)])]}


def test_log_of_an_archived_instant_whose_completion_nobody_knows_stays_before_later_base_files() -> None:
    names = [base("a", 1), base("a", 3), log("a", 2)]
    assert groups(names, commit(8)) == {"a": [(3, base("a", 3), []), (1, base("a", 1), [log("a", 2)])]}


def test_history_is_asked_only_for_logs_that_a_later_slice_could_take() -> None:
    queried = []

    class History(dict[Any, Any]):
        def get(self, key, default=None):
            queried.append(key)
            return default

    groups([base("a", 1), base("a", 3), log("a", 2), log("a", 4)], commit(8), completion=History())
    assert queried == [at(2)]


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("suffix", ["-cdc", ".cdc"])
def test_log_of_changes_is_left_out(layout, suffix) -> None:
    names = [base("a", 1), log("a", 1) + suffix]
    assert groups(names, commit(1), layout=layout) == {"a": [(1, base("a", 1), [])]}


@pytest.mark.parametrize("layout", [1, 2])
def test_pending_compaction_makes_no_slice_and_its_unfinished_base_file_counts_for_nothing(layout) -> None:
    after = log("a", 2 if layout == 1 else 3)
    names = [base("a", 1), base("a", 2), log("a", 1) if layout == 1 else log("a", 1, 2), after]
    instants = [commit(1), pending(2, Action.COMPACTION), commit(3, action=Action.DELTA_COMMIT)]
    assert groups(names, *instants, layout=layout) == {"a": [(1, base("a", 1), [names[2], after])]}


@pytest.mark.parametrize("layout", [1, 2])
def test_completed_compaction_begins_the_slice_of_the_logs_written_while_it_was_pending(layout) -> None:
    after = log("a", 2 if layout == 1 else 3)
    names = [base("a", 1), base("a", 2), log("a", 1), after]
    instants = [commit(1), commit(2, 5), commit(3, action=Action.DELTA_COMMIT)]
    result = groups(names, *instants, layout=layout)
    assert result == {"a": [(2, base("a", 2), [after]), (1, base("a", 1), [log("a", 1)])]}


def test_log_of_a_writer_slower_than_the_compaction_scheduled_meanwhile_joins_the_compacted_slice() -> None:
    names = [base("a", 1), base("a", 3), log("a", 2)]
    instants = [commit(1), commit(2, 4, Action.DELTA_COMMIT), commit(3, 5)]
    assert groups(names, *instants)["a"][0] == (3, base("a", 3), [log("a", 2)])


def test_logs_without_base_file_are_compacted_with_the_logs_since() -> None:
    names = [log("a", 1), log("a", 3)]
    instants = [commit(1, action=Action.DELTA_COMMIT), pending(2, Action.COMPACTION), commit(3, action=Action.DELTA_COMMIT)]
    assert groups(names, *instants) == {"a": [(1, None, names)]}


def test_layout_1_logs_without_base_file_begin_a_slice_when_what_they_name_is_committed() -> None:
    names = [log("a", 1), log("a", 1, 2), log("b", 2)]
    instants = [commit(1, action=Action.DELTA_COMMIT), pending(2, Action.DELTA_COMMIT)]
    assert groups(names, *instants, layout=1) == {"a": [(1, None, [log("a", 1), log("a", 1, 2)])]}


def test_layout_1_log_of_a_pending_compaction_joins_logs_without_base_file() -> None:
    names = [log("a", 1), log("a", 2)]
    instants = [commit(1, action=Action.DELTA_COMMIT), pending(2, Action.COMPACTION)]
    assert groups(names, *instants, layout=1) == {"a": [(1, None, names)]}


@pytest.mark.parametrize("layout", [1, 2])
def test_time_travel_leaves_out_the_logs_of_later_slices(layout) -> None:
    later = log("a", 3 if layout == 1 else 4)
    names = [base("a", 1), log("a", 1), base("a", 3), later]
    instants = [commit(1), commit(3), commit(4, action=Action.DELTA_COMMIT)]
    timeline = Timeline(collapse_states(instants), layout).as_of(at(2))
    result = build_groups("p", committed_files("p", [FileStatus(f"p/{name}", 10, 0) for name in names], timeline), timeline, {})
    assert [(file_slice.base_instant, [str(file.name) for file in file_slice.logs]) for file_slice in result[0].slices] == [
        (at(1), [log("a", 1)])
    ]


def test_time_travel_inside_a_slice_leaves_later_logs_out() -> None:
    names = [base("a", 1), log("a", 2), log("a", 3)]
    instants = [commit(1), commit(2, action=Action.DELTA_COMMIT), commit(3, action=Action.DELTA_COMMIT)]
    timeline = Timeline(collapse_states(instants), 2).as_of(at(2))
    result = build_groups("p", committed_files("p", [FileStatus(f"p/{name}", 10, 0) for name in names], timeline), timeline, {})
    assert [str(file.name) for file in result[0].slices[0].logs] == [log("a", 2)]


def test_layout_1_log_belongs_to_the_slice_it_names() -> None:
    names = [base("a", 1), base("a", 3), log("a", 1), log("a", 3, 2), log("a", 3, 1)]
    assert groups(names, commit(1), commit(3), layout=1) == {
        "a": [(3, base("a", 3), [log("a", 3, 1), log("a", 3, 2)]), (1, base("a", 1), [log("a", 1)])]
    }


def test_layout_1_log_of_a_pending_compaction_joins_the_slice_before() -> None:
    names = [base("a", 1), log("a", 2)]
    assert groups(names, commit(1), pending(2, Action.COMPACTION), layout=1) == {"a": [(1, base("a", 1), [log("a", 2)])]}


def test_layout_1_log_named_by_its_own_instant_joins_the_slice_before() -> None:
    """A downgrade leaves the logs of version 9 as they are."""
    names = [base("a", 1), log("a", 2), log("a", 3), base("a", 4), log("a", 4), log("b", 2)]
    assert groups(names, commit(1), commit(2), commit(3), commit(4), layout=1) == {
        "a": [(4, base("a", 4), [log("a", 4)]), (1, base("a", 1), [log("a", 2), log("a", 3)])],
        "b": [(2, None, [log("b", 2)])],
    }


def test_layout_2_log_named_by_a_base_file_that_is_not_there_yet_is_shared() -> None:
    """An upgrade leaves the logs of version 6 as they are: written beside a compaction, they are named by the slice it was to make."""
    names = [base("a", 1), log("a", 1), base("a", 3), log("a", 3), log("b", 3)]
    timeline = Timeline((commit(1), commit(2), commit(3, completed_day=6), commit(4)), 2, archive_boundary="").as_of(at(4))
    files = committed_files("p", [FileStatus(f"p/{name}", 10, 0) for name in names], timeline)
    assert [(file.name.instant, file.is_shared) for file in files.logs["a"]] == [(at(1), False), (at(3), True)]
    (group,) = build_groups("p", files, timeline, {})
    assert [(file_slice.base_instant, len(file_slice.logs)) for file_slice in group.slices] == [(at(1), 2)]


def test_time_travel_shows_the_slices_until_then() -> None:
    timeline = Timeline(collapse_states([commit(1), commit(2), commit(3)]), 2).as_of(at(2))
    listing = [FileStatus(f"p/{base('a', day)}", 10, 0) for day in (1, 2, 3)]
    (group,) = build_groups("p", committed_files("p", listing, timeline), timeline, {})
    assert [file_slice.base_instant for file_slice in group.slices] == [at(2), at(1)]


@given(st.sets(st.tuples(st.sampled_from("abc"), st.integers(1, 9))), st.sets(st.integers(1, 9)), st.randoms())
def test_groups_do_not_depend_on_the_order_of_the_listing_and_hold_the_committed_files(files, days, random) -> None:
    names = sorted(base(file_id, day) for file_id, day in files)
    instants = [commit(day) if day in days else pending(day) for day in range(1, 10)]
    shuffled = list(names)
    random.shuffle(shuffled)
    result = groups(shuffled, *instants)
    assert result == groups(names, *instants)
    visible = {(file_id, day) for file_id, slices in result.items() for day, _, _ in slices}
    assert visible == {(file_id, day) for file_id, day in files if day in days}


_NAMES = st.builds(lambda make, file_id, day: make(file_id, day), st.sampled_from([base, log]), st.sampled_from("abc"), st.integers(1, 9))


@given(st.sets(_NAMES), st.sets(st.integers(1, 9)), st.sets(st.sampled_from("abc"), max_size=1), st.sampled_from([1, 2]))
def test_list_of_latest_slices_holds_the_newest_slice_of_each_group(names, days, replaced, layout) -> None:
    timeline = Timeline(collapse_states(map(commit, days)), layout)
    files = committed_files("p", [FileStatus(f"p/{name}", 10, 0) for name in sorted(names)], timeline)
    removed = {FileGroupId("p", file_id): at(9) for file_id in replaced}
    slices = latest_slices("p", files, timeline, removed)
    assert list(slices) == [group.slices[0] for group in build_groups("p", files, timeline, removed)]
    assert list(SliceList.joined([slices, slices]).take(range(len(slices)))) == list(slices)
    assert slices.files() == FileColumns.of(
        file_slice.logs if file_slice.base is None else (file_slice.base, *file_slice.logs) for file_slice in slices
    )
