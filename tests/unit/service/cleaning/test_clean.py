"""Cleans of small tables: what goes under each policy, what is protected, and what readers of older states get."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

from pyhudi.cache import LruCache
from pyhudi.errors import OptionError, UsageError
from pyhudi.service.cleaning import clean_plan, touched_partitions
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_written_paths
from pyhudi.timeline.timeline import Timeline
from tests.unit.crash.tables import SCHEMA
from tests.unit.service.cleaning.clean_tables import OFF, clean, cleans, files, metadata_agrees, new_table, upsert


def test_states_of_the_last_commits_stay_readable_and_older_ones_name_the_earliest() -> None:
    table = new_table(MemoryStorage())
    times = [upsert(table, value) for value in range(7)]
    assert len(files(table.storage)) == 7
    assert clean(table, commits__retained="3") == [3]
    assert len(files(table.storage)) == 4  # the state at the earliest retained commit was written by the one before, or by itself
    for value in range(4, 7):
        assert table.to_arrow(as_of=times[value])["value"].to_pylist() == [value]
    for value in range(3):
        with pytest.raises(UsageError, match=times[4]):
            table.to_arrow(as_of=times[value])
    assert table.to_arrow(as_of="20000101000000000").num_rows == 0  # before the first commit the table was empty
    metadata_agrees(table)
    assert clean(table, commits__retained="3") == []


def test_dry_run_names_files_and_bytes_and_deletes_nothing() -> None:
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    before = files(table.storage)
    (planned,) = table.services.clean(options={"hoodie.clean.commits.retained": "1"}, dry_run=True)
    assert (planned.state, planned.instant, planned.total_files) == ("planned", None, 4)
    sizes = {one.name: one.size for one in table.storage.list("oslo")}
    assert planned.total_bytes == sum(sizes[name] for name in planned.files["oslo"])
    assert files(table.storage) == before
    assert cleans(table) == []
    assert str(planned).startswith("clean (KEEP_LATEST_COMMITS) planned: 4 files")
    assert planned.to_dict()["total_files"] == 4
    (done,) = table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    assert (done.state, done.files) == ("completed", planned.files)
    assert f"completed: 4 files, {planned.total_bytes} bytes; states" in str(done)


def test_a_clean_that_another_process_planned_tells_no_bytes() -> None:
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    table.services.clean(options={"hoodie.clean.commits.retained": "1"}, mode="schedule")
    (done,) = table.services.clean(mode="execute")
    assert "completed: 4 files; states" in str(done)


def test_writes_clean_by_default_and_log_the_first_time(caplog: pytest.LogCaptureFixture) -> None:
    table = new_table(MemoryStorage())
    for value in range(25):
        upsert(table, value)
    with caplog.at_level(logging.WARNING, "pyhudi"):
        upsert(table, 25, hoodie__clean__automatic="true")
    assert "first clean of table" in caplog.text
    assert "hoodie.clean.automatic=false" in caplog.text
    assert len(files(table.storage)) == 11
    caplog.clear()
    for value in range(26, 30):
        upsert(table, value, hoodie__clean__automatic="true")
        assert len(files(table.storage)) == 11
    assert "first clean" not in caplog.text
    assert table.to_arrow()["value"].to_pylist() == [29]
    metadata_agrees(table)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_each_kind_of_table_keeps_its_rows(table_type: str, version: str) -> None:
    table = new_table(MemoryStorage(), table_type=table_type, hoodie__write__table__version=version)
    options = {
        "hoodie__clean__automatic": "true",
        "hoodie__clean__commits__retained": "2",
        "hoodie__compact__inline": "true",
        "hoodie__compact__inline__max__delta__commits": "2",
    }
    for value in range(12):
        upsert(table, value, ids=(1, 2, 3), **options)
        upsert(table, value, ids=(4,), city="rome", **options)
        assert sorted(table.to_arrow()["value"].to_pylist()) == [value] * 4
    assert len(files(table.storage)) <= 12
    metadata_agrees(table)


def test_file_versions_count_slices_of_each_file_group() -> None:
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    upsert(table, 1, city="rome")
    assert clean(table, fileversions__retained="2") == [3]
    assert (len(files(table.storage)), len(files(table.storage, "rome"))) == (2, 1)
    metadata_agrees(table)


def test_states_that_a_clean_by_versions_broke_are_refused_and_others_read() -> None:
    table = new_table(MemoryStorage())
    times = [upsert(table, value) for value in range(4)]
    clean(table, fileversions__retained="2")
    for value in (2, 3):
        assert table.to_arrow(as_of=times[value])["value"].to_pylist() == [value]
    for value in (0, 1):
        with pytest.raises(UsageError, match=times[3]):
            table.to_arrow(as_of=times[value])


def test_retaining_more_afterwards_does_not_bring_older_states_back() -> None:
    table = new_table(MemoryStorage())
    times = [upsert(table, value) for value in range(6)]
    clean(table, commits__retained="1")
    upsert(table, 6)
    upsert(table, 7)
    clean(table, commits__retained="7", incremental__enabled="false")
    with pytest.raises(UsageError, match="cannot be read as of"):
        table.to_arrow(as_of=times[2])


def test_hours_are_counted_from_now() -> None:
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    assert clean(table, hours__retained="1") == []  # all commits are of this hour


def test_dropped_partition_goes_with_its_folder_when_it_leaves_retention() -> None:
    table = new_table(MemoryStorage())
    upsert(table, 1, city="rome")
    upsert(table, 1)
    table.delete(partitions=["rome"], options=OFF)
    upsert(table, 2)
    assert clean(table, commits__retained="2") == []
    upsert(table, 3)
    (result,) = table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    assert result.partitions == ("rome",)
    assert table.storage.list("rome") == []
    metadata_agrees(table)
    upsert(table, 4, city="rome")
    assert sorted(table.to_arrow()["value"].to_pylist()) == [3, 4]
    metadata_agrees(table)


def test_folder_of_a_dropped_partition_stays_when_somebody_writes_into_it_again() -> None:
    table = new_table(MemoryStorage())
    upsert(table, 1, city="rome")
    table.delete(partitions=["rome"], options=OFF)
    upsert(table, 2, city="rome")
    upsert(table, 3)
    (result,) = table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    assert (result.partitions, result.total_files) == ((), 1)
    assert sorted(table.to_arrow()["value"].to_pylist()) == [2, 3]
    metadata_agrees(table)


def test_table_that_only_grows_records_every_ten_commits_that_nothing_is_to_be_deleted() -> None:
    table = new_table(MemoryStorage())
    for value in range(30):
        rows = pa.Table.from_pylist([{"id": value, "city": "oslo", "value": value}], schema=SCHEMA)
        table.bulk_insert(rows, options={"hoodie.clean.commits.retained": "2"})
    assert 1 <= len(cleans(table)) <= 3
    assert table.count() == 30
    first = table.history()["requested"][0].as_py()
    assert table.count(as_of=first) == 1  # nothing was deleted, so all states can be read
    metadata_agrees(table)


def test_empty_cleans_can_be_switched_off() -> None:
    table = new_table(MemoryStorage())
    for value in range(15):
        rows = pa.Table.from_pylist([{"id": value, "city": "oslo", "value": value}], schema=SCHEMA)
        table.bulk_insert(rows, options={"hoodie.clean.commits.retained": "2", "hoodie.write.empty.clean.interval.hours": "-1"})
    assert cleans(table) == []


def test_filters_of_partitions_need_a_full_plan() -> None:
    table = new_table(MemoryStorage())
    for value in range(4):
        upsert(table, value)
        upsert(table, value, city="rome")
    with pytest.raises(OptionError, match="incremental"):
        clean(table, partition__filter__selected="rome")
    assert clean(table, partition__filter__selected="rome", incremental__enabled="false", commits__retained="1") == [2]
    assert (len(files(table.storage)), len(files(table.storage, "rome"))) == (4, 2)
    upsert(table, 4)
    assert clean(table, commits__retained="1") == [4]  # incremental, but the last clean left partitions out
    upsert(table, 5)
    upsert(table, 5, city="rome")
    assert clean(table, partition__filter__regex="os.*", incremental__enabled="false", commits__retained="1") == [2]


@pytest.mark.parametrize(
    "key", ["commits.retained", "hours.retained", "fileversions.retained", "trigger.max.commits", "max.commits.to.clean"]
)
@pytest.mark.parametrize("value", ["0", "-1"])
def test_retention_of_nothing_is_refused(key: str, value: str) -> None:
    table = new_table(MemoryStorage())
    with pytest.raises(OptionError, match=key):
        table.services.clean(options={f"hoodie.clean.{key}": value})


def test_one_clean_goes_so_many_commits_further() -> None:
    table = new_table(MemoryStorage())
    for value in range(9):
        upsert(table, value)
    assert clean(table, commits__retained="1", max__commits__to__clean="3") == [2]
    assert clean(table, commits__retained="1", max__commits__to__clean="3") == []  # not due: no commit since
    upsert(table, 9)
    assert clean(table, commits__retained="1", max__commits__to__clean="3") == [3]


@pytest.mark.parametrize(("cities_after", "commits_read", "obsolete"), [(("oslo", "rome"), 1, 12), (("oslo",), 6, 7)])
def test_commits_are_read_until_all_partitions_are_touched(
    cities_after: tuple[str, ...], commits_read: int, obsolete: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(touched_partitions, "_MANY", 1)
    read: list[str] = []

    def count(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CommitMetadata:
        read.append(instant.requested)
        return load_written_paths(storage, config, timeline, instant)

    monkeypatch.setattr(touched_partitions, "load_written_paths", count)
    table = new_table(MemoryStorage())

    def upsert_all(value: int, cities: tuple[str, ...]) -> None:
        rows = [{"id": number, "city": city, "value": value} for number, city in enumerate(cities)]
        table.upsert(pa.Table.from_pylist(rows, schema=SCHEMA), options=OFF)

    for value in range(3):
        upsert_all(value, ("oslo", "rome"))
    assert clean(table, commits__retained="1") == [2]
    for value in range(6):
        upsert_all(value, cities_after)
    monkeypatch.setattr(touched_partitions, "_TOUCHED", LruCache(8))  # another process cleans
    monkeypatch.setattr(clean_plan, "_SEARCHED", LruCache(8))
    retained = {"hoodie.clean.commits.retained": "1"}
    (full,) = table.services.clean(options={**retained, "hoodie.clean.incremental.enabled": "false"}, dry_run=True)
    assert not read
    (incremental,) = table.services.clean(options=retained, dry_run=True)
    assert len(read) == commits_read
    assert incremental.files == full.files
    assert full.total_files == obsolete


def test_clean_waits_for_its_trigger() -> None:
    table = new_table(MemoryStorage())
    for value in range(4):
        upsert(table, value)
    assert clean(table, commits__retained="1") == [2]
    upsert(table, 4)
    assert clean(table, commits__retained="1", trigger__max__commits="2") == []
    upsert(table, 5)
    assert clean(table, commits__retained="1", trigger__max__commits="2") == [2]


def test_change_logs_go_with_their_file_slice() -> None:
    table = new_table(MemoryStorage(), hoodie__table__cdc__enabled="true")
    for value in range(6):
        upsert(table, value, ids=(1, 2))
    logs = [one.name for one in table.storage.list("oslo") if one.name.endswith("cdc")]
    assert len(logs) == 5
    clean(table, commits__retained="2")
    assert [one.name for one in table.storage.list("oslo") if one.name.endswith("cdc")] == logs[-3:]
    metadata_agrees(table)


def test_purge_deletes_dropped_partitions_at_once_and_nothing_else() -> None:
    table = new_table(MemoryStorage())
    for value in range(3):
        upsert(table, value)
        upsert(table, value, city="rome")
        upsert(table, value, city="ro,me")
    assert table.services.purge(["rome"]) == ()
    table.delete(partitions=["rome", "ro,me"], options=OFF)
    (result,) = table.services.purge(["ro,me"])
    assert (result.partitions, result.total_files) == (("ro,me",), 3)
    assert (len(files(table.storage)), len(files(table.storage, "rome"))) == (3, 3)
    assert table.count() == 1
    metadata_agrees(table)
