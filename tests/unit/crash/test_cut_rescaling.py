"""A rescaling of buckets, cut at every storage call: all partitions have the old numbers of buckets or the new ones, and writers go on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, check_rows, check_sound, ride
from tests.unit.crash.test_cut_clustering import ONE_THREAD
from tests.unit.index.test_bucket import BUCKET, buckets


class _BucketIds(CountedIds):
    """Ids that differ behind the number of the bucket too."""

    def file_prefix(self) -> str:
        return super().file_prefix()[::-1]


QUIET = {"hoodie.compact.inline": "false"}
DRIVER = Driver(written_with={**BUCKET, **QUIET})
AFTER = Driver(written_with=QUIET)
ROWS = (Operation.INSERT, [ride(number, "oslo", number) for number in range(12)])
NEXT = (Operation.UPSERT, [ride(3, "oslo", 33), ride(90, "oslo", 90)])


@pytest.mark.parametrize(
    ("driver", "faults"),
    [
        (DRIVER, (Fault.AFTER,)),
        pytest.param(DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(replace(DRIVER, table_type="MERGE_ON_READ"), tuple(Fault), marks=pytest.mark.slow),
        pytest.param(replace(DRIVER, metadata_table=True), (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(
            Driver(created_with={"hoodie.write.table.version": "6"}, written_with={**BUCKET, **QUIET}),
            (Fault.AFTER,),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_cut_anywhere_it_has_the_old_numbers_or_the_new_ones(driver: Driver, faults: tuple[Fault, ...]) -> None:
    storage = MemoryStorage()
    driver.create(storage)
    driver.write(storage, *ROWS)
    oracle = Oracle("id", "city").after(*ROWS)

    def rescale(cut: Storage) -> Any:
        return HudiTable(cut, clock=StoppedClock(), ids=_BucketIds()).services.rescale_buckets("oslo,3", engine=ONE_THREAD)

    for run in crash_points(rescale, storage.copy, faults):
        check_rows(run.storage, oracle, run.point)
        check_sound(run.storage, run.point)
        is_done = bool(HudiTable(run.storage).services.bucket_rules())
        writer = AFTER if is_done else driver
        writer.write(run.storage, *NEXT)
        check_rows(run.storage, oracle.after(*NEXT), run.point)
        check_at_rest(run.storage, run.point)
        assert len({bucket for _, bucket in buckets(HudiTable(run.storage))}) == (3 if is_done else 4), run.point
