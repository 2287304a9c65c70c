"""A view by the metadata table shows what a view by listing shows, and lists where it cannot be trusted."""

from __future__ import annotations

import logging

import pytest

from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.read.metadata_view import MetadataView, open_view
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.testing.call_log import RecordingStorage
from tests.unit.crash.tables import stored_table
from tests.unit.metadata_table.replays import prepared, timeline_of
from tests.unit.metadata_table.tables import WITH_METADATA_TABLE, open_metadata

NOT_LANCE = [name for name in WITH_METADATA_TABLE if "lance" not in name]


@pytest.fixture
def storage() -> MemoryStorage:
    table, _ = stored_table()
    prepared(table, timeline_of(table))
    return table


def config_of(storage) -> TableConfig:
    return TableConfig(load_properties(storage))


def slices_by_path(view: FileSystemView) -> dict[str, list[tuple[str, str, str | None, list[str]]]]:
    return {path: [described(slice_) for slice_ in view.latest_slices(path)] for path in view.partition_paths()}


def described(slice_: FileSlice) -> tuple[str, str, str | None, list[str]]:
    base = slice_.base and f"{slice_.base.path} {slice_.base.size}"
    return slice_.group.file_id, slice_.base_instant, base, [f"{log.path} {log.size}" for log in slice_.logs]  # type: ignore[return-value]


@pytest.mark.parametrize("name", NOT_LANCE)
def test_slices_are_those_of_a_listing(fixture_table, name) -> None:
    storage, config, timeline, _ = open_metadata(fixture_table(name))
    view = open_view(storage, config, timeline)
    assert isinstance(view, MetadataView)
    by_listing = FileSystemView(storage, config, timeline)
    assert slices_by_path(view) == slices_by_path(by_listing)
    for instant in timeline.data_instants():
        past = timeline.as_of(instant.requested)
        by_listing = FileSystemView(storage, config, past)
        # A folder whose files are all of later commits is a partition to a listing already.
        expected = {path: slices for path, slices in slices_by_path(by_listing).items() if slices}
        assert {path: slices for path, slices in slices_by_path(open_view(storage, config, past)).items() if slices} == expected


@pytest.mark.parametrize("name", ["cow/v9_txns_simple_meta", "cow/v9_timebasedkeygen_nonhivestyle", "cow/v9_txns_nonpart_meta"])
def test_partitions_are_found_by_folder_too(fixture_table, name) -> None:
    storage, config, timeline, _ = open_metadata(fixture_table(name))
    view, by_listing = open_view(storage, config, timeline), FileSystemView(storage, config, timeline)
    assert [view.partitions_below(folder) for folder in view.partition_folders()] == [
        by_listing.partitions_below(folder) for folder in view.partition_folders()
    ]
    assert sorted(path for folder in view.partition_folders() for path in view.partitions_below(folder)) == sorted(view.partition_paths())


def test_no_folder_of_the_table_is_listed(storage) -> None:
    recorded = RecordingStorage(storage)
    slices_by_path(open_view(recorded, config_of(storage), timeline_of(storage)))
    assert [str(call) for call in recorded.calls if call.method == "list" and ".hoodie" not in str(call)] == []


def test_table_without_metadata_table_is_listed() -> None:
    table, _ = stored_table()
    assert type(open_view(table, config_of(table), timeline_of(table))) is CheckedView


def test_user_may_ask_for_listings(storage) -> None:
    assert type(open_view(storage, config_of(storage), timeline_of(storage), use_metadata_table=False)) is CheckedView


def test_missing_metadata_table_is_listed_with_a_warning(storage, caplog) -> None:
    expected = slices_by_path(FileSystemView(storage, config_of(storage), timeline_of(storage)))
    storage.delete_tree(FOLDER)
    with caplog.at_level(logging.WARNING):
        assert slices_by_path(open_view(storage, config_of(storage), timeline_of(storage))) == expected
    assert "is not used" in caplog.text


@pytest.mark.parametrize("first", ["partitions", "files"])
def test_metadata_table_that_turns_out_damaged_is_listed_with_a_warning(storage, caplog, first) -> None:
    expected = slices_by_path(FileSystemView(storage, config_of(storage), timeline_of(storage)))
    view = open_view(storage, config_of(storage), timeline_of(storage))
    (base,) = [file.path for file in storage.list(f"{FOLDER}/files") if file.name.endswith(".hfile")]
    storage.replace(base, storage.read(base)[:-1] + b"\7")
    with caplog.at_level(logging.WARNING):
        if first == "files":
            assert [described(slice_) for slice_ in view.latest_slices("oslo")] == expected["oslo"]
        assert slices_by_path(view) == expected
    assert caplog.text.count("is not used") == 1


def test_metadata_table_that_is_behind_is_listed_with_a_warning(storage, caplog) -> None:
    last = timeline_of(storage).data_instants()[-1]
    data = storage.read(f".hoodie/timeline/{last.file_name(2)}")
    storage.create(".hoodie/timeline/29990101000000000_29990101000000001.commit", data)
    with caplog.at_level(logging.WARNING):
        assert type(open_view(storage, config_of(storage), timeline_of(storage))) is CheckedView
    assert "29990101000000000" in caplog.text


def test_that_of_version_6_is_not_asked(storage) -> None:
    config = config_of(storage)
    older = TableConfig({**config.properties, "hoodie.table.version": "6", "hoodie.timeline.layout.version": "1"})
    assert type(open_view(storage, older, timeline_of(storage))) is CheckedView
