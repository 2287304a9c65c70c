"""Folders that can be partitions are found without listing them, and together they hold every partition."""

from __future__ import annotations

import pytest

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.timeline.timeline import Timeline


def view_of(fields: str, *partitions: str, others: tuple[str, ...] = ()) -> tuple[FileSystemView, RecordingStorage]:
    """A view of a table whose folders hold partition metafiles, or some other file."""
    storage = RecordingStorage(MemoryStorage())
    for path in partitions:
        storage.create(f"{path}/.hoodie_partition_metadata", b"")
    for path in (".hoodie/timeline/x", *others):
        storage.create(path, b"")
    config = TableConfig(
        {
            "hoodie.table.name": "t",
            "hoodie.table.version": "9",
            "hoodie.table.type": "COPY_ON_WRITE",
            "hoodie.timeline.layout.version": "2",
            "hoodie.table.partition.fields": fields,
        }
    )
    storage.calls.clear()
    return FileSystemView(storage, config, Timeline((), 2)), storage


def listed(storage: RecordingStorage) -> list[str]:
    return [call.path for call in storage.calls if call.method == "list"]


@pytest.mark.parametrize(
    ("fields", "partitions", "folders", "listings"),
    [
        ("p", ("a", "b"), ("a", "b"), [""]),
        ("p", ("2026/01/02", "2026/01/03", "2027/01/01"), ("2026", "2027"), [""]),
        ("p,q", ("a/1", "a/2", "b/1"), ("a/1", "a/2", "b/1"), ["", "a", "b"]),
        ("p,q", ("a/1", "b"), ("a/1", "b"), ["", "a", "b"]),
    ],
)
def test_only_folders_above_the_partitions_are_listed(
    fields: str, partitions: tuple[str, ...], folders: tuple[str, ...], listings: list[str]
) -> None:
    view, storage = view_of(fields, *partitions)
    assert view.partition_folders() == folders
    assert sorted(listed(storage)) == listings


@pytest.mark.parametrize("fields", ["p", "p,q"])
def test_every_partition_is_below_exactly_one_folder(fields: str) -> None:
    view, _ = view_of(fields, "a", "a/b", "a/b/c", "d/e", "f/g/h", others=("x/data", "y/z/w/data"))
    below = [path for folder in view.partition_folders() for path in view.partitions_below(folder)]
    assert sorted(below) == list(view.partition_paths())


def test_folder_without_a_metafile_holds_no_partition() -> None:
    view, _ = view_of("p", "a", others=("_checkpoints/0/data",))
    assert view.partition_folders() == ("_checkpoints", "a")
    assert view.partitions_below("_checkpoints") == ()


def test_folder_is_listed_once_for_its_partitions_and_their_groups() -> None:
    view, storage = view_of("p", "a", "b")
    assert view.partitions_below("a") == ("a",)
    view.groups("a")
    view.partitions_below("a")
    assert listed(storage).count("a") == 1


def test_table_without_partition_fields_is_one_partition() -> None:
    view, storage = view_of("")
    assert view.partition_folders() == ("",)
    assert view.partitions_below("") == ("",)
    assert listed(storage) == []
