"""`HudiTable.inspect`: the files of a table, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.tables import unpack

TABLE = "cow/v9_txns_simple_nometa"


def test_the_files_of_the_current_state_hold_its_rows(fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(TABLE))
    files = table.inspect.files().to_pylist()
    read = set(table.to_arrow(columns=["_hoodie_file_name"])["_hoodie_file_name"].to_pylist())
    assert read <= {Path(row["path"]).name for row in files}
    assert all((fixture_table(TABLE) / row["path"]).stat().st_size == row["bytes"] for row in files)


def test_partitions_sum_up_their_files(fixture_table: Callable[[str], Path]) -> None:
    inspect = HudiTable.open(fixture_table(TABLE)).inspect
    partitions, files = inspect.partitions().to_pylist(), inspect.files().to_pylist()
    assert [row["partition_path"] for row in partitions] == ["region=apac", "region=eu", "region=us"]
    assert sum(row["bytes"] for row in partitions) == sum(row["bytes"] for row in files)
    assert sum(row["files"] for row in partitions) == len(files)


def test_slices_show_older_versions_behind_the_latest(fixture_table: Callable[[str], Path]) -> None:
    slices = HudiTable.open(fixture_table("apache_hudi/sql_operations_v9")).inspect.slices().to_pylist()
    assert any(not row["latest"] for row in slices)
    for row in slices:
        same = [other for other in slices if other["file_id"] == row["file_id"]]
        assert row["latest"] == (row["base_instant"] == max(other["base_instant"] for other in same))


@pytest.mark.parametrize("name", ["mor/avro/v8_trips_8i3u1d", "mor/parquet/v6_nonpartitioned"])
def test_slices_name_their_log_files(name: str, fixture_table: Callable[[str], Path]) -> None:
    slices = HudiTable.open(fixture_table(name)).inspect.slices().to_pylist()
    assert any(row["log_files"] and row["log_bytes"] > 0 for row in slices)


def test_column_stats_bound_the_values(fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(TABLE))
    stats = [row for row in table.inspect.column_stats().to_pylist() if row["column"] == "txn_id"]
    values = table.to_arrow(columns=["txn_id"])["txn_id"].to_pylist()
    assert min(row["min"] for row in stats) == min(values)
    assert max(row["max"] for row in stats) == max(values)
    assert sum(row["rows"] for row in stats) == len(values)


def test_a_sound_table_has_no_problems(fixture_table: Callable[[str], Path]) -> None:
    assert HudiTable.open(fixture_table(TABLE)).inspect.health().num_rows == 0


def test_a_commit_that_was_completed_twice_is_told(fixture_table: Callable[[str], Path]) -> None:
    [problem] = HudiTable.open(fixture_table("apache_hudi/expired_v9")).inspect.health().to_pylist()
    assert problem["check"] == "completed once"
    assert "replacecommit completed at" in problem["problem"]


def test_a_pending_write_is_a_problem(fixture_table: Callable[[str], Path]) -> None:
    [problem] = HudiTable.open(fixture_table("apache_hudi/pending_write_v9")).inspect.health().to_pylist()
    assert problem["check"] == "nothing pending"


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_file_is_a_problem(damage: str, tmp_path: Path) -> None:
    path = unpack("apache_hudi/sql_operations_v9", tmp_path)
    table = HudiTable.open(path)
    file = path / max(table.inspect.files().to_pylist(), key=lambda row: row["instant"])["path"]
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    else:
        file.unlink()
    problems = table.inspect.health().to_pylist()
    assert any(file.name in row["subject"] for row in problems)


@pytest.mark.parametrize("name", ["apache_hudi/merge_on_read_avro_blocks_v6", "apache_hudi/merge_on_read_parquet_blocks_v9"])
def test_a_sound_table_with_log_files_has_no_problems(name: str, fixture_table: Callable[[str], Path]) -> None:
    assert HudiTable.open(fixture_table(name)).inspect.health().to_pylist() == []


def test_a_pending_compaction_is_told_to_be_run(fixture_table: Callable[[str], Path]) -> None:
    [problem] = HudiTable.open(fixture_table("apache_hudi/merge_on_read_pending_compaction_v9")).inspect.health().to_pylist()
    assert problem["check"] == "nothing pending"
    assert "compact()" in problem["problem"]


def test_files_show_bases_and_logs_of_the_latest_slices(fixture_table: Callable[[str], Path]) -> None:
    inspect = HudiTable.open(fixture_table("apache_hudi/merge_on_read_pending_compaction_v6")).inspect
    latest = [row for row in inspect.slices().to_pylist() if row["latest"]]
    files = inspect.files().to_pylist()
    assert sorted(Path(row["path"]).name for row in files if row["kind"] == "log") == sorted(
        log for row in latest for log in row["log_files"]
    )
    assert sorted(Path(row["path"]).name for row in files if row["kind"] == "base") == sorted(row["base_file"] for row in latest)
    assert sum(row["bytes"] for row in files) == sum(row["base_bytes"] + row["log_bytes"] for row in latest)


def test_a_lost_base_file_under_logs_is_a_problem(tmp_path: Path) -> None:
    path = unpack("apache_hudi/merge_on_read_avro_blocks_v6", tmp_path)
    table = HudiTable.open(path)
    merged = next(row for row in table.inspect.slices().to_pylist() if row["latest"] and row["log_files"])
    (path / merged["partition_path"] / merged["base_file"]).unlink()
    problems = table.inspect.health().to_pylist()
    assert any(row["check"] == "base file is there" and merged["base_file"] in row["problem"] for row in problems)
