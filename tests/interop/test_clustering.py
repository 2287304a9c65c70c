"""Tables are clustered by either side, each runs what the other planned, and both read the same rows with the times that they had."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.plan_codec import decode_requested_replace, encode_clustering_plan
from pyhudi.codec.avro.avro_container import decode_container
from pyhudi.spec.actions.clustering import ClusteringPlan
from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.interop.test_index_turns import SCHEMA, rows

SORT = {"hoodie.clustering.plan.strategy.sort.columns": "ts,id"}
OWN = {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}
KINDS = [
    ("COPY_ON_WRITE", "9"),
    ("MERGE_ON_READ", "9"),
    pytest.param("COPY_ON_WRITE", "8", marks=pytest.mark.slow),
    pytest.param("COPY_ON_WRITE", "6", marks=pytest.mark.slow),
    pytest.param("MERGE_ON_READ", "6", marks=pytest.mark.slow),
]


def options_for(table_type: str, version: str) -> dict[str, str]:
    return {
        "hoodie.table.name": "turns",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.metadata.enable": "true",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        **OWN,
    }


def call(reference: ReferenceHudi, path: Path, op: str, options: Mapping[str, str]) -> pa.Table:
    stated = ",".join(f"{name}={value}" for name, value in options.items() if ".datasource." not in name and "," not in value)
    order = options.get("hoodie.clustering.plan.strategy.sort.columns")
    given = "" if order is None else f", order => '{order}'"
    return reference.sql(f"CALL run_clustering(path => '{path}', op => '{op}', options => '{stated}'{given})", conf=options)


def state(table: pa.Table) -> list[dict[str, Any]]:
    """The rows and the times at which they were written, whatever file they are in."""
    columns = [name for name in table.schema.names if name != "_hoodie_file_name"]
    return sorted(table.select(columns).to_pylist(), key=lambda row: row["id"])


def plan_of(path: Path) -> tuple[bytes, ClusteringPlan]:
    (request,) = (file for file in (path / ".hoodie").rglob("[0-9]*.requested") if "clustering" in file.name or "replace" in file.name)
    content = request.read_bytes()
    plan = decode_requested_replace(content).plan
    assert plan is not None
    return content, plan


def check(reference: ReferenceHudi, path: Path, expected: list[dict[str, Any]]) -> None:
    table = HudiTable.open(path)
    assert state(table.to_arrow(meta_columns=True)) == expected
    assert state(reference.read(path, hoodie__metadata__enable="true")) == expected
    latest = [row for row in table.inspect.slices().to_pylist() if row["latest"]]
    assert len(latest) == len({row["partition_path"] for row in latest}) == 2
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_apache_hudi_runs_our_plan(reference: ReferenceHudi, tmp_path: Path, table_type: str, version: str) -> None:
    path, options = tmp_path / "ours", options_for(table_type, version)
    made = {"hoodie.write.table.version": version}
    table = HudiTable.create(
        path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"], table_type=table_type, options=made
    )
    for turn in range(3):
        table.insert(rows(turn * 100, turn * 100 + 100, 1), OWN)
    table.upsert(rows(10, 30, 2), OWN)
    before = state(table.to_arrow(meta_columns=True))
    assert table.services.cluster(mode="schedule", options=SORT)[0].slices == 6
    call(reference, path, "execute", options)
    check(reference, path, before)
    table.upsert(rows(5, 15, 3), OWN)
    reference.write(path, rows(12, 18, 4), options=options)
    versions = {row["id"]: row["ts"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert [versions[number] for number in (4, 5, 11, 12, 17, 18)] == [1, 3, 3, 4, 4, 2]


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_we_run_the_plan_of_apache_hudi_and_both_plans_are_alike(
    reference: ReferenceHudi, tmp_path: Path, table_type: str, version: str
) -> None:
    path, options = tmp_path / "theirs", options_for(table_type, version)
    for turn in range(3):
        mode = "append" if turn else "overwrite"
        insert = {**options, "hoodie.datasource.write.operation": "insert"}
        reference.write(path, rows(turn * 100, turn * 100 + 100, 1), mode=mode, options=insert)
    reference.write(path, rows(10, 30, 2), options=options)
    table = HudiTable.open(path)
    before = state(table.to_arrow(meta_columns=True))
    (ours,) = table.services.cluster(mode="schedule", options=SORT)
    _, our_plan = plan_of(path)
    table.services.rollback(ours.instant)
    call(reference, path, "schedule", {**options, **SORT})
    content, plan = plan_of(path)
    assert encode_clustering_plan(plan, sync=decode_container(content).sync) == content
    assert our_plan.strategy == plan.strategy
    assert comparable(our_plan) == comparable(plan)
    (done,) = table.services.cluster(mode="execute")
    assert (done.rows, done.files_written) == (300, 2)
    check(reference, path, before)


def comparable(plan: ClusteringPlan) -> object:
    """What plans of the same files have in common; the order of groups, and of files of one size, is not told."""
    groups = [
        (
            sorted((one.partition_path, one.file_id, (one.data_file or "").removeprefix("file:")) for one in group.slices or ()),
            sorted((group.metrics or {}).items()),
            group.output_file_groups,
            group.extra_metadata,
            group.version,
        )
        for group in plan.groups or ()
    ]
    return sorted(groups, key=str), plan.extra_metadata, plan.version, plan.preserve_meta_columns


BY_COMMITS = {
    "hoodie.clustering.plan.strategy.class": "org.apache.hudi.table.action.cluster.strategy.CommitBasedClusteringPlanStrategy",
}
EARLIEST = "hoodie.clustering.plan.strategy.earliest.commit.to.cluster"


def test_apache_hudi_runs_our_plan_by_commits_and_cannot_make_one(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, options = tmp_path / "commits", options_for("COPY_ON_WRITE", "9")
    table = HudiTable.create(path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"])
    written = [table.insert(rows(turn * 100, turn * 100 + 100, 1), OWN).instant for turn in range(4)]
    before = state(table.to_arrow(meta_columns=True))

    after_the_first = BY_COMMITS | {EARLIEST: str(written[0])}
    # docs/format/known-defects.md#table-services-and-locks
    with pytest.raises(ReferenceFailure, match=r"null value for .*clustering\.commit\.checkpoint"):
        call(reference, path, "schedule", {**options, **after_the_first})
    (torn,) = [row["requested"] for row in table.history().to_pylist() if row["state"] == "requested"]
    table.services.rollback(torn)  # it died in the middle of writing its plan
    (ours,) = table.services.cluster(mode="schedule", options=after_the_first)
    assert (ours.slices, ours.checkpoint) == (6, written[-1])
    assert plan_of(path)[1].extra_metadata == {"clustering.commit.checkpoint": ours.checkpoint}
    call(reference, path, "execute", options)
    table = HudiTable.open(path)
    assert state(table.to_arrow(meta_columns=True)) == before == state(reference.read(path, hoodie__metadata__enable="true"))
    assert len([row for row in table.inspect.slices().to_pylist() if row["latest"]]) == 4
    assert table.inspect.health().to_pylist() == []
