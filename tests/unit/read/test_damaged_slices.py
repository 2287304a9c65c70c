"""Merge-on-read tables with files gone, cut or foreign: the right rows or one typed error that names the file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError
from tests.tables import unpack

VERSIONS = [
    "apache_hudi/merge_on_read_avro_blocks_v6",
    "apache_hudi/merge_on_read_parquet_blocks_v8",
    "apache_hudi/merge_on_read_avro_blocks_v9",
]


@pytest.fixture
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(request.param, tmp_path)


def rows(path: Path) -> pa.Table:
    return HudiTable.open(path).to_arrow().sort_by("id")


def files(path: Path, kind: str) -> list[Path]:
    """The files of a kind in the slices that have logs."""
    table = HudiTable.open(path)
    merged = {row["file_id"] for row in table.inspect.slices().to_pylist() if row["latest"] and row["log_files"]}
    return [path / row["path"] for row in table.inspect.files().to_pylist() if row["kind"] == kind and row["file_id"] in merged]


@pytest.mark.parametrize("table", ["apache_hudi/merge_on_read_avro_blocks_v6"], indirect=True)
def test_logs_whose_base_file_is_missing_are_an_error_that_names_it(table: Path) -> None:
    base = files(table, "base")[0]
    base.unlink()
    with pytest.raises(CorruptTableError, match=base.name):
        rows(table)
    with pytest.raises(CorruptTableError, match=base.name):
        HudiTable.open(table).count()


@pytest.mark.parametrize("table", ["apache_hudi/merge_on_read_compacted_v6"], indirect=True)
def test_logs_of_a_lost_base_file_do_not_join_the_slice_before(table: Path) -> None:
    base = files(table, "base")[0]
    older = [other for other in base.parent.glob(f"{base.name.partition('_')[0]}*.parquet") if other.name < base.name]
    base.unlink()
    with pytest.raises(CorruptTableError, match=base.name):
        rows(table)
    assert older


@pytest.mark.parametrize(
    "table", ["apache_hudi/merge_on_read_log_only_inmemory_v6", "apache_hudi/merge_on_read_log_only_inmemory_v9"], indirect=True
)
def test_logs_that_never_had_a_base_file_are_read(table: Path) -> None:
    assert rows(table).num_rows > 0
    assert HudiTable.open(table).to_arrow(mode="read_optimized").num_rows == 0


def test_base_file_that_goes_between_listing_and_reading_is_named(tmp_path: Path) -> None:
    path = unpack("apache_hudi/merge_on_read_avro_blocks_v9", tmp_path)
    batches = HudiTable.open(path).to_batches()  # has listed the table
    for base in files(path, "base"):
        base.unlink()
    with pytest.raises(CorruptTableError, match=r"\.parquet' .*is not there"):
        batches.read_all()


@pytest.mark.parametrize("table", VERSIONS, indirect=True)
def test_log_file_cut_anywhere_gives_older_rows_or_an_error_that_names_it(table: Path) -> None:
    log = max(files(table, "log"), key=lambda file: file.stat().st_size)
    whole, ids = log.read_bytes(), set(rows(table)["id"].to_pylist())
    before = set(HudiTable.open(table).to_arrow(mode="read_optimized")["id"].to_pylist())
    for end in range(0, len(whole), max(1, len(whole) // 16)):
        log.write_bytes(whole[:end])
        try:
            assert set(rows(table)["id"].to_pylist()) <= ids | before
        except HudiError as error:
            assert log.name in str(error)  # noqa: PT017 - both are right, depending on the cut


@pytest.mark.parametrize("table", VERSIONS, indirect=True)
def test_log_file_of_another_table_under_its_own_name_changes_nothing(table: Path, tmp_path: Path) -> None:
    expected = rows(table)
    other = unpack("apache_hudi/merge_on_read_commit_time_v9", tmp_path)
    shutil.copy(files(other, "log")[0], files(table, "log")[0].parent)
    assert rows(table).equals(expected)


@pytest.mark.parametrize("table", VERSIONS[1:], indirect=True)
def test_log_file_whose_blocks_are_of_another_table_is_an_error_that_names_it(table: Path, tmp_path: Path) -> None:
    other = unpack("mor/avro/v6_trips_8i1u", tmp_path)
    log = files(table, "log")[-1]
    log.write_bytes(files(other, "log")[0].read_bytes())
    with pytest.raises(CorruptTableError, match=log.name):
        rows(table)


@pytest.mark.parametrize("table", VERSIONS[:1], indirect=True)
def test_version_6_passes_over_blocks_of_instants_that_are_not_the_tables(table: Path, tmp_path: Path) -> None:
    expected = HudiTable.open(table).count()
    log = max(files(table, "log"), key=lambda file: file.name)
    later = unpack("apache_hudi/merge_on_read_commit_time_v6", tmp_path)
    shutil.copy(files(later, "log")[0], log.with_name(log.name.replace(".log.", ".log.9")))
    assert HudiTable.open(table).count() == expected


def test_log_of_an_archived_instant_is_read_with_the_slice_that_it_completed_in(tmp_path: Path) -> None:
    """Its writer began before the base file's and ended after it (R04)."""
    path = unpack("apache_hudi/merge_on_read_v9", tmp_path)
    expected = rows(path)
    timeline = path / ".hoodie" / "timeline"
    first, last = sorted(file.name.split("_")[0] for file in timeline.glob("*_*.deltacommit"))
    earlier, completed = str(int(first) - 1), next(timeline.glob(f"{last}_*")).stem.split("_")[1]
    for log in files(path, "log"):
        log.with_name(log.name.replace(last, earlier)).write_bytes(log.read_bytes().replace(last.encode(), earlier.encode()))
        log.unlink()
    for file in timeline.glob(f"*{last}*"):
        file.unlink()
    archive(timeline / "history", earlier, completed)
    assert rows(path).equals(expected)


def archive(history: Path, requested: str, completed: str) -> None:
    history.mkdir(exist_ok=True)
    name = f"{requested}_{requested}_0.parquet"
    row = {"instantTime": requested, "completionTime": completed, "action": "deltacommit", "metadata": b"", "plan": b""}
    pq.write_table(pa.Table.from_pylist([row]), history / name)
    (history / "manifest_1").write_text(f'{{"files": [{{"fileName": "{name}", "fileLen": {(history / name).stat().st_size}}}]}}')
    (history / "_version_").write_text("1")
