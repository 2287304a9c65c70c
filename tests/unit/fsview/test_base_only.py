"""Slices found in all names at once are those that files looked at one by one make."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyhudi.fsview.base_only import plain_files, plain_slices
from pyhudi.fsview.file_groups import committed_files, latest_slices
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.file_names import base_file_names
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline, collapse_states
from tests.unit.fsview.test_latest_files import at, base, instants, log

_DAYS = st.integers(1, 9)
#: "a-1" precedes "a" among names, and after it among ids.
_IDS = st.sampled_from(["a", "a-1", "b"])
_NAMES = st.builds(base, _IDS, _DAYS) | st.builds(lambda file_id, day: f"{file_id}_1-0-0_{at(day)}.parquet", _IDS, _DAYS)


@given(
    st.dictionaries(_NAMES, st.integers(1, 3), max_size=12),
    st.dictionaries(_DAYS, st.none() | _DAYS),
    st.none() | _DAYS,
    st.sets(_IDS, max_size=1),
    st.sampled_from([1, 2]),
)
@example({}, {}, None, set(), 2)
def test_slices_are_those_of_the_files_one_by_one(files, days, past, removed, layout) -> None:
    timeline = Timeline(collapse_states(instants(days)), layout)
    timeline = timeline if past is None else timeline.as_of(at(past))
    replaced = {FileGroupId("p", file_id): at(9) for file_id in removed} | {FileGroupId("q", "b"): at(9)}
    listed = committed_files("p", [FileStatus(f"p/{name}", size, 0) for name, size in files.items()], timeline)
    result = plain_slices("p", files, timeline, replaced)
    if result is None:
        assert any(file_id not in removed for file_id, _ in listed.repeated_base_files())
    else:
        assert list(result) == list(latest_slices("p", listed, timeline, replaced))


@given(st.dictionaries(_NAMES, st.integers(1, 3), max_size=12), st.dictionaries(_DAYS, st.none() | _DAYS), st.sampled_from([1, 2]))
def test_files_are_those_of_a_listing(files, days, layout) -> None:
    timeline = Timeline(collapse_states(instants(days)), layout)
    listed = committed_files("p", [FileStatus(f"p/{name}", size, 0) for name, size in sorted(files.items())], timeline)
    assert plain_files(files, timeline) == listed
    assert plain_files({**files, log("a", 1): 1}, timeline) is None


def test_two_attempts_at_one_file_are_left_to_their_commit() -> None:
    timeline = Timeline(collapse_states(instants({1: 1, 2: 2})), 2)
    assert plain_slices("p", {base("a", 2): 1, f"a_1-0-0_{at(2)}.parquet": 1}, timeline, ()) is None
    assert plain_slices("p", {base("a", 2): 1, f"a_1-0-0_{at(1)}.parquet": 1}, timeline, ()) is not None


@pytest.mark.parametrize(
    "other",
    [log("a", 1), "note.txt", ".hoodie_partition_metadata", "", f"a_0-0-0_{at(1)}.txt", f"x\n{base('a', 2)}", f"{base('a', 2)}\n"],
)
def test_other_names_are_left_to_who_looks_at_each(other) -> None:
    assert base_file_names([base("a", 1)]) == [(base("a", 1), "a", at(1))]
    assert base_file_names([base("a", 1), other]) is None
    assert base_file_names([other]) is None


def test_of_no_names_there_are_none() -> None:
    assert base_file_names([]) == []
