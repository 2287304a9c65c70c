"""Non-blocking writers of pyhudi and Apache Hudi: what ours wrote out of order, and both at the same time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.unit.txn.test_optimistic import Between

NBCC = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "2",
    "hoodie.index.bucket.engine": "SIMPLE",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "600",
    "hoodie.write.lock.wait_time_ms": "120000",
    "hoodie.metadata.enable": "true",
    "hoodie.compact.inline": "false",
}
VERSIONS = [9, pytest.param(8, marks=pytest.mark.slow)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compacts", [False, True])
def test_reads_what_three_writers_wrote_out_of_order(reference: ReferenceHudi, tmp_path: Path, version: int, compacts: bool) -> None:
    kind = Kind("shared", table_type="MERGE_ON_READ", version=version, order_by=("amount",))
    model, path, theirs = Model(kind.order_by), tmp_path / "t", replace(kind, options=NBCC)
    table = kind.create(path)
    first, second, third = (model.upsert(trips(2 * number, 2 * number + 6, amount=5 - number)) for number in range(3))

    def write_third() -> None:
        table.upsert(third, options=NBCC)
        if compacts:
            table.services.compact(options=NBCC)

    def write_second() -> None:
        HudiTable(table.storage, engine=Between(write_third)).upsert(second, options=NBCC)

    HudiTable(table.storage, engine=Between(write_second, after=True)).upsert(first, options=NBCC)
    assert_both_read(reference, path, model.sorted())
    theirs.reference_writes(reference, path, "upsert", model.upsert(trips(3, 14, amount=9)))
    assert_both_read(reference, path, model.sorted())
    table.services.compact(options=NBCC)
    assert_both_read(reference, path, model.sorted())
    assert HudiTable.open(path).inspect.health().to_pylist() == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("begins", ["pyhudi", "Apache Hudi"])
def test_both_append_to_one_bucket_at_the_same_time(reference: ReferenceHudi, tmp_path: Path, version: int, begins: str) -> None:
    kind = Kind("shared", table_type="MERGE_ON_READ", version=version, order_by=("amount",))
    model, path, theirs = Model(kind.order_by), tmp_path / "t", replace(kind, options=NBCC)
    table = kind.create(path)
    model.upsert(ours := trips(0, 6, amount=1))
    model.upsert(other := trips(3, 9, amount=2))

    def write() -> None:
        theirs.reference_writes(reference, path, "upsert", other)

    if begins == "pyhudi":
        HudiTable(table.storage, engine=Between(write)).upsert(ours, options=NBCC)
    else:
        with reference.writing(path, other, theirs.reference_options("upsert"), seconds=10):
            table.upsert(ours, options=NBCC)
    assert_both_read(reference, path, model.sorted())
    table.services.compact(options=NBCC)
    assert_both_read(reference, path, model.sorted())
    assert HudiTable.open(path).inspect.health().to_pylist() == []
