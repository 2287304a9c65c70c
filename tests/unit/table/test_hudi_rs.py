"""hudi-rs, another reader, finds the same rows in tables that pyhudi wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi import HudiTableBuilder

from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import SCHEMA, ride

KINDS: dict[str, dict[str, Any]] = {
    "plain": {"keys": ["id"]},
    "without keys": {},
    "partitioned": {"keys": ["id"], "partition_by": ["city"]},
    "hive style, two partition fields": {
        "keys": ["id"],
        "partition_by": ["city", "value"],
        "options": {"hoodie.datasource.write.hive_style_partitioning": "true"},
    },
    "ordered, two keys": {"keys": ["id", "city"], "order_by": ["at"], "partition_by": ["city"]},
    "version 8": {"keys": ["id"], "order_by": ["at"], "options": {"hoodie.write.table.version": "8"}},
    "local time": {"keys": ["id"], "options": {"hoodie.table.timeline.timezone": "LOCAL"}},
}


def read_by_hudi_rs(path: Path) -> list[dict[str, Any]]:
    rows = pa.Table.from_batches(HudiTableBuilder.from_base_uri(str(path)).build().read())
    result: list[dict[str, Any]] = rows.select(["_hoodie_commit_time", "_hoodie_record_key", *SCHEMA.names]).to_pylist()
    return result


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["_hoodie_record_key"])


def assert_both_agree(table: HudiTable, path: Path) -> None:
    columns = ["_hoodie_commit_time", "_hoodie_record_key", *SCHEMA.names]
    assert in_order(read_by_hudi_rs(path)) == in_order(table.to_arrow(columns=columns).to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_hudi_rs_reads_the_same_rows_after_every_operation(kind, tmp_path) -> None:
    path = tmp_path / "rides"
    table = HudiTable.create(path, SCHEMA, name="rides", **KINDS[kind])
    table.insert([ride(n, ("oslo", "rome")[n % 2], n, at=5) for n in range(6)])
    assert_both_agree(table, path)
    table.bulk_insert([ride(9, "bern", 9, at=5)])
    change = table.upsert if "keys" in KINDS[kind] else table.insert  # without keys nothing says which rows an upsert updates
    change([ride(1, "rome", 1, at=6), ride(2, "oslo", 2, at=4), ride(7, "bern", 7, at=5)])
    assert_both_agree(table, path)
    table.delete(where="id in (0, 3)")
    assert_both_agree(table, path)
    table.overwrite([ride(11, "rome", 1, at=5)], dynamic=True)
    assert_both_agree(table, path)
    table.overwrite([ride(12, "rome", 1, at=5), ride(13, "oslo", 1, at=5)])
    assert_both_agree(table, path)


def test_hudi_rs_reads_a_table_with_a_recorded_lock_and_accepted_properties(tmp_path) -> None:
    options = {LOCK_FILE_OPTION: str(tmp_path / "lock"), "auto_mkdir": "true"}
    path = tmp_path / "rides"
    table = HudiTable.create(f"local://{path}", SCHEMA, name="rides", keys=["id"], storage_options=options)
    table.insert([ride(n, "oslo", n, at=5) for n in range(6)])
    table.inspect.health(fix_properties=True)
    assert [file.name for file in (path / ".hoodie/.locks").iterdir() if "lock-at" in file.name]
    assert_both_agree(table, path)
    table.upsert([ride(1, "rome", 1, at=6)])
    assert_both_agree(table, path)
