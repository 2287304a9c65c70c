"""Every metadata table of the fixtures is read whole and says what listing, footers and rows say."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq
import pytest

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.record import ColumnStats, RecordLocation
from pyhudi.spec.files.file_group import BaseFile
from tests.unit.metadata_table.tables import COMPARABLE, WITH_METADATA_TABLE, WITH_SECONDARY, listed, open_metadata


@pytest.mark.parametrize("name", WITH_METADATA_TABLE)
def test_files_equal_a_listing(fixture_table, name) -> None:
    storage, config, _, table = open_metadata(fixture_table(name))
    assert table.missing_instants == ()
    result = table.files_of(table.partition_paths())
    assert {path: {file.name: file.size for file in files} for path, files in result.items()} == listed(storage, config)


@pytest.mark.parametrize("name", WITH_METADATA_TABLE)
def test_every_record_of_every_partition_is_found_by_its_key(fixture_table, name) -> None:
    *_, table = open_metadata(fixture_table(name))
    for partition in table.partitions:
        everything = dict(table.partition(partition).scan())
        assert dict(table.partition(partition).get_many(everything)) == everything


@pytest.mark.parametrize("name", WITH_METADATA_TABLE)
def test_statistics_are_under_the_keys_that_their_names_hash_to(fixture_table, name) -> None:
    *_, table = open_metadata(fixture_table(name))
    folder_of = {file.name: path for path, files in table.files_of(table.partition_paths()).items() for file in files}
    for key, record in table.partition(partitions.COLUMN_STATS).scan():
        assert isinstance(record, ColumnStats)
        if not record.is_deleted:
            assert key == keys.column_stats_key(record.column, folder_of[record.file_name], record.file_name)
    if partitions.PARTITION_STATS in table.partitions:
        for key, record in table.partition(partitions.PARTITION_STATS).scan():
            assert isinstance(record, ColumnStats)
            assert key == keys.partition_stats_key(record.column, keys.partition_path(record.file_name))


def latest_files(base) -> list[BaseFile]:
    storage, config, timeline, table = open_metadata(base)
    view = FileSystemView(storage, config, timeline)
    return [file for path in table.partition_paths() for file in view.latest_base_files(path)]


@pytest.mark.parametrize("name", [name for name in COMPARABLE if "apache_hudi" not in name])
def test_record_index_says_where_each_row_is(fixture_table, name) -> None:
    base = fixture_table(name)
    *_, table = open_metadata(base)
    expected: dict[str, set[tuple[str, str]]] = {}  # a key inserted twice is in two files, the index knows one
    for file in latest_files(base):
        for key in pq.read_table(base / file.path, columns=["_hoodie_record_key"], partitioning=None).column(0).to_pylist():
            expected.setdefault(key, set()).add((file.partition_path, file.name.file_id))
    result = table.lookup_record_keys([*expected, "no such key"])
    assert result.keys() == expected.keys()
    assert all((index.partition_path, index.file_id) in expected[key] for key, index in result.items())
    assert Counter(type(record) for _, record in table.partition(partitions.RECORD_INDEX).scan()) == {RecordLocation: len(expected)}


@pytest.mark.parametrize("name", COMPARABLE)
def test_column_statistics_equal_the_rows(fixture_table, name) -> None:
    base = fixture_table(name)
    *_, table = open_metadata(base)
    for file in latest_files(base):
        rows = pq.read_table(base / file.path, partitioning=None)
        columns = [column for column in rows.column_names if column in {"_hoodie_record_key", "currency", "txn_id", "id", "name", "txn_ts"}]
        for column in columns:
            values = [value for value in rows.column(column).to_pylist() if value is not None]
            matches = [stats for stats in table.column_stats([column], file.partition_path) if stats.file_name == str(file.name)]
            if not rows.num_rows:  # a footer without row groups has no statistics
                assert matches == []
                continue
            (stats,) = matches
            assert (stats.minimum, stats.maximum) == (min(values, default=None), max(values, default=None))
            assert (stats.value_count, stats.null_count) == (len(rows), len(rows) - len(values))


@pytest.mark.parametrize("name", WITH_SECONDARY)
def test_secondary_index_finds_the_records_of_a_value(fixture_table, name) -> None:
    *_, table = open_metadata(fixture_table(name))
    index = "secondary_index_merchant_idx"
    expected: dict[str | None, set[str]] = {}
    for key, _ in table.partition(index).scan():
        value, record_key = keys.split_secondary_key(key)
        expected.setdefault(value, set()).add(record_key)
    record_keys = table.record_keys_of(index, [*expected, "no such merchant"])
    assert {value: set(records) for value, records in record_keys.items()} == expected
    assert set(table.lookup_record_keys(record for records in expected.values() for record in records)) == {
        record for records in expected.values() for record in records
    }


def test_secondary_index_of_version_8_is_found_in_all_file_groups(fixture_table) -> None:
    *_, table = open_metadata(fixture_table("mor/avro/v8_trips_8i3u1d"))
    record_keys = table.record_keys_of("secondary_index_rider_idx", ["rider-I"])
    assert record_keys == {"rider-I": ["3eeb61f7-c2b0-4636-99bd-5d7a5a1d2c04"]}
