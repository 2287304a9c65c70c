"""Compactions of Apache Hudi that died, rolled back and run by pyhudi; one that is alive is left alone."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, CorruptTableError, UnsupportedError
from pyhudi.testing.invariants import garbage
from tests.unit.table.tables import make_table, ride


@pytest.fixture(params=[6, 8, 9])
def died(request, fixture_table, tmp_path) -> tuple[HudiTable, str]:
    """A table whose compaction was begun: inflight, with a marker as its timeline server writes it, and a file that is not whole."""
    shutil.copytree(fixture_table(f"apache_hudi/merge_on_read_pending_compaction_v{request.param}"), tmp_path / "t")
    table = HudiTable.open(tmp_path / "t")
    (plan,) = table.services.compact(mode="execute", dry_run=True)
    row = next(row for row in table.inspect.slices().to_pylist() if row["latest"] and row["partition_path"] == "lima")
    left = f"lima/{row['file_id']}_3-14-15_{plan.instant}.parquet"
    storage, folder = table.storage, f".hoodie/.temp/{plan.instant}"
    storage.create(f"{table.config.timeline_path}/{plan.instant}.compaction.inflight", b"")
    storage.create(f"{folder}/MARKERS.type", b"TIMELINE_SERVER_BASED")
    storage.create(f"{folder}/MARKERS0", f"{left}.marker.MERGE\n".encode())
    storage.create(left, b"PAR1 and no more")
    return table, left


def rows(table: HudiTable, mode: str = "snapshot") -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = table.to_arrow(mode=mode).sort_by("id").to_pylist()  # type: ignore[arg-type]
    return result


def test_dead_compaction_is_rolled_back_and_run(died) -> None:
    table, left = died
    before = rows(table)
    (done,) = table.services.compact(mode="execute")
    assert done.state == "completed"
    assert table.storage.stat(left) is None
    assert rows(table) == before
    assert garbage(table.storage) == []


def test_logs_on_top_of_a_dead_compaction_are_kept(died) -> None:
    """In version 6 their names hold the time of the compaction, as if it had written them."""
    table, _ = died
    before = rows(table)
    table.services.compact()
    assert rows(table) == rows(table, "read_optimized") == before


def test_compaction_with_a_fresh_heartbeat_is_left_alone(died) -> None:
    table, left = died
    (plan,) = table.services.compact(mode="execute", dry_run=True)
    table.storage.create(f".hoodie/.heartbeat/{plan.instant}", b"")
    with pytest.raises(ConflictError, match="showed life"):
        table.services.compact(mode="execute")
    assert table.storage.stat(left) is not None


@pytest.mark.parametrize(("age_s", "interval_ms", "is_alive"), [(300, 600_000, True), (60, 1_000, False)])
def test_the_options_say_after_how_long_a_compaction_is_dead(died, age_s: int, interval_ms: int, is_alive: bool) -> None:
    """With the default of two minutes, the files of a live compaction were deleted when its interval is longer."""
    table, left = died
    (plan,) = table.services.compact(mode="execute", dry_run=True)
    table.storage.create(f".hoodie/.heartbeat/{plan.instant}", b"")
    os.utime(Path(table.storage.uri) / f".hoodie/.heartbeat/{plan.instant}", (time.time() - age_s,) * 2)
    options = {"hoodie.client.heartbeat.interval_in_ms": str(interval_ms)}
    if is_alive:
        with pytest.raises(ConflictError, match="less than 1200 seconds ago"):
            table.services.compact(mode="execute", options=options)
    else:
        table.services.compact(mode="execute", options=options)
    assert (table.storage.stat(left) is not None) == is_alive


def test_dead_compaction_is_rolled_back_on_request_unless_logs_are_named_by_it(died) -> None:
    table, left = died
    before = rows(table)
    (plan,) = table.services.compact(mode="execute", dry_run=True)
    if table.config.layout == 1:
        with pytest.raises(UnsupportedError, match="was written on top of it"):
            table.services.rollback(plan.instant)
    else:
        table.services.rollback(plan.instant)
        assert table.storage.stat(left) is None
        assert garbage(table.storage) == []
    assert rows(table) == before


def test_plan_that_names_a_place_outside_the_table_is_refused(died) -> None:
    table, _ = died
    (plan,) = table.services.compact(mode="execute", dry_run=True)
    path = f"{table.config.timeline_path}/{plan.instant}.compaction.requested"
    table.storage.replace(path, table.storage.read(path).replace(b"\x08lima", b"\x08/etc"))
    with pytest.raises(CorruptTableError, match="leads out of its table"):
        table.services.compact(mode="execute")


class _Watching:
    """Notes the heartbeats that are there while tasks run."""

    def __init__(self, table: HudiTable) -> None:
        self.name = "local"
        self.table, self.beats = table, []  # type: ignore[var-annotated]

    def run(self, function, tasks):
        self.beats.append(self.table.storage.file_names(".hoodie/.heartbeat"))
        return LocalEngine().run(function, tasks)


@pytest.mark.parametrize(("mode", "beats"), [("SINGLE_WRITER", 0), ("OPTIMISTIC_CONCURRENCY_CONTROL", 1)])
def test_compaction_among_several_writers_says_that_it_is_alive(mode: str, beats: int) -> None:
    """Apache Hudi rolls back an inflight compaction without a heartbeat, and runs it itself."""
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(1)])
    table.upsert([ride(1, value=2)])
    engine = _Watching(table)
    (done,) = table.services.compact(
        engine=engine, options={"hoodie.write.concurrency.mode": mode, "hoodie.compact.inline.max.delta.commits": "1"}
    )
    assert done.state == "completed"
    assert {len(names) for names in engine.beats} == {beats}
    assert table.storage.file_names(".hoodie/.heartbeat") == ()
