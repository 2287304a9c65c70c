"""`table.inspect.health()` holds the metadata table against storage: each kind of difference is a row of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format.record import ColumnStats, FileEntry, FileList, MetadataRecord, RecordType
from pyhudi.metadata_table.read.writer_table import FOLDER, open_writer_table
from pyhudi.metadata_table.write.data_table_changes import Changes
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.storage.storage_protocol import Storage
from tests.unit.metadata_table.replays import contents, metadata_table, sources
from tests.unit.metadata_table.tables import WITH_METADATA_TABLE
from tests.unit.service.restore.test_restored_statistics import OpenedFiles

ROWS = pa.table({"id": [1, 2, 3, 4], "city": ["oslo", "oslo", "rome", "rome"], "value": [10, 20, 30, 40]})


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    made = HudiTable.create(tmp_path / "t", ROWS.schema, name="rides", keys=["id"], partition_by=["city"])
    made.insert(ROWS)
    made.upsert(ROWS.slice(0, 1))
    return made


def forge(storage: Storage, partition: str, records: dict[str, MetadataRecord]) -> None:
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    write_changes(mdt, mdt.next_time(), {partition: Changes(records)})


def slices(table: HudiTable) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = table.inspect.slices().to_pylist()
    return result


def checks(table: HudiTable) -> list[str]:
    result: list[str] = table.inspect.health()["check"].to_pylist()
    return result


def test_metadata_table_in_step_has_no_problem(table) -> None:
    assert checks(table) == []


def test_footer_of_each_base_file_is_read_once(table) -> None:
    storage = OpenedFiles(table.storage)
    assert HudiTable(storage).inspect.health().num_rows == 0
    assert sorted(storage.paths) == sorted(f"{row['partition_path']}/{row['base_file']}" for row in slices(table) if row["latest"])


def test_damage_of_a_base_file_is_told_with_and_without_its_statistics(table) -> None:
    path = next(f"{row['partition_path']}/{row['base_file']}" for row in slices(table) if row["latest"])
    table.storage.replace(path, b"rubbish" * 99)
    assert {("file is whole", path), ("metadata table is whole", "column_stats")} <= {
        (row["check"], row["subject"]) for row in table.inspect.health().to_pylist()
    }


@pytest.mark.parametrize("name", [name for name in WITH_METADATA_TABLE if "lance" not in name])
def test_metadata_tables_of_apache_hudi_have_no_problem(fixture_table, name) -> None:
    assert [check for check in checks(HudiTable.open(fixture_table(name))) if "metadata" in check or "statistics" in check] == []


@pytest.mark.parametrize(
    ("entry", "check"),
    [
        (FileEntry(0, is_deleted=True), "metadata table lists all files"),
        (FileEntry(1 << 40), "metadata table lists the right sizes"),
    ],
)
def test_file_that_is_listed_wrongly_is_found(table, entry, check) -> None:
    file = next(file for file in metadata_table(table.storage).files("rome"))
    forge(table.storage, "files", {"rome": FileList(RecordType.FILES, {file.name: entry})})
    assert checks(table) == [check]


def test_partition_that_is_not_listed_is_found(table) -> None:
    removed = FileList(RecordType.ALL_PARTITIONS, {"rome": FileEntry(0, is_deleted=True)})
    forge(table.storage, "files", {"__all_partitions__": removed})
    assert checks(table) == ["metadata table lists all partitions"]


def test_listed_file_that_is_missing_is_found(table) -> None:
    older = max(table.inspect.slices().to_pylist(), key=lambda row: not row["latest"])
    assert not older["latest"]
    table.storage.delete(f"{older['partition_path']}/{older['base_file']}")
    assert checks(table) == ["files that the metadata table lists are there"]


@pytest.mark.parametrize(
    ("partition", "check"),
    [("column_stats", "column statistics are those of the file"), ("partition_stats", "partition statistics hold all rows")],
)
def test_statistics_that_would_hide_rows_are_found(table, partition, check) -> None:
    mdt = metadata_table(table.storage)
    matches = {key: record for key, record in mdt.partition(partition).scan() if isinstance(record, ColumnStats)}
    key, stats = next((key, one) for key, one in matches.items() if one.column == "value" and one.maximum == 40)
    forge(table.storage, partition, {key: replace(stats, maximum=39, is_tight_bound=True)})
    assert checks(table) == [check]


def test_metadata_table_that_is_missing_is_told(table) -> None:
    table.storage.delete_tree(FOLDER)
    assert checks(table) == ["metadata table is whole"]


def test_damaged_metadata_table_is_told(table) -> None:
    for file in table.storage.list(f"{FOLDER}/files"):
        if ".log." in file.name:
            table.storage.replace(file.path, b"rubbish")
    assert "metadata table is whole" in checks(table)


def test_rebuilding_fixes_what_is_found(table) -> None:
    forge(table.storage, "files", {"rome": FileList(RecordType.FILES, {"gone.parquet": FileEntry(7)})})
    table.storage.delete_tree(f"{FOLDER}/column_stats")
    assert checks(table) != []
    assert checks(table) != []
    assert set(table.services.index(rebuild=True).built) == {"column_stats", "files", "partition_stats"}
    assert checks(table) == []


def test_bounds_that_hold_everything_are_right_and_narrower_ones_are_not(tmp_path) -> None:
    schema = pa.schema({"id": pa.string(), "f": pa.float64(), "t": pa.string()})
    made = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"])
    made.insert([{"id": "a", "f": float("nan"), "t": "z" * 5000}, {"id": "b", "f": 1.5, "t": "a"}])
    assert checks(made) == []
    result = contents(made.storage)["column_stats"]
    by_column = {stats.column: (key, stats) for key, stats in result.items()}
    key, stats = by_column["f"]
    assert (stats.minimum, stats.maximum) == (1.5, float("inf"))
    for forged, problems in ((replace(stats, minimum=float("-inf")), 0), (replace(stats, maximum=1.5), 1)):
        forge(made.storage, "column_stats", {key: replace(stats, is_deleted=True)})  # else the two would be united
        forge(made.storage, "column_stats", {key: forged})
        assert checks(made) == ["column statistics are those of the file"] * problems


def test_zeros_that_apache_hudi_states_of_nulls_are_no_problem(tmp_path: Path) -> None:
    made = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "value": pa.int64()}), name="rides", keys=["id"])
    made.insert([{"id": 1, "value": None}], {"hoodie.metadata.enable": "true"})
    (stats,) = metadata_table(made.storage).column_stats(["value"])
    key = keys.column_stats_key("value", "", stats.file_name)
    nothing_more = {"value_count": 0, "null_count": 0, "total_size": 0, "total_uncompressed_size": 0}
    forge(made.storage, "column_stats", {key: replace(stats, minimum=0, maximum=0, **nothing_more)})  # type: ignore[arg-type]
    assert checks(made) == []
