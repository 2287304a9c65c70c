"""Archival changes no answer: every way of asking a table gives the same before and after."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.table.stream_batches import StreamBatch, is_written
from pyhudi.table.write_table import write
from pyhudi.workers import wait_for_background
from pyhudi.write.input.alter_columns import RenameColumn
from tests.tables import unpack

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string(), "p": pa.string()})
KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]
KEPT = {"hoodie.archive.automatic": "false", "hoodie.metadata.compact.max.delta.commits": "3"}
LIMITS = {
    "hoodie.clean.automatic": "false",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.compact.inline.max.delta.commits": "1",
}
STREAM = [StreamBatch("s", "q", number) for number in range(9)]


def create(path: Path, kind: str, **options: str) -> HudiTable:
    captured = {"hoodie.table.cdc.enabled": "true", **options}
    return HudiTable.create(path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], table_type=kind, options=captured)


def row(number: int, value: str) -> dict[str, Any]:
    return {"id": number, "v": value, "p": "even" if number % 2 == 0 else "odd"}


def fill(table: HudiTable, commits: int = 6) -> None:
    """Write commits that change, add and delete rows, each one a batch of a stream."""
    for number in range(commits):
        table.upsert([row(1, f"one {number}"), row(number, f"own {number}")], options={**KEPT, **STREAM[number].extra_metadata})
    table.delete([row(2, "")], options=KEPT)


def times(table: HudiTable) -> list[str]:
    history = table.history().to_pylist()
    return [entry["completed"] for entry in history if entry["action"] in ("commit", "deltacommit") and entry["state"] == "completed"]


def answers(table: HudiTable) -> dict[str, Any]:
    """What a table says in every way of asking it."""
    done = times(table)
    spans = [
        (None, None),
        *((since, None) for since in done[::2]),
        *((None, until) for until in done[1::3]),
        *zip(done[::3], done[2::3], strict=False),
    ]
    result: dict[str, Any] = {"history": table.history().to_pylist()}
    for time in (None, *done[::2]):
        result[f"as of {time}"] = sorted(table.to_arrow(as_of=time).to_pylist(), key=str)
    for since, until in spans:
        result[f"changed {since} {until}"] = sorted(table.changes(since, until, meta_columns=True).to_pylist(), key=str)
        result[f"change data {since} {until}"] = sorted(table.changes(since, until, format="cdc").to_pylist(), key=str)
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_the_same_after_archival(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind)
    fill(table)
    before = answers(table)
    done = table.services.archive(options=LIMITS)
    assert len(done.instants) >= 4
    assert done.metadata_instants
    assert answers(table) == before
    assert [is_written(table.storage, batch) for batch in STREAM] == [True] * 6 + [False] * 3
    assert [result for result in table.inspect.health().to_pylist() if result["check"] != "nothing pending"] == []


def test_rows_of_before_a_column_was_renamed_are_read_by_its_name_of_today(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    fill(table, 2)
    alter_schema(table, [RenameColumn(("v",), "w")], {"hoodie.schema.on.read.enable": "true", **KEPT})
    for number in range(4, 8):
        table.upsert([{"id": number, "w": f"own {number}", "p": "even"}], options=KEPT)
    before = answers(table)
    assert len(table.services.archive(options=LIMITS).instants) > 3
    assert answers(table) == before


def test_a_snapshot_that_was_opened_before_archival_is_read_after_it(tmp_path: Path) -> None:
    table = create(tmp_path, "MERGE_ON_READ")
    fill(table)
    query = SnapshotQuery(as_of=times(table)[3])
    early, same = open_snapshot(table.storage, query), open_snapshot(table.storage, query)
    slices = [same.slices(path) for path in same.partition_paths]
    table.services.archive(options=LIMITS)
    assert early.schema.names == SCHEMA.names
    assert [early.slices(path) for path in early.partition_paths] == slices


def test_located_rows_conflict_with_a_commit_that_was_archived_since_they_were_read(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    fill(table, 3)
    read_snapshot = open_snapshot(table.storage, SnapshotQuery()).timeline.visibility
    read = table.to_arrow(filter="id = 1", meta_columns=True)
    table.upsert([row(1, "between")], options=KEPT)
    for number in range(4):
        table.upsert([row(10 + 2 * number, "even")], options=KEPT)
    assert table.services.archive(options=LIMITS).instants[-1].requested > max(read_snapshot.committed)
    with pytest.raises(ConflictError, match="run the statement again"):
        write(table, Operation.DELETE_PREPPED, read, prepped=True, read_snapshot=read_snapshot)
    assert {"id": 1, "v": "between", "p": "odd"} in table.to_arrow().to_pylist()


def test_a_replacecommit_keeps_the_timeline_until_its_files_are_cleaned(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    fill(table, 3)
    table.overwrite([row(1, "alone")], options=KEPT)
    for number in range(4):
        table.upsert([row(10 + number, "later")], options=KEPT)
    before = answers(table)
    done = table.services.archive(options=LIMITS)
    assert "are not cleaned yet" in done.kept_because
    assert "replacecommit" not in {instant.action for instant in done.instants}
    assert answers(table) == before


def test_writes_archive_by_themselves_and_a_failure_leaves_the_write_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = create(tmp_path, "COPY_ON_WRITE", **{"hoodie.table.cdc.enabled": "false"})
    for number in range(9):
        table.upsert([row(number, "a")], options={**LIMITS, "hoodie.metadata.compact.max.delta.commits": "3"})
    timeline = tmp_path / "t" / ".hoodie" / "timeline"
    assert len(list(timeline.glob("*.commit"))) <= 4
    assert table.history().num_rows == 9
    (timeline / "history" / "manifest_99").write_bytes(b"damaged")
    (timeline / "history" / "_version_").unlink()
    for number in range(4):
        table.upsert([row(number, "b")], options={**LIMITS, "hoodie.metadata.compact.max.delta.commits": "3"})
    assert "archiving failed and is left to the next one" in caplog.text
    assert [result["v"] for result in table.to_arrow().sort_by("id").to_pylist()] == ["b"] * 4 + ["a"] * 5


@pytest.mark.parametrize("name", ["archives/archived_v6", "apache_hudi/merge_on_read_archived_v6"])
def test_a_timeline_of_version_6_is_archived_into_the_files_that_apache_hudi_reads(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(name, tmp_path, times=True))
    before, rows = table.history().to_pylist(), table.to_arrow().to_pylist()
    limits = {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2", "hoodie.compact.inline.max.delta.commits": "1"}
    folder = tmp_path / table.storage.uri / table.config.archive_path
    there = set(folder.iterdir())
    done = table.services.archive(options=limits)
    assert done.instants
    assert {re.fullmatch(r"\.commits_\.archive\.\d+_1-0-1", path.name) is None for path in set(folder.iterdir()) - there} == {False}
    names = {path.name for path in (folder.parent).iterdir()}
    assert not any(name.startswith(one.requested) for one in done.instants for name in names)
    assert [row | {"completed": None} for row in table.history().to_pylist()] == [row | {"completed": None} for row in before]
    assert table.to_arrow().to_pylist() == rows
    assert table.services.archive(options=limits).instants == ()


def test_small_archives_of_version_6_are_joined(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE", **{"hoodie.write.table.version": "6", "hoodie.table.cdc.enabled": "false"})
    options = {**LIMITS, "hoodie.metadata.enable": "false", "hoodie.timeline.compaction.batch.size": "3"}
    for number in range(12):
        table.upsert([row(number, "a")], options=options)
    archives = sorted(path.name for path in (tmp_path / "t" / ".hoodie" / "archived").glob(".commits_*"))
    assert len(archives) <= 3
    assert table.history().num_rows == 12
    assert table.to_arrow().num_rows == 12


def test_archival_runs_in_a_thread_when_that_is_asked_for(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE", **{"hoodie.table.cdc.enabled": "false"})
    for number in range(5):
        table.upsert([row(number, "a")], options={**LIMITS, "hoodie.metadata.enable": "false", "hoodie.archive.async": "true"})
        wait_for_background()
    assert len(list((tmp_path / "t" / ".hoodie" / "timeline").glob("*.commit"))) <= 3
    assert table.history().num_rows == 5
