"""File groups under pending compaction, as a process without the lock sees them."""

from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.pending_plans import pending_compactions, planned_operations
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import make_table, ride


@pytest.fixture
def planned():
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(1)])
    table.upsert([ride(1, value=2)])
    (plan,) = table.services.compact(mode="schedule")
    return table, plan.instant


def test_a_compaction_that_was_cancelled_since_the_timeline_was_loaded_holds_nothing(planned) -> None:
    table, instant = planned
    timeline = load_timeline(table.storage, table.config)
    assert len(pending_compactions(table.storage, table.config, timeline)) == 1
    table.services.rollback(instant)
    assert pending_compactions(table.storage, table.config, timeline) == {}


def test_a_lost_plan_of_a_compaction_that_runs_is_damage(planned) -> None:
    table, instant = planned
    folder = table.config.timeline_path
    table.storage.create(f"{folder}/{instant}.compaction.inflight", b"")
    table.storage.delete(f"{folder}/{instant}.compaction.requested")
    (running,) = load_timeline(table.storage, table.config).pending()
    with pytest.raises(CorruptTableError, match="its file is missing"):
        planned_operations(table.storage, table.config, running)
