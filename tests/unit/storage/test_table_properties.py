"""`hoodie.properties` on storage: found, checked, changed so that no cut loses it, and recovered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pyhudi.errors import AlreadyExistsError, CorruptTableError, TableNotFound
from pyhudi.javacompat.properties import parse_properties
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import (
    BACKUP,
    PROPERTIES,
    create_properties,
    load_properties,
    recover_properties,
    store_properties,
)
from pyhudi.testing.crash_points import crash_points

NOW = datetime(2026, 12, 1, 4, 5, 47, tzinfo=UTC)
TRIPS = {"hoodie.table.name": "trips", "hoodie.table.version": "9", "unknown.key": "kept"}


@pytest.fixture
def storage() -> MemoryStorage:
    storage = MemoryStorage()
    create_properties(storage, TRIPS, NOW)
    return storage


def without_checksum(properties) -> dict[str, str]:
    return {name: value for name, value in properties.items() if name != "hoodie.table.checksum"}


def test_created_properties_load_with_a_checksum(storage) -> None:
    loaded = load_properties(storage)
    assert without_checksum(loaded) == TRIPS
    assert loaded["hoodie.table.checksum"].isdigit()


def test_second_creation_fails(storage) -> None:
    with pytest.raises(AlreadyExistsError):
        create_properties(storage, TRIPS, NOW)


def test_folder_without_properties_is_no_table() -> None:
    storage = MemoryStorage()
    with pytest.raises(TableNotFound, match=storage.uri):
        load_properties(storage)


def test_change_keeps_all_other_keys_and_removes_the_named(storage) -> None:
    changed = store_properties(storage, {"hoodie.table.cdc.enabled": "true"}, NOW, remove=["hoodie.table.version"])
    assert without_checksum(changed) == {
        "hoodie.table.name": "trips",
        "unknown.key": "kept",
        "hoodie.table.cdc.enabled": "true",
    }
    assert load_properties(storage) == changed
    assert [status.name for status in storage.list(".hoodie")] == ["hoodie.properties"]
    assert storage.read(PROPERTIES).startswith(b"#Updated at 2026-12-01T04:05:47")


def test_change_of_the_name_changes_the_checksum(storage) -> None:
    before = load_properties(storage)["hoodie.table.checksum"]
    assert store_properties(storage, {"hoodie.table.name": "rides"}, NOW)["hoodie.table.checksum"] != before
    assert load_properties(storage)["hoodie.table.name"] == "rides"


@pytest.mark.parametrize("damaged", [b"", b"#only a comment\n", b"hoodie.table.name=trips\nhoodie.table.checksum=1\n"])
def test_damaged_properties_are_read_from_the_backup(storage, damaged) -> None:
    storage.create(BACKUP, storage.read(PROPERTIES))
    storage.replace(PROPERTIES, damaged)
    assert load_properties(storage)["unknown.key"] == "kept"
    recover_properties(storage)
    assert storage.stat(BACKUP) is None
    assert load_properties(storage)["unknown.key"] == "kept"


def test_missing_properties_are_read_from_the_backup_and_recovered(storage) -> None:
    storage.create(BACKUP, storage.read(PROPERTIES))
    storage.delete(PROPERTIES)
    assert load_properties(storage)["unknown.key"] == "kept"
    recover_properties(storage)
    assert [status.name for status in storage.list(".hoodie")] == ["hoodie.properties"]


def test_backup_beside_valid_properties_is_dropped(storage) -> None:
    storage.create(BACKUP, b"hoodie.table.name=old\n")
    recover_properties(storage)
    assert storage.stat(BACKUP) is None
    assert load_properties(storage)["hoodie.table.name"] == "trips"


def test_two_damaged_files_are_left_as_they_are(storage) -> None:
    storage.create(BACKUP, b"")
    storage.replace(PROPERTIES, b"\x00")
    for read in (recover_properties, load_properties):
        with pytest.raises(CorruptTableError):
            read(storage)
    assert storage.read(PROPERTIES) == b"\x00"
    assert storage.read(BACKUP) == b""


def test_every_proper_prefix_is_refused_or_whole(storage) -> None:
    whole = storage.read(PROPERTIES)
    entries = parse_properties(whole)
    for length in range(len(whole)):
        storage.replace(PROPERTIES, whole[:length])
        try:
            loaded = load_properties(storage)
        except CorruptTableError:
            continue
        assert set(loaded) <= {*entries, *(name[:cut] for name in entries for cut in range(len(name)))}
        assert loaded["hoodie.table.name"] in ("trips", "trip", "tri", "tr", "t")


def test_change_cut_anywhere_leaves_the_old_or_the_new_properties(storage) -> None:
    old = load_properties(storage)
    new = {**old, "added": "1"}
    for run in crash_points(lambda cut: store_properties(cut, {"added": "1"}, NOW), storage.copy):
        properties = load_properties(run.storage)
        assert properties in (old, new), run.point
        assert properties == new or not run.returned, run.point
        again = store_properties(run.storage, {"more": "2"}, NOW)
        assert again == {**properties, "more": "2"}, run.point
        assert run.storage.stat(BACKUP) is None, run.point


def test_creation_cut_anywhere_leaves_a_whole_table_or_none() -> None:
    for run in crash_points(lambda cut: create_properties(cut, TRIPS, NOW), MemoryStorage):
        try:
            assert without_checksum(load_properties(run.storage)) == TRIPS
        except TableNotFound:
            create_properties(run.storage, TRIPS, NOW)
