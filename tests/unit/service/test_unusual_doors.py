"""All services by unusual doors: paths spelled otherwise, empty tables, tables with deletes only, names of greatest length, a fork."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from tests.slow_cases import slow_cases

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false"}
SPREAD = QUIET | {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.compact.max.delta.commits": "1"}
FEW = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
TYPES = ["COPY_ON_WRITE", "MERGE_ON_READ"]
LONGEST = "n" * 255


def make(path: str | Path, table_type: str, city: str = "oslo", *, rows: int = 3, options: dict[str, str] = SPREAD) -> HudiTable:
    """A table of some inserts, and an upsert of all rows."""
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)
    for number in range(rows):
        table.insert([{"id": number, "city": city, "value": 0}], options)
    if rows:
        table.upsert([{"id": number, "city": city, "value": 1} for number in range(rows)], options)
    return table


def run_all(table: HudiTable, options: dict[str, str]) -> None:
    """Run every service; what has nothing to do says so."""
    services = table.services
    if table.config.is_merge_on_read:
        services.log_compact(options=options | {"hoodie.log.compaction.blocks.threshold": "2"})
        services.compact(options=options | {"hoodie.compact.inline.max.delta.commits": "1"})
    services.cluster(options=options | {"hoodie.clustering.plan.strategy.sort.columns": "value"})
    services.clean(options=options | FEW)
    services.archive(options=options | FEW)
    services.ttl(options=options | {"hoodie.partition.ttl.strategy.days.retain": "30"})
    services.purge(["nowhere"])
    services.add_partition_metafiles()
    services.repair_clean_files()
    services.cleanup_stale(0)
    services.rollback()
    services.downgrade("8")
    services.downgrade("6")
    services.upgrade("9")
    if table.history().num_rows and any(row["action"] == "commit" or row["action"] == "deltacommit" for row in table.history().to_pylist()):
        saved = services.savepoint().instant
        table.upsert([{"id": 0, "city": "bern", "value": 9}], QUIET | options)
        services.restore(to=saved)
        services.delete_savepoint(saved)


def rows(table: HudiTable) -> list[tuple[Any, ...]]:
    return sorted((row["id"], row["city"], row["value"]) for row in table.to_arrow().to_pylist())


def check(table: HudiTable, options: dict[str, str] | None = None) -> None:
    before = rows(table)
    run_all(table, options or {})
    assert rows(table) == before
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []
    table.upsert([{"id": 77, "city": "rome", "value": 7}])
    assert rows(HudiTable.open(table.storage.uri)) == sorted({*before, (77, "rome", 7)})


def relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return "t"


def linked(tmp_path: Path, _: pytest.MonkeyPatch) -> str:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    return str(tmp_path / "link" / "t")


SPELLINGS: dict[str, Callable[[Path, pytest.MonkeyPatch], str]] = {
    "relative": relative,
    "link": linked,
    "slash": lambda tmp_path, _: f"{tmp_path}/t/",
    "dots": lambda tmp_path, _: f"{tmp_path}/a/../t",
    "scheme": lambda tmp_path, _: f"file://{tmp_path}/t",
}


@pytest.mark.parametrize("spelling", slow_cases(SPELLINGS, [name for name in SPELLINGS if name != "relative"]))
def test_paths_spelled_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str) -> None:
    check(make(SPELLINGS[spelling](tmp_path, monkeypatch), "MERGE_ON_READ"))


@pytest.mark.parametrize("table_type", slow_cases(TYPES, TYPES[1:]))
def test_empty_tables(tmp_path: Path, table_type: str) -> None:
    check(make(tmp_path / "t", table_type, rows=0))


@pytest.mark.parametrize("table_type", slow_cases(TYPES, TYPES))
def test_tables_whose_rows_are_all_deleted(tmp_path: Path, table_type: str) -> None:
    table = make(tmp_path / "t", table_type)
    table.delete(where="id >= 0", options=QUIET)
    assert rows(table) == []
    check(table)


@pytest.mark.parametrize("table_type", slow_cases(TYPES, TYPES[1:]))
def test_a_table_whose_first_write_is_a_delete(tmp_path: Path, table_type: str) -> None:
    table = make(tmp_path / "t", table_type, rows=0)
    table.delete([{"id": 1, "city": "oslo"}], options=QUIET)
    check(table)


@pytest.mark.parametrize("table_type", slow_cases(TYPES, TYPES[1:]))
def test_one_partition_with_the_longest_name(tmp_path: Path, table_type: str) -> None:
    check(make(tmp_path / "t", table_type, LONGEST))


@pytest.mark.parametrize("table_type", slow_cases(TYPES, TYPES))
def test_without_a_metadata_table_and_after_it_was_built_again(tmp_path: Path, table_type: str) -> None:
    without = {"hoodie.metadata.enable": "false"}
    table = make(tmp_path / "t", table_type, options=SPREAD | without)
    check(table, without)
    table.upsert([{"id": 1, "city": "oslo", "value": 5}])
    check(table)


def test_services_of_a_forked_process(tmp_path: Path) -> None:
    table = make(tmp_path / "t", "COPY_ON_WRITE")
    before = rows(table)
    child = os.fork()
    if not child:
        try:
            table.services.clean(options=FEW)
            table.services.archive(options=FEW)
        except BaseException:  # noqa: BLE001 - the child says by its status that it failed
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert rows(table) == before
    check(HudiTable.open(tmp_path / "t"))
    with pytest.raises(UsageError):
        table.services.rollback("20200101000000000")


def test_ages_of_any_size(tmp_path: Path) -> None:
    table = make(tmp_path / "t", "MERGE_ON_READ", "2026/01/02")
    by_hours = QUIET | {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "2147483647"}
    assert table.services.clean(options=by_hours) == ()
    assert table.services.cleanup_stale(10**12, include_writes=True) == ()
    days = {"hoodie.compaction.strategy": "org.apache.hudi.table.action.compact.strategy.BoundedPartitionAwareCompactionStrategy"}
    every = days | {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.compaction.daybased.target.partitions": "2147483647"}
    assert table.services.compact(options=every, dry_run=True)[0].state == "planned"
