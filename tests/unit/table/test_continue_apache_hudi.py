"""pyhudi's next write on tables that Apache Hudi 1.2.0 wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.load_timeline import load_timeline
from tests.tables import unpack

WRITABLE = [
    "added_column_v9",
    "all_types_v6",
    "all_types_v8",
    "all_types_v9",
    "cleaned_and_archived_v6",
    "cleaned_and_archived_v9",
    "clustered_v9",
    "complex_keys_v9",
    "dropped_partition_column_v9",
    "encoded_partitions_v9",
    "overwritten_table_v9",
    "pending_write_direct_v8",
    "pending_write_v9",
    "restored_v9",
    "rolled_back_v6",
    "rolled_back_v9",
    "savepointed_v9",
    "sql_operations_v6",
    "sql_operations_v8",
    "sql_operations_v9",
    "timestamp_partitions_v9",
    "widened_column_v9",
    "with_metadata_table_v9",
]
MERGE_ON_READ = [
    f"merge_on_read_{name}_v{version}"
    for version in (6, 8, 9)
    for name in ("archived", "avro_blocks", "commit_time", "compacted", "failed", "log_compacted", "parquet_blocks", "pending_compaction")
] + ["merge_on_read_lagging_v6", "merge_on_read_downgraded_v6", "merge_on_read_upgraded_v8", "merge_on_read_upgraded_v9"]
WITHOUT_STORED_KEYS = ["virtual_keys_v9", "merge_on_read_virtual_keys_v6", "merge_on_read_virtual_keys_v9"]
META = ["_hoodie_record_key", "_hoodie_partition_path"]


def rows_of(table: HudiTable) -> list[dict[str, Any]]:
    rows = table.to_arrow(columns=[*META, *table.schema.names]).to_pylist()
    return sorted(rows, key=lambda row: (row["_hoodie_partition_path"], row["_hoodie_record_key"], repr(row)))


def test_a_table_with_a_commit_completed_twice_is_written(tmp_path: Path) -> None:
    """Apache Hudi's `run_ttl` leaves such a commit."""
    table = HudiTable.open(unpack("apache_hudi/expired_v9", tmp_path))
    before = table.to_arrow().to_pylist()
    table.upsert([{**before[0], "id": "new"}])
    assert {row["id"] for row in rows_of(table)} == {"new", *(row["id"] for row in before)}
    assert len(load_timeline(table.storage, table.config).repeated) == 1


@pytest.mark.parametrize("name", WRITABLE + MERGE_ON_READ)
def test_writing_all_rows_again_changes_no_row_and_no_key(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(f"apache_hudi/{name}", tmp_path))
    before = rows_of(table)
    table.upsert(table.to_arrow())
    assert rows_of(table) == before
    assert load_timeline(table.storage, table.config).pending() == ()
    assert timeline_faults(table.storage) == []


@pytest.mark.parametrize("name", WRITABLE + MERGE_ON_READ)
def test_rows_that_are_deleted_are_missing_and_the_others_stay(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(f"apache_hudi/{name}", tmp_path))
    before = rows_of(table)
    doomed = before[0]
    data = table.to_arrow(meta_columns=True)
    is_doomed = pc.and_(
        pc.equal(data["_hoodie_record_key"], doomed["_hoodie_record_key"]),
        pc.equal(data["_hoodie_partition_path"], doomed["_hoodie_partition_path"]),
    )
    assert table.delete(data.filter(is_doomed)).deleted == pc.sum(is_doomed).as_py()
    assert rows_of(table) == [row for row in before if not all(row[name] == doomed[name] for name in META)]


@pytest.mark.parametrize("name", WITHOUT_STORED_KEYS)
def test_table_with_virtual_keys_is_written_on_by_computed_keys(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(f"apache_hudi/{name}", tmp_path))
    (key,) = table.config.record_key_fields
    before = table.to_arrow().sort_by(key)
    table.upsert(before)
    assert table.to_arrow().sort_by(key) == before
    table.delete(before.slice(0, 1))
    assert table.to_arrow().sort_by(key) == before.slice(1)
    table.delete(where=f"{key} = '{before[key][1].as_py()}'")
    assert table.to_arrow().sort_by(key) == before.slice(2)
    assert set(table.to_arrow(columns=META)["_hoodie_partition_path"].to_pylist()) == {None}


@pytest.mark.parametrize("name", ["pending_write_direct_v8", "pending_write_v9"])
def test_write_that_apache_hudi_left_pending_is_rolled_back(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(f"apache_hudi/{name}", tmp_path))
    (pending,) = load_timeline(table.storage, table.config).pending()
    table.upsert(table.to_arrow())
    assert not [path for path in table.storage.list(".hoodie/timeline") if path.name.startswith(pending.requested)]
    assert garbage(table.storage) == []


def test_rows_of_a_table_without_keys_keep_theirs(tmp_path: Path) -> None:
    table = HudiTable.open(unpack("apache_hudi/keyless_v9", tmp_path))
    before = rows_of(table)
    table.insert(table.to_arrow().slice(0, 1))
    after = rows_of(table)
    assert len(after) == len(before) + 1
    assert [row for row in after if row in before] == before
