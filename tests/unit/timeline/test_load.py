"""Loading the active timeline of both layouts from the names in a folder."""

from __future__ import annotations

import pytest

from pyhudi.codec.actions.commit_metadata import encode_commit
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.timeline.tables import LAYOUT_1, LAYOUT_2

TIME, LATER = "20261201040547825", "20261201040550000"


def put(storage, folder, *names) -> None:
    for name in names:
        storage.create(f"{folder}/{name}", b"")


def test_layout_2_reads_states_and_completion_times(storage, layout_2) -> None:
    put(storage, ".hoodie/timeline", f"{TIME}.commit.requested", f"{TIME}.inflight", f"{TIME}_{LATER}.commit")
    put(storage, ".hoodie/timeline", f"{LATER}.clean.requested")
    timeline = load_timeline(storage, layout_2)
    assert timeline.instants == (
        Instant(TIME, Action.COMMIT, State.COMPLETED, LATER),
        Instant(LATER, Action.CLEAN, State.REQUESTED),
    )
    assert timeline.completion_time(TIME) == LATER


def test_layout_1_takes_completion_times_from_the_files(storage, layout_1) -> None:
    put(storage, ".hoodie", f"{TIME}.commit.requested", f"{TIME}.inflight", f"{TIME}.commit", "hoodie.properties")
    timeline = load_timeline(storage, layout_1)
    assert timeline.instants == (Instant(TIME, Action.COMMIT, State.COMPLETED),)
    assert timeline.completion_time(TIME) == "20261201040547825"


def test_names_an_upgrade_left_in_layout_2_complete_when_their_files_changed(storage, layout_2, monkeypatch) -> None:
    put(storage, ".hoodie/timeline", f"{TIME}.commit")
    timeline = load_timeline(storage, layout_2)
    assert timeline.instants[0].file_name(2) == f"{TIME}.commit"
    assert timeline.completion_time(TIME) is not None


def test_other_files_and_folders_are_ignored(storage, layout_2) -> None:
    put(storage, ".hoodie/timeline", f".{TIME}.inflight.1-0.tmp", f".{TIME}.commit.crc", "other/manifest_1", "x")
    put(storage, ".hoodie/timeline", f"{TIME}.commit.tmp")
    assert load_timeline(storage, layout_2).instants == ()


def test_missing_timeline_folder_is_an_empty_timeline(storage, layout_2) -> None:
    timeline = load_timeline(storage, layout_2)
    assert timeline.instants == ()
    assert timeline.last_completed() is None


def test_unknown_action_is_refused_by_name(storage, layout_2) -> None:
    put(storage, ".hoodie/timeline", f"{TIME}.vacuum.requested")
    with pytest.raises(UnsupportedError, match="vacuum"):
        load_timeline(storage, layout_2)


def test_action_completed_twice_with_other_content_is_a_corrupt_table(storage, layout_2) -> None:
    for completed, operation in ((LATER, "UPSERT"), (f"{TIME[:-1]}9", "INSERT")):
        storage.create(f".hoodie/timeline/{TIME}_{completed}.commit", encode_commit(CommitMetadata(operation=operation), sync=bytes(16)))
    with pytest.raises(CorruptTableError, match=f"{TIME} twice"):
        load_timeline(storage, layout_2)


def test_action_completed_twice_with_the_same_content_is_one_that_was_completed_the_first_time(storage, layout_2) -> None:
    """Apache Hudi's files of the two differ in their bytes: containers of Avro have random marks in them."""
    first, *others = f"{TIME[:-1]}9", LATER, f"{LATER[:-1]}7"
    for completed in (*others, first):
        metadata = CommitMetadata(operation="DELETE_PARTITION", replaced={"p": ("a",)})
        content = encode_commit(metadata, sync=completed[-1].encode() * 16)
        storage.create(f".hoodie/timeline/{TIME}_{completed}.replacecommit", content)
    timeline = load_timeline(storage, layout_2)
    assert timeline.instants == (Instant(TIME, Action.REPLACE_COMMIT, State.COMPLETED, first),)
    assert [one.completed for one in timeline.repeated] == others


@pytest.mark.parametrize(("action", "content"), [(Action.CLEAN, b"one"), (Action.ROLLBACK, b"other")])
def test_pending_clean_or_rollback_that_two_writers_ran_counts_once(storage, layout_2, action: Action, content: bytes) -> None:
    """Both deleted what the plan names; the second found less, so that its file differs. Apache Hudi runs cleans outside the lock."""
    first = f"{TIME[:-1]}9"
    for completed, stated in ((first, b""), (LATER, content)):
        storage.create(f".hoodie/timeline/{TIME}_{completed}.{action}", stated)
    timeline = load_timeline(storage, layout_2)
    assert timeline.instants == (Instant(TIME, action, State.COMPLETED, first),)
    assert [one.completed for one in timeline.repeated] == [LATER]


def test_older_files_count_as_archived_only_where_something_was_archived(storage, layout_2) -> None:
    put(storage, ".hoodie/timeline", f"{LATER}_{LATER[:-1]}9.commit")
    assert not load_timeline(storage, layout_2).is_committed(TIME)
    put(storage, ".hoodie/timeline/history", "manifest_1")
    assert load_timeline(storage, layout_2).is_committed(TIME)


@pytest.mark.parametrize("initial", ["6", None])
def test_older_files_of_an_upgraded_table_count_as_archived(storage, initial) -> None:
    properties = {**LAYOUT_2, "hoodie.table.initial.version": initial or ""}
    if initial is None:
        del properties["hoodie.table.initial.version"]
    put(storage, ".hoodie/timeline", f"{LATER}_{LATER[:-1]}9.commit")
    assert load_timeline(storage, TableConfig(properties)).is_committed(TIME)


ARCHIVED = "20261201040548000"


@pytest.mark.parametrize("stays", [f"{TIME}_{TIME[:-1]}9.indexing", f"{TIME}_{TIME[:-1]}9.commit"])
def test_what_was_archived_counts_though_an_older_action_is_active(storage, layout_2, stays) -> None:
    """An indexing action is never archived, a savepointed commit may stay; and a listing may miss what goes while it is made."""
    put(storage, ".hoodie/timeline", stays, f"{LATER}_{LATER[:-1]}9.commit")
    put(storage, ".hoodie/timeline/history", f"{TIME}_{ARCHIVED}_0.parquet", "manifest_1")
    timeline = load_timeline(storage, layout_2)
    assert timeline.is_committed(ARCHIVED)
    assert not timeline.is_committed(ARCHIVED[:-1] + "1")


def test_what_is_neither_archived_nor_active_was_never_committed(storage, layout_2) -> None:
    put(storage, ".hoodie/timeline", f"{LATER}_{LATER[:-1]}9.commit")
    put(storage, ".hoodie/timeline/history", f"{TIME}_{TIME}_0.parquet", "manifest_1")
    timeline = load_timeline(storage, layout_2)
    assert timeline.is_committed(TIME)
    assert not timeline.is_committed(ARCHIVED)


def test_older_files_of_a_downgraded_table_count_as_archived(storage) -> None:
    """Its properties still say that it was born with layout 2."""
    put(storage, ".hoodie", f"{LATER}.commit")
    timeline = load_timeline(storage, TableConfig({**LAYOUT_1, "hoodie.table.initial.version": "9"}))
    assert timeline.is_committed(TIME)
