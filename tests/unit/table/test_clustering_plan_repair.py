"""Slices whose files cannot be read leave the plan of a clustering, and the others are clustered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.plan_codec import encode_clustering_plan
from pyhudi.errors import ConflictError, CorruptTableError, UnsupportedError, UsageError
from pyhudi.service.clustering.rewrite_settings import LAYOUT
from pyhudi.spec.actions.clustering import Strategy
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import instant_path
from pyhudi.timeline.pending_clustering import pending_clustering

OPTIONS = {"hoodie.parquet.small.file.limit": "0"}
JOINS = {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    rows = [{"id": number, "p": "x" if number < 3 else "y", "v": number} for number in range(4)]
    schema = pa.schema({"id": pa.int64(), "p": pa.string(), "v": pa.int64()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["p"])
    for row in rows:
        table.insert([row], options=OPTIONS)
    return table


def planned(table: HudiTable) -> str:
    (result,) = table.services.cluster(mode="schedule", options=JOINS)
    assert result.instant is not None
    return result.instant


def base_files(table: HudiTable) -> list[Path]:
    rows = table.inspect.slices().to_pylist()
    folder = Path(table.storage.uri.removeprefix("file://"))
    return sorted(folder / row["partition_path"] / row["base_file"] for row in rows)


def snapshot_of(table: HudiTable) -> dict[Path, bytes]:
    folder = Path(table.storage.uri.removeprefix("file://"))
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".locks" not in path.parts}


@pytest.mark.parametrize("damage", ["missing", "cut", "other bytes"])
def test_files_that_cannot_be_read_leave_the_plan_and_the_others_are_clustered(table: HudiTable, damage: str) -> None:
    instant, file = planned(table), base_files(table)[0]
    whole = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(whole[:-20] if damage == "cut" else b"no Parquet file")
    with pytest.raises((CorruptTableError, ConflictError)):
        table.services.cluster(mode="execute")
    before = snapshot_of(table)
    (result,) = table.services.repair_clustering_plan(instant, dry_run=True)
    assert (result.path, result.action, result.reason) == (f"x/{file.name}", "would be removed", "not readable")
    assert snapshot_of(table) == before
    (result,) = table.services.repair_clustering_plan(instant)
    assert result.action == "removed"
    assert table.services.repair_clustering_plan(instant) == ()
    (backup,) = (path for path in snapshot_of(table) if ".repair" in path.parts)
    assert backup.read_bytes() in before.values()
    (clustered,) = table.services.cluster(mode="execute")
    assert clustered.state == "completed"
    file.write_bytes(whole)
    assert sorted(row["id"] for row in table.to_arrow().to_pylist()) == [0, 1, 2, 3]
    assert len(base_files(table)) == 3


def test_named_files_leave_the_plan(table: HudiTable) -> None:
    instant, file = planned(table), base_files(table)[0]
    results = table.services.repair_clustering_plan(instant, [f"file:///elsewhere/t/x/{file.name}", "unknown.parquet"], backup=False)
    assert [(result.action, result.reason) for result in results] == [("removed", "asked for"), ("not in the plan", "asked for")]
    assert not [path for path in snapshot_of(table) if ".repair" in path.parts]
    table.services.cluster(mode="execute")
    assert file in base_files(table)
    assert table.count() == 4


def test_a_plan_is_emptied_only_when_that_is_allowed(table: HudiTable) -> None:
    instant, names = planned(table), [file.name for file in base_files(table)]
    with pytest.raises(UsageError, match=r"nothing would be left.*services.rollback"):
        table.services.repair_clustering_plan(instant, names)
    assert {result.action for result in table.services.repair_clustering_plan(instant, names, allow_empty=True)} == {"removed"}
    assert table.services.cluster(mode="execute")[0].state == "completed"
    assert table.count() == 4


def test_a_clustering_that_is_none_or_has_begun_is_refused(table: HudiTable) -> None:
    with pytest.raises(UsageError, match="there is no pending clustering 20260101000000000"):
        table.services.repair_clustering_plan("20260101000000000")
    instant = planned(table)
    table.storage.create(f".hoodie/timeline/{instant}.clustering.inflight", b"")
    with pytest.raises(UsageError, match=r"has begun to run: first .*services\.revert"):
        table.services.repair_clustering_plan(instant)


def test_a_plan_with_an_unknown_layout_is_damaged(table: HudiTable) -> None:
    instant = Instant(planned(table), Action.CLUSTERING, State.REQUESTED)
    plan = pending_clustering(table.storage, table.config, instant)
    assert plan is not None
    damaged = replace(plan, strategy=Strategy("any", {LAYOUT: "spiral"}))
    table.storage.replace(instant_path(table.config, instant), encode_clustering_plan(damaged, sync=bytes(16)))
    with pytest.raises(CorruptTableError, match=r"plan of clustering .* is damaged"):
        table.services.repair_clustering_plan(instant.requested)


def test_a_plan_that_resizes_buckets_is_refused(tmp_path: Path) -> None:
    buckets = {
        "hoodie.index.type": "BUCKET",
        "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
        "hoodie.bucket.index.num.buckets": "4",
        "hoodie.bucket.index.min.num.buckets": "1",
        "hoodie.bucket.index.max.num.buckets": "8",
    }
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"], table_type="MERGE_ON_READ")
    table.upsert([{"id": number} for number in range(20)], options=buckets)
    (result,) = table.services.cluster(mode="schedule", options=buckets)
    with pytest.raises(UnsupportedError, match="resizes buckets"):
        table.services.repair_clustering_plan(str(result.instant))
