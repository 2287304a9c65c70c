"""A non-blocking write that is cut at every storage call is whole or not visible, and another writer's service removes what it left."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.crash_points import Part, crash_points
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import Driver, StoppedClock, each_part, ride
from tests.unit.table.tables import after_heartbeats
from tests.unit.txn.test_non_blocking_schedules import NBCC

DRIVER = Driver(table_type="MERGE_ON_READ", order_by=("value",))
FIRST = [ride(1, "oslo", 1), ride(2, "oslo", 1)]
SECOND = [ride(1, "oslo", 2), ride(3, "oslo", 2), ride(4, "rome", 2)]


def upsert(storage: Storage, rows: list[dict[str, object]], options: Mapping[str, str]) -> None:
    HudiTable(storage, clock=StoppedClock(), engine=LocalEngine(threads=1)).upsert(rows, options=options)


@each_part
@pytest.mark.parametrize("metadata", ["false", pytest.param("true", marks=pytest.mark.slow)])
def test_write_that_is_cut_anywhere_is_whole_or_not_at_all(metadata: str, part: Part) -> None:
    options = NBCC | {"hoodie.metadata.enable": metadata}
    stored = MemoryStorage()
    DRIVER.create(stored)
    upsert(stored, FIRST, options)
    before = Oracle("id", "city", ordering="value").after(Operation.UPSERT, FIRST)
    after = before.after(Operation.UPSERT, SECOND)
    for run in crash_points(lambda cut: upsert(cut, SECOND, options), stored.copy, part=part):
        table = after_heartbeats(run.storage, 3_600)
        table.services.clean(options=options)
        rows = table.to_arrow().to_pylist()
        visible = after.agrees(rows)
        assert visible or (before.agrees(rows) and not run.returned), run.point
        table.upsert([ride(9, "oslo", 3)], options=options)
        assert ((after if visible else before).after(Operation.UPSERT, [ride(9, "oslo", 3)])).agrees(table.to_arrow().to_pylist()), (
            run.point
        )
        faults = timeline_faults(run.storage) + garbage(run.storage) + folders_without_metafile(run.storage)
        assert faults + dangling_references(run.storage, row_count) == [], run.point
