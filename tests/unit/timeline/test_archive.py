"""Archived instants of real tables, of both layouts, and the completion times they give."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline_archive.full_timeline import read_rows
from tests.not_none import not_none


def open_table(path) -> tuple[LocalStorage, TableConfig]:
    storage = LocalStorage(str(path))
    return storage, TableConfig(load_properties(storage))


def archived_commits(storage, config) -> list[Any]:
    result = archived_instants(storage, config, read_rows)
    return [archived for archived in result if archived.instant.action is Action.COMMIT]


@pytest.mark.parametrize("name", ["apache_hudi/cleaned_and_archived_v9", "archives/archived_v6"])
def test_archive_and_active_timeline_hold_the_full_history(fixture_table, name) -> None:
    storage, config = open_table(fixture_table(name))
    timeline = load_timeline(storage, config)
    archived = [commit.instant.requested for commit in archived_commits(storage, config)]
    active = [instant.requested for instant in timeline.data_instants()]
    assert archived
    assert archived == sorted(set(archived))
    assert max(archived) < min(active)
    assert all(map(timeline.is_committed, archived + active))


@pytest.mark.parametrize("name", ["apache_hudi/cleaned_and_archived_v9", "archives/archived_v6"])
def test_archived_commits_tell_what_they_wrote(fixture_table, name) -> None:
    for commit in archived_commits(*open_table(fixture_table(name))):
        assert commit.metadata is not None
        assert commit.metadata.operation
        assert all(commit.instant.requested in (stat.path or "") for stat in commit.metadata.all_stats())


def test_completion_times_of_archived_commits_are_after_their_requests(fixture_table) -> None:
    storage, config = open_table(fixture_table("apache_hudi/cleaned_and_archived_v9"))
    timeline = load_timeline(storage, config, read_rows)
    for commit in archived_commits(storage, config):
        completed = timeline.completion_time(commit.instant.requested)
        assert completed == commit.instant.completed
        assert completed > commit.instant.requested


def test_archive_tells_whether_an_instant_completed_late(fixture_table) -> None:
    storage, config = open_table(fixture_table("apache_hudi/cleaned_and_archived_v9"))
    timeline = load_timeline(storage, config, read_rows)
    times = [commit.instant.requested for commit in archived_commits(storage, config)]
    last = max(not_none(timeline.completion_time(time)) for time in times)
    assert timeline.completed_at_or_after(times[0], times[-1], last)
    assert not timeline.completed_at_or_after(times[0], times[-1], f"{last}0")
    assert not timeline.completed_at_or_after("0", "1", "0")


def test_archive_of_14_commits_is_complete_in_version_6(fixture_table) -> None:
    storage, config = open_table(fixture_table("archives/archived_v6"))
    archived = archived_commits(storage, config)
    assert len(archived) + len(load_timeline(storage, config).data_instants()) == 14


def test_archive_file_cut_off_is_corrupt(fixture_table) -> None:
    storage, config = open_table(fixture_table("archives/archived_v6"))
    (first, *_) = [status for status in storage.list(config.archive_path) if ".archive." in status.name]
    cut = MemoryStorage()
    cut.create(first.path, storage.read(first.path)[:-5])
    with pytest.raises(CorruptTableError):
        list(archived_instants(cut, config, read_rows))


def test_table_without_archive_has_no_archived_instants(fixture_table) -> None:
    for name in ("cow/v6_empty", "cow/v8_empty"):
        assert list(archived_instants(*open_table(fixture_table(name)), read_rows)) == []
