"""Metadata tables of version 6 that Hudi 1.2.0 and 0.15.0 kept, decoded whole: they say what listing, footers and rows say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from pyhudi import HudiTable
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format.metadata_partitions import FILES
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, MetadataRecord
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.metadata_view import MetadataView, open_view
from tests.unit.metadata_table.tables import open_metadata
from tests.unit.metadata_table.test_view import slices_by_path
from tests.unit.service.test_indexes import placed

NAMES = pytest.mark.parametrize("name", ["metadata_tables/hudi_1_2_0_v6", "metadata_tables/hudi_0_15_0_v6"])
Fixture = Callable[[str], Path]
Slices = dict[str, list[tuple[str, str, str | None, list[str]]]]
R = TypeVar("R", bound=MetadataRecord)


@NAMES
def test_files_and_statistics_are_those_of_listing_and_footers(fixture_table: Fixture, name: str) -> None:
    path = fixture_table(name)
    storage, config, timeline, metadata = open_metadata(path)
    assert metadata.partitions == ("bloom_filters", "column_stats", FILES, "record_index")
    assert metadata.missing_instants == ()
    assert HudiTable.open(path).inspect.health().to_pylist() == []
    known = {(stats.file_name, stats.column) for stats in records(metadata, "column_stats", ColumnStats).values() if not stats.is_deleted}
    bases = [file for folder in metadata.partition_paths() for file in FileSystemView(storage, config, timeline).latest_base_files(folder)]
    assert bases
    assert {(str(file.name), column) for file in bases for column in ("id", "city", "amount", "price")} <= known


@NAMES
def test_bloom_filters_are_those_of_the_footers(fixture_table: Fixture, name: str) -> None:
    storage, config, timeline, metadata = open_metadata(fixture_table(name))
    filters = records(metadata, "bloom_filters", BloomFilterRecord)
    for folder in metadata.partition_paths():
        for file in FileSystemView(storage, config, timeline).latest_base_files(folder):
            with open_parquet(storage, file.path) as parquet:
                expected = footer_entries(parquet, storage, file.path)["org.apache.hudi.bloomfilter"]
            assert filters[keys.bloom_filter_key(folder, str(file.name))].text.decode() == expected


@NAMES
def test_record_index_holds_each_row_where_it_is(fixture_table: Fixture, name: str) -> None:
    path = fixture_table(name)
    metadata, rows = open_metadata(path)[3], placed(HudiTable.open(path))
    result = metadata.record_locations([key for key, _ in metadata.partition("record_index").scan()])
    assert {(key, index.partition_path, index.file_id) for key, indices in result.items() for index in indices} == rows


@NAMES
def test_readers_go_by_it_now_and_in_the_past(fixture_table: Fixture, name: str) -> None:
    storage, config, timeline, _ = open_metadata(fixture_table(name))
    for instant in timeline.data_instants():
        view = open_view(storage, config, timeline.as_of(instant.requested))
        assert isinstance(view, MetadataView)
        by_listing = slices_by_path(FileSystemView(storage, config, timeline.as_of(instant.requested)))
        assert without_sizes(slices_by_path(view)) == without_sizes(by_listing)


def records(metadata: MetadataTable, name: str, kind: type[R]) -> dict[str, R]:
    rows = dict(metadata.partition(name).scan())
    assert all(isinstance(record, kind) for record in rows.values())
    return {key: record for key, record in rows.items() if isinstance(record, kind)}


def without_sizes(slices: Slices) -> Slices:
    """Hudi 0.15 lists log files of a failed write with one byte each, of which nothing counts."""
    result = (
        (path, [(*file_slice[:3], [log.split(" ")[0] for log in file_slice[3]]) for file_slice in file_slices])
        for path, file_slices in slices.items()
    )
    return {path: file_slices for path, file_slices in result if file_slices}
