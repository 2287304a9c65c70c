"""The archived timeline of layout 2: which manifest counts, which files are opened, what a cut archival leaves."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.jackson import render_json
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.timeline import archived_contents
from pyhudi.timeline.archived_timeline import History
from pyhudi.timeline.archived_timeline_lsm import archived_rows, history_files
from pyhudi.timeline.load_timeline import load_timeline

FOLDER = ".hoodie/timeline/history"


def at(day: int) -> str:
    return f"202612{day:02}000000000"


class Archive:
    """An archive in memory; its files' rows are kept here instead of in Parquet, and `opened_files` notes which were read."""

    def __init__(self, storage: MemoryStorage) -> None:
        self.storage = storage
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.bounds: dict[str, str | None] = {}
        self.opened_files: list[str] = []

    def file(self, first: int, last: int, *days: int, level: int = 0) -> str:
        name = f"{at(first)}_{at(last)}_{level}.parquet"
        self.storage.create(f"{FOLDER}/{name}", b"x")
        self.rows[f"{FOLDER}/{name}"] = [
            {
                "instantTime": at(day),
                "completionTime": at(day)[:-1] + "7",
                "action": "commit",
                "metadata": None,
                "plan": None,
            }
            for day in days or range(first, last + 1)
        ]
        return name

    def manifest(self, number: int, *names: str, current: str | None = "same") -> None:
        files = [{"fileName": name, "fileLen": 1} for name in names]
        self.storage.create(f"{FOLDER}/manifest_{number}", render_json({"files": files}))
        if current is not None:
            self.storage.replace(f"{FOLDER}/_version_", (str(number) if current == "same" else current).encode())

    def __call__(self, storage, path, columns):
        self.opened_files.append(path.rsplit("/")[-1])
        return [{column: row[column] for column in columns} for row in self.rows[path]]

    def greatest(self, storage, path, column):
        return self.bounds.get(path, max((row[column] for row in self.rows[path]), default=None))


@pytest.fixture
def history(storage) -> Archive:
    return Archive(storage)


def listed(history, config) -> list[str]:
    return [file.path.rsplit("/")[-1] for file in history_files(history.storage, config)]


def test_table_that_archived_nothing_has_no_history(history, layout_2) -> None:
    assert listed(history, layout_2) == []
    assert dict(History(history.storage, layout_2, history)) == {}


def test_manifest_of_the_version_file_counts(history, layout_2) -> None:
    old, new = history.file(1, 2), history.file(1, 4, level=1)
    history.manifest(1, old)
    history.manifest(2, new, current=None)
    assert listed(history, layout_2) == [old]


@pytest.mark.parametrize("current", ["", "x", "9", "-1", "1" * 100])
def test_greatest_manifest_counts_when_the_version_file_is_no_help(history, layout_2, current) -> None:
    old, new = history.file(1, 2), history.file(1, 4, level=1)
    history.manifest(90, old, current=None)
    history.manifest(100, new, current=current)
    assert listed(history, layout_2) == [new]


def test_missing_version_file_means_the_greatest_manifest(history, layout_2) -> None:
    names = [history.file(day, day) for day in (1, 2, 3)]
    for number, name in zip((2, 10, 9), names, strict=True):
        history.manifest(number, name, current=None)
    assert listed(history, layout_2) == [names[1]]


@pytest.mark.parametrize("name", ["../../../etc/passwd", "x.parquet", "1_2_0.txt", f"{at(1)}_{at(2)}_10.parquet"])
def test_manifest_that_lists_foreign_files_is_corrupt(history, layout_2, name) -> None:
    history.manifest(1, name)
    with pytest.raises(CorruptTableError, match="no file of an archive"):
        listed(history, layout_2)


def test_damaged_manifest_is_corrupt(history, layout_2) -> None:
    history.storage.create(f"{FOLDER}/manifest_1", b'{ "files" : [ {')
    with pytest.raises(CorruptTableError):
        listed(history, layout_2)


def test_rows_come_sorted_and_once_though_two_files_hold_them(history, layout_2) -> None:
    history.manifest(1, history.file(3, 4), history.file(1, 3, level=1))
    assert [row.requested for row in archived_rows(history.storage, layout_2, history)] == [at(day) for day in (1, 2, 3, 4)]


def test_completion_time_opens_only_files_that_may_hold_it(history, layout_2) -> None:
    names = [history.file(1, 3), history.file(4, 6), history.file(7, 9)]
    history.manifest(1, *names)
    times = History(history.storage, layout_2, history)
    assert history.opened_files == []
    assert times[at(5)] == at(5)[:-1] + "7"
    assert times.get(at(6)) is not None
    assert history.opened_files == [names[1]]
    assert times.get(at(20)) is None
    assert history.opened_files == [names[1]]
    assert len(times) == 9


@pytest.mark.parametrize("bound", [None, "", "x", at(2), at(5)[:-1]])
def test_the_latest_completion_is_that_of_the_footers_where_these_can_be_right(history, layout_2, bound) -> None:
    names = [history.file(1, 3), history.file(4, 6), history.file(7, 9)]
    history.manifest(1, *names)
    times = History(history.storage, layout_2, history)
    assert times.latest_completion(at(4), at(20)) == at(9)[:-1] + "7"
    assert history.opened_files == []
    history.bounds[f"{FOLDER}/{names[0]}"] = bound
    assert times.latest_completion("", at(3)) == at(3)[:-1] + "7"
    assert history.opened_files == [names[0]]


def test_timeline_asks_the_history_for_archived_instants_only(history, layout_2) -> None:
    history.manifest(1, history.file(1, 3))
    history.storage.create(f".hoodie/timeline/{at(5)}_{at(6)}.commit", b"")
    timeline = load_timeline(history.storage, layout_2, history)
    assert timeline.completion_time(at(5)) == at(6)
    assert timeline.is_committed(at(2))
    assert history.opened_files == []
    assert timeline.completion_time(at(2)) == at(2)[:-1] + "7"
    assert len(history.opened_files) == 1


def test_timeline_with_archived_instants_is_as_if_nothing_had_been_archived(history, layout_2) -> None:
    history.manifest(1, history.file(1, 3))
    for day in (3, 4):  # the third one was archived by a run that was cut off
        history.storage.create(f".hoodie/timeline/{at(day)}_{at(day)[:-1]}7.commit", b"")
    timeline = load_timeline(history.storage, layout_2, history).with_archived()
    assert [(one.requested, one.completed) for one in timeline.data_instants()] == [(at(day), at(day)[:-1] + "7") for day in (1, 2, 3, 4)]
    assert timeline.archive_boundary == ""


def test_content_is_found_though_the_instant_was_archived_after_the_history_was_read(history, layout_2) -> None:
    first, second = history.file(1, 1), history.file(2, 2)
    history.manifest(1, first)
    result = History(history.storage, layout_2, history)
    assert result.find(at(2)) == ()
    history.rows[f"{FOLDER}/{second}"][0]["metadata"] = b"two"
    history.manifest(2, first, second)
    instant = Instant(at(2), Action.COMMIT, State.COMPLETED, at(2)[:-1] + "7")
    assert result.content(instant) == b"two"
    with pytest.raises(FileNotFoundError, match="not in its archive"):
        result.content(Instant(at(9), Action.COMMIT, State.COMPLETED))


def test_manifest_that_the_version_file_names_must_be_there(history, layout_2) -> None:
    history.manifest(7, history.file(1, 2))
    for left in ((), (6,)):
        history.storage.delete(f"{FOLDER}/manifest_7")
        for number in left:
            history.manifest(number, history.file(1, 1), current=None)
        with pytest.raises(CorruptTableError, match="manifest_7"):
            listed(history, layout_2)


def test_empty_manifest_is_damage(history, layout_2) -> None:
    history.storage.create(f"{FOLDER}/manifest_1", b"")
    with pytest.raises(CorruptTableError, match=r"manifest_1.*empty"):
        listed(history, layout_2)


def test_archive_without_any_manifest_is_damage_when_its_instants_are_not_active(history, layout_2) -> None:
    history.file(1, 4)
    assert dict(History(history.storage, layout_2, history, first_active=at(3))) == {}
    with pytest.raises(CorruptTableError, match="no manifest"):
        dict(History(history.storage, layout_2, history, first_active=at(5)))


def test_file_of_another_size_than_listed_is_damage(history, layout_2) -> None:
    name = history.file(1, 2)
    history.manifest(1, name)
    history.storage.replace(f"{FOLDER}/{name}", b"12")
    with pytest.raises(CorruptTableError, match=name):
        listed(history, layout_2)


def test_archive_file_that_lists_an_instant_and_lacks_its_content_is_damage(history, layout_2) -> None:
    """An instant that was never archived is another matter: its file is looked for elsewhere."""
    name = history.file(1, 3)
    history.manifest(1, name)
    archive = History(history.storage, layout_2, history)
    listed_instant = archive.find(at(2))[0]
    history.rows[f"{FOLDER}/{name}"] = []
    with pytest.raises(CorruptTableError, match=rf"{name}.*commit {at(2)}"):
        archive.content(listed_instant)
    with pytest.raises(FileNotFoundError):
        archive.content(Instant(at(7), Action.COMMIT, State.COMPLETED, at(8)))


def test_contents_that_are_asked_for_one_after_another_are_read_a_few_at_a_time(history, layout_2, monkeypatch) -> None:
    """Each look-up once read the file from its start."""
    days, entry = range(1, 29), 1000
    name = history.file(1, 28)
    history.manifest(1, name)
    for day, row in zip(days, history.rows[f"{FOLDER}/{name}"], strict=True):
        row["metadata"] = bytes([day]) * entry
    monkeypatch.setattr(archived_contents, "_MOST_BYTES", 8 * (entry + 256))
    for order in (days, days[::-1]):
        archive = History(history.storage, layout_2, history)
        instants = [archive.find(at(day))[0] for day in order]
        history.opened_files.clear()
        assert [archive.content(one) for one in instants] == [bytes([day]) * entry for day in order]
        assert len(history.opened_files) <= 8
    monkeypatch.setattr(archived_contents, "_MOST_BYTES", entry // 2)
    archive = History(history.storage, layout_2, history)
    assert [archive.content(archive.find(at(day))[0]) for day in days] == [bytes([day]) * entry for day in days]
