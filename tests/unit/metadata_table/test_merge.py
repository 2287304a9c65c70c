"""Merge rules of the metadata table's records, each case of each kind."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.merge_records import Joined, join, merge, merge_all
from pyhudi.metadata_table.format.record import (
    BloomFilterRecord,
    ColumnStats,
    FileEntry,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
    ValueType,
)


def files(**entries: int | None) -> FileList:
    """Files with their sizes, None for a deletion."""
    return FileList(RecordType.FILES, {name: FileEntry(size or 0, is_deleted=size is None) for name, size in entries.items()})


@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        (files(a=1), files(b=2), files(a=1, b=2)),
        (files(a=1), files(a=None), files()),
        (files(a=None), files(a=3), files(a=3)),
        (files(a=None), files(a=None), files(a=None)),
        (files(), files(a=None), files(a=None)),
        (files(a=5), files(a=3), files(a=5)),
        (files(a=3), files(a=5), files(a=5)),
    ],
    ids=["union", "deleted", "written again", "deleted twice", "tombstone is kept", "smaller size", "larger size"],
)
def test_files_of_a_partition(older, newer, merged) -> None:
    assert merge(older, newer) == merged


def stats(low=None, high=None, count=0, nulls=0, *, kind=RecordType.COLUMN_STATS, deleted=False, tight=False) -> ColumnStats:
    value_type = None if low is None else ValueType.INT
    return ColumnStats(kind, "f", "c", value_type, low, high, count, nulls, 10, 20, deleted, tight)


def test_statistics_that_are_not_tight_are_widened_and_summed() -> None:
    merged = merge(stats(3, 5, count=2, nulls=1), stats(1, 4, count=3))
    assert merged == ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.INT, 1, 5, 5, 1, 20, 40)


def test_statistics_without_bounds_take_those_of_the_other() -> None:
    merged = merge(stats(3, 5, count=2), stats(count=1, nulls=1))
    assert isinstance(merged, ColumnStats)
    assert (merged.value_type, merged.minimum, merged.maximum, merged.null_count) == (ValueType.INT, 3, 5, 1)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (stats(1, 9), stats(3, 5, tight=True, kind=RecordType.COLUMN_STATS)),
        (stats(1, 9), stats(deleted=True)),
        (stats(deleted=True), stats(3, 5)),
    ],
    ids=["tight", "newer is a tombstone", "older is a tombstone"],
)
def test_statistics_of_which_the_newer_counts(older, newer) -> None:
    assert merge(older, newer) == newer


def test_of_locations_and_filters_the_newer_counts() -> None:
    assert merge(RecordLocation("a", "f-0"), RecordLocation("b", "g-0")) == RecordLocation("b", "g-0")
    tombstone = BloomFilterRecord("", "2", b"", is_deleted=True)
    assert merge(BloomFilterRecord("SIMPLE", "1", b"x"), tombstone) == tombstone


_LISTS = st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 9)).map(lambda entries: files(**entries))


@given(st.none() | _LISTS, st.lists(st.none() | _LISTS, max_size=5))
def test_changes_one_after_the_other_come_to_what_each_does_and_stay_what_they_are(older, changes) -> None:
    before = copy.deepcopy((older, changes))
    stepwise = older
    for change in changes:
        stepwise = None if change is None else merge(stepwise, change)
    assert merge_all(older, changes) == stepwise
    assert (older, changes) == before


def test_deleted_secondary_entry_leaves_nothing() -> None:
    assert merge(SecondaryEntry(), SecondaryEntry(is_deleted=True)) is None
    assert merge(None, SecondaryEntry(is_deleted=True)) is None
    assert merge(None, SecondaryEntry()) == SecondaryEntry()


def test_records_of_different_kinds_under_one_key_are_refused() -> None:
    with pytest.raises(CorruptTableError, match="RecordLocation and SecondaryEntry"):
        merge(RecordLocation("a", "f-0"), SecondaryEntry())
    with pytest.raises(CorruptTableError, match="ALL_PARTITIONS and FILES"):
        merge(FileList(RecordType.ALL_PARTITIONS, {}), files())


def test_bounds_that_do_not_compare_are_refused() -> None:
    with pytest.raises(CorruptTableError, match="int and str"):
        merge(stats(1, 2), ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.STRING, "a", "b"))


CHANGES = {
    "files": (None, files(a=7), files(a=None)),
    "statistics": (None, stats(3, 5, count=2, nulls=1), stats(1, 4, count=3), stats(6, 9, tight=True), stats(deleted=True)),
    "locations": (None, RecordLocation("p", "f"), RecordLocation("q", "g")),
    "secondary entries": (None, SecondaryEntry(), SecondaryEntry(is_deleted=True)),
}


def applied(record: MetadataRecord | None, changes: Iterable[MetadataRecord | None]) -> MetadataRecord | None:
    """What a reader makes of a record and changes. Nobody asks for files that are missing, and a list without files is as good as none."""
    for change in changes:
        record = None if change is None else merge(record, change)
    if not isinstance(record, FileList):
        return record
    entries = {name: entry for name, entry in record.entries.items() if not entry.is_deleted}
    return FileList(record.type, entries) if entries else None


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_joined_changes_do_to_every_record_what_they_did_one_by_one(kind, count) -> None:
    for before, *changes, after in product(CHANGES[kind], repeat=count + 2):
        joined = join(changes)
        steps = [*([None] if joined.wipes else []), *([] if joined.record is None else [joined.record])]
        for later in ([], [after]):
            assert applied(before, [*steps, *later]) == applied(before, [*changes, *later]), changes


def test_file_that_came_and_went_stays_gone_in_what_comes_before() -> None:
    assert merge(files(a=3), files(a=None)) == files()
    assert join([files(a=3), files(a=None)]).record == files(a=None)
    assert join([stats(1, 2, deleted=True), stats(3, 4)]).wipes
    assert join([RecordLocation("p", "f"), None]) == Joined(None, wipes=True)
    assert join([None, RecordLocation("p", "f")]) == Joined(RecordLocation("p", "f"), wipes=False)
