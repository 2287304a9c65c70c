"""Tables that Apache Hudi 1.2.0 wrote (tests/interop/make_fixtures.py) are read as it reads them itself."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.schema.meta_columns import META_COLUMNS
from tests.interop.rows import data

FIXTURES = Path(__file__).parents[2] / "fixtures" / "apache_hudi"
# Where pyhudi means to give something else than Apache Hudi; each has a test of its own below.
WITHOUT_META_COLUMNS = ("virtual_keys_v9", "merge_on_read_virtual_keys_v6", "merge_on_read_virtual_keys_v9")
DIFFERENT = {"encoded_partitions_v9", "timestamp_partitions_v9", *WITHOUT_META_COLUMNS}
NAMES = sorted({file.stem for file in FIXTURES.glob("*.zip")} - DIFFERENT)
REVIVED = [name for name in NAMES if name.startswith("merge_on_read_revived")]
# Apache Hudi fills values that Debezium left out, and passes late deletes over, in version 9 only; pyhudi does in all versions.
EVENTS_OF_POSTGRES = ["merge_on_read_postgres_v6", "merge_on_read_postgres_v8"]
# Of a row that a late record fills, Apache Hudi gives the late record's meta columns; in version 9 the row's own, as pyhudi always does.
META_OF_LATE_RECORDS = {"merge_on_read_partial_update_v6", "merge_on_read_partial_update_v8"}
MERGED = [name for name in NAMES if name.startswith("merge_on_read") and name not in [*REVIVED, *EVENTS_OF_POSTGRES]]


@pytest.fixture
def unpacked(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, pa.Table]:
    """The table's folder, and the rows that Apache Hudi reads from it."""
    with zipfile.ZipFile(FIXTURES / f"{request.param}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / request.param, pq.read_table(tmp_path / f"{request.param}.expected.parquet")


def with_meta_columns(rows: pa.Table) -> list[dict[str, Any]]:
    """All columns as Python values; the meta columns under names that `data` keeps."""
    renamed = data(rows.rename_columns([name.removeprefix("_hoodie_") for name in rows.column_names]))
    return sorted(renamed, key=lambda row: (row["id"], row.get("commit_seqno", "")))


@pytest.mark.parametrize("unpacked", NAMES, indirect=True)
def test_the_rows_and_their_meta_columns_are_those_of_apache_hudi(unpacked: tuple[Path, pa.Table]) -> None:
    path, expected = unpacked
    # Of merge-on-read tables Apache Hudi was asked for the base files' rows.
    rows = HudiTable.open(path).to_arrow(mode="read_optimized", meta_columns=True)
    assert with_meta_columns(rows) == with_meta_columns(expected)


@pytest.mark.parametrize("unpacked", MERGED, indirect=True)
def test_merged_rows_and_their_meta_columns_are_those_of_apache_hudi(unpacked: tuple[Path, pa.Table]) -> None:
    path, _ = unpacked
    expected = pq.read_table(path.parent / f"{path.name}.snapshot.parquet")
    rows = HudiTable.open(path).to_arrow(meta_columns=True)
    comparable = data if path.name in META_OF_LATE_RECORDS else with_meta_columns
    assert comparable(rows.select(expected.column_names)) == comparable(expected)
    assert set(rows.column_names) - set(expected.column_names) <= set(META_COLUMNS)


@pytest.mark.parametrize("unpacked", REVIVED, indirect=True)
def test_a_late_record_after_a_delete_is_a_new_record_where_apache_hudi_revives_the_base_row(unpacked: tuple[Path, pa.Table]) -> None:
    path, _ = unpacked
    revived = {row["id"]: row for row in data(pq.read_table(path.parent / f"{path.name}.snapshot.parquet"))}
    rows = {row["id"]: row for row in data(HudiTable.open(path).to_arrow())}
    different = [key for key in revived if rows[key] != revived[key]]
    assert rows.keys() == revived.keys()
    assert [(rows[key]["ts"], revived[key]["ts"]) for key in different] == [(5, 10)]


@pytest.mark.parametrize("unpacked", EVENTS_OF_POSTGRES, indirect=True)
def test_events_of_postgres_merge_in_older_versions_as_apache_hudi_merges_them_in_version_9(unpacked: tuple[Path, pa.Table]) -> None:
    path, _ = unpacked
    with zipfile.ZipFile(FIXTURES / "merge_on_read_postgres_v9.zip") as archive:
        archive.extract("merge_on_read_postgres_v9.snapshot.parquet", path.parent)
    expected = pq.read_table(path.parent / "merge_on_read_postgres_v9.snapshot.parquet")
    assert data(HudiTable.open(path).to_arrow()) == data(expected)


@pytest.mark.parametrize("unpacked", ["encoded_partitions_v9"], indirect=True)
def test_partition_columns_have_the_stored_value_where_apache_hudi_takes_the_path(
    unpacked: tuple[Path, pa.Table],
) -> None:
    path, expected = unpacked
    stored = with_meta_columns(HudiTable.open(path).to_arrow(meta_columns=True))
    # The empty text and null share a folder, from which Apache Hudi reads null for both.
    assert [row["city"] for row in stored] == ["x/y", "a b", "é:=%", "", None]
    assert [{**row, "city": None} for row in stored] == [{**row, "city": None} for row in with_meta_columns(expected)]


@pytest.mark.parametrize("unpacked", ["timestamp_partitions_v9"], indirect=True)
def test_a_column_that_makes_timestamp_partitions_has_its_stored_value(unpacked: tuple[Path, pa.Table]) -> None:
    path, expected = unpacked
    # Apache Hudi gives the same digits, but as text.
    assert HudiTable.open(path).to_arrow().sort_by("id")["millis"].to_pylist() == [1705311000000, 1705501200000]
    paths = HudiTable.open(path).to_arrow(["id", "_hoodie_partition_path"]).sort_by("id").to_pylist()
    assert paths == expected.select(["id", "_hoodie_partition_path"]).sort_by("id").to_pylist()


@pytest.mark.parametrize("unpacked", WITHOUT_META_COLUMNS, indirect=True)
def test_meta_columns_of_a_table_without_them_are_null(unpacked: tuple[Path, pa.Table]) -> None:
    path, expected = unpacked
    rows = HudiTable.open(path).to_arrow(mode="read_optimized", meta_columns=True)
    assert data(rows) == data(expected)
    assert set(rows["_hoodie_record_key"].to_pylist()) == {None}
