"""Tables of Apache Hudi, compacted by pyhudi: every row stays, base files alone hold them, and nothing is left over."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from tests.tables import NAMES

FIXTURES = [name for name in NAMES if name.startswith("apache_hudi/merge_on_read")]


def copied(table: Path, into: Path) -> HudiTable:
    shutil.copytree(table, into / "t")
    return HudiTable.open(into / "t")


def rows(table: HudiTable, mode: str = "snapshot") -> list[dict[str, Any]]:
    result = table.to_arrow(mode=mode, meta_columns=True).drop_columns(["_hoodie_file_name"])  # type: ignore[arg-type]
    return sorted(result.to_pylist(), key=repr)


@pytest.mark.parametrize("name", FIXTURES)
def test_compacted_table_holds_the_rows_it_held(fixture_table, name, tmp_path) -> None:
    table = copied(fixture_table(name), tmp_path)
    before = rows(table)
    table.services.compact()
    assert rows(table) == before
    assert rows(table, "read_optimized") == before
    assert timeline_faults(table.storage) == []
    assert not [path for path in garbage(table.storage) if "/.temp" in path]
    for row in table.inspect.slices().to_pylist():
        assert not (row["latest"] and row["log_files"])


@pytest.mark.parametrize("name", FIXTURES)
def test_joined_logs_hold_the_rows_they_held(fixture_table, name, tmp_path) -> None:
    table = copied(fixture_table(name), tmp_path)
    before = rows(table)
    table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "1"})
    assert rows(table) == before
    table.services.compact()
    assert rows(table) == before


@pytest.mark.parametrize("version", [8, 9])
def test_statistics_are_those_of_apache_hudi(fixture_table, version, tmp_path) -> None:
    """The same plan, run by both; `merge_on_read_compacted` is `merge_on_read_pending_compaction` after Apache Hudi ran it."""
    counted = ("updated", "inserted", "deleted")
    by_hudi = HudiTable.open(fixture_table(f"apache_hudi/merge_on_read_compacted_v{version}")).history().to_pylist()
    (expected,) = [[row[name] for name in counted] for row in by_hudi if row["operation"] == "COMPACT"]
    table = copied(fixture_table(f"apache_hudi/merge_on_read_pending_compaction_v{version}"), tmp_path)
    (done,) = table.services.compact(mode="execute")
    assert [done.updated, done.inserted, done.deleted] == expected
    newest = next(row for row in table.inspect.slices().to_pylist() if row["latest"] and row["partition_path"] == "lima")
    assert newest["base_instant"] == done.instant
