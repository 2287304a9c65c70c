"""Leaving out what cannot belong to a newest slice changes no slice, whatever was kept of the names before."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.cache import LruCache
from pyhudi.fsview import latest_files
from pyhudi.fsview.file_groups import committed_files, latest_base_files, latest_slices
from pyhudi.fsview.latest_files import newest_files
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline, collapse_states

_tables = itertools.count()
_DAYS = st.integers(1, 9)


def at(day: int) -> str:
    return f"202612{day:02}000000000"


def base(file_id: str, day: int) -> str:
    return f"{file_id}_0-0-0_{at(day)}.parquet"


def log(file_id: str, day: int) -> str:
    return f".{file_id}_{at(day)}.log.1_0-0-0"


def instants(days: dict[int, int | None]) -> list[Instant]:
    """Delta commits by the day of their request, each with the day of its completion, None while it is pending."""
    return [
        Instant(at(day), Action.DELTA_COMMIT, State.INFLIGHT)
        if done is None
        else Instant(at(day), Action.DELTA_COMMIT, State.COMPLETED, at(max(day, done))[:-1] + "1")
        for day, done in days.items()
    ]


_NAMES = st.builds(lambda make, file_id, day: make(file_id, day), st.sampled_from([base, log]), st.sampled_from("ab"), _DAYS)
_FILES = st.dictionaries(_NAMES | st.sampled_from([".a_1.log.1_0-0-0.cdc", "note.txt"]), st.integers(1, 3), max_size=14)
_INSTANTS = st.dictionaries(_DAYS, st.none() | _DAYS)


def slices(listing, timeline):
    files = committed_files("p", listing, timeline)
    return list(latest_slices("p", files, timeline, {})), latest_base_files("p", files, {})


@given(
    st.lists(st.tuples(_FILES, _INSTANTS), min_size=1, max_size=4),
    st.dictionaries(_DAYS, _DAYS),
    st.none() | _DAYS,
    st.sampled_from([1, 2]),
)
def test_slices_are_those_of_all_files_after_any_changes(steps, archived, past, layout) -> None:
    uri = str(next(_tables))
    for files, days in steps:
        timeline = Timeline(
            collapse_states(instants(days)), layout, {at(day): at(max(day, done))[:-1] + "1" for day, done in archived.items()}
        )
        timeline = timeline if past is None else timeline.as_of(at(past))
        everything = [FileStatus(f"p/{name}", size, 0) for name, size in files.items()]
        assert slices(newest_files(uri, "p", files, timeline), timeline) == slices(everything, timeline)


def test_versions_before_the_newest_one_are_left_out() -> None:
    files = {base("a", day): 1 for day in range(1, 9)} | {log("a", day): 1 for day in range(1, 9)}
    timeline = Timeline(collapse_states(instants({day: day for day in range(1, 9)})), 2)
    assert sorted(status.name for status in newest_files(str(next(_tables)), "p", files, timeline)) == [log("a", 8), base("a", 8)]


def test_version_of_a_pending_write_does_not_hide_the_one_before() -> None:
    timeline = Timeline(collapse_states(instants({1: 1, 2: 2, 3: None})), 2)
    result = newest_files(str(next(_tables)), "p", {base("a", day): 1 for day in (1, 2, 3)}, timeline)
    assert [status.name for status in result] == [base("a", 2), base("a", 3)]


@pytest.mark.parametrize(("days", "archived"), [({1: 1, 2: 4, 3: 3}, {}), ({8: 8}, {at(2): at(4)})], ids=["active", "archived"])
def test_log_completed_after_the_newest_base_file_began_belongs_to_it(days, archived) -> None:
    files = {base("a", 1): 1, base("a", 3): 1, log("a", 2): 1}
    timeline = Timeline(collapse_states(instants(days)), 2, archived)
    (file_slice,), _ = slices(newest_files(str(next(_tables)), "p", files, timeline), timeline)
    assert [file_slice.base_instant, *(str(one.name) for one in file_slice.logs)] == [at(3), log("a", 2)]


@pytest.mark.parametrize(("partitions", "names"), [(2, 100), (100, 3)])
def test_little_is_kept(monkeypatch, partitions, names) -> None:
    monkeypatch.setattr(latest_files, "_names_cache", retained := LruCache(names, lambda one: len(one.sizes), partitions))  # type: ignore[var-annotated]
    uri, timeline = str(next(_tables)), Timeline(collapse_states(instants({1: 1})), 2)
    for partition in ("p", "q", "r"):
        newest_files(uri, partition, {base("a", 1): 1, base("b", 1): 1}, timeline)
    assert [path for _, path in retained] == ["q", "r"][-partitions if names > 3 else -1 :]
