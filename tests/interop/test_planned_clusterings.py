"""Both sides write while a clustering is planned, either side runs or rolls back the plan of the other, and both read the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError
from tests.interop.reference import ReferenceHudi
from tests.interop.test_clustering import KINDS, OWN, SORT, call, options_for, state
from tests.interop.test_index_turns import SCHEMA, rows

ROLLS_BACK = {
    "hoodie.clustering.updates.strategy": "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy",
    "hoodie.clustering.rollback.pending.replacecommit.on.conflict": "true",
}


def ids(table: HudiTable) -> list[int]:
    return sorted(table.to_arrow(["id"])["id"].to_pylist())


@pytest.mark.parametrize(("table_type", "version"), [pytest.param("COPY_ON_WRITE", "9", marks=pytest.mark.slow), *KINDS[1:]])
def test_writes_of_both_sides_go_beside_plans_of_both_sides(
    reference: ReferenceHudi, tmp_path: Path, table_type: str, version: str
) -> None:
    path, options = tmp_path / "t", options_for(table_type, version)
    made = {"hoodie.write.table.version": version}
    table = HudiTable.create(
        path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"], table_type=table_type, options=made
    )
    for turn in range(2):
        table.insert(rows(turn * 100, turn * 100 + 100, 1), OWN)

    # Ours is planned, both write new rows, Apache Hudi runs it.
    table.services.cluster(mode="schedule", options=SORT)
    table.insert(rows(200, 220, 1), OWN)
    reference.write(path, rows(220, 240, 1), options=options)
    with pytest.raises(ConflictError, match="is planned and holds"):
        HudiTable.open(path).upsert(rows(0, 5, 2), OWN)
    before = state(HudiTable.open(path).to_arrow(meta_columns=True))
    call(reference, path, "execute", options)
    assert state(HudiTable.open(path).to_arrow(meta_columns=True)) == before
    assert state(reference.read(path, hoodie__metadata__enable="true")) == before

    # Theirs is planned, both write new rows, we run it.
    call(reference, path, "schedule", {**options, **SORT})
    reference.write(path, rows(240, 260, 1), options=options)
    table = HudiTable.open(path)
    table.insert(rows(260, 280, 1), OWN)
    before = state(table.to_arrow(meta_columns=True))
    (done,) = table.services.cluster(mode="execute")
    assert done.state == "completed"
    assert state(table.to_arrow(meta_columns=True)) == before
    assert state(reference.read(path, hoodie__metadata__enable="true")) == before

    # Theirs is planned again, and our update rolls it back.
    reference.write(path, rows(280, 300, 1), options=options)
    call(reference, path, "schedule", {**options, **SORT})
    table = HudiTable.open(path)
    table.upsert(rows(0, 300, 5), OWN | ROLLS_BACK)
    assert [row["state"] for row in table.history().to_pylist() if row["state"] != "completed"] == []
    reference.write(path, rows(300, 320, 5), options=options)
    after = state(HudiTable.open(path).to_arrow(meta_columns=True))
    assert {row["ts"] for row in after} == {5}
    assert ids(HudiTable.open(path)) == list(range(320))
    assert state(reference.read(path, hoodie__metadata__enable="true")) == after
    assert HudiTable.open(path).inspect.health().to_pylist() == []
