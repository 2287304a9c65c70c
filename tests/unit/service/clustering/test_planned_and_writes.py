"""Writes while a clustering is planned or runs: other file groups are free, those of the plan go by the update strategy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, OptionError, UnsupportedError
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import clustered_groups, pending_clustering
from pyhudi.txn.heartbeats import heartbeat_path
from pyhudi.workers import wait_for_background
from tests.unit.service.clustering.test_rewrite import ALLOW, KINDS, PREFIX, QUIET, SORT, make, rides, state

ONLY_OSLO = {f"{PREFIX}partition.selected": "oslo"}
ROLLS_BACK = ALLOW | {"hoodie.clustering.rollback.pending.replacecommit.on.conflict": "true"}
LAZY = {"hoodie.clean.failed.writes.policy": "LAZY"}
EXPIRES = LAZY | {"hoodie.clustering.enable.expirations": "true", "hoodie.clustering.expiration.threshold.mins": "30"}
SMALL = {"hoodie.compact.inline": "false"}


def planned(table: HudiTable) -> list[str]:
    timeline = load_timeline(table.storage, table.config)
    return [one.requested for one in timeline.pending() if pending_clustering(table.storage, table.config, one) is not None]


def schedule(table: HudiTable, options: dict[str, str] | None = None) -> str:
    (result,) = table.services.cluster(options=SORT | (options or {}), mode="schedule")
    assert result.instant is not None
    return result.instant


def run(table: HudiTable) -> None:
    (done,) = table.services.cluster(mode="execute")
    assert done.state == "completed"


class _Later:
    def __init__(self, minutes: int) -> None:
        self.by = timedelta(minutes=minutes)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_inserts_go_to_other_file_groups_and_the_plan_runs_after_them(table_type: str, version: str) -> None:
    table = make(table_type, version)
    schedule(table)
    held = clustered_groups(table.storage, table.config, load_timeline(table.storage, table.config))
    assert len(held) == 8
    table.upsert(rides(1000, 20), SMALL)  # small files would take them, were they not planned
    table.insert(rides(2000, 20), SMALL)
    table.bulk_insert(rides(3000, 20), SMALL)
    before = state(table)
    assert len(before) == 260
    run(table)
    assert state(table) == before
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_updates_and_deletes_of_planned_file_groups_are_refused(table_type: str, version: str) -> None:
    table = make(table_type, version)
    instant = schedule(table, ONLY_OSLO)
    before = state(table)
    refused = rf"{instant} of table .* is planned and holds .*services\.rollback"
    with pytest.raises(ConflictError, match=refused):
        table.upsert(rides(0, 1, tip=9.0), QUIET)
    with pytest.raises(ConflictError, match=refused):
        table.delete(rides(0, 1), options=QUIET)
    with pytest.raises(ConflictError, match=refused):
        table.delete(where="id = 0", options=QUIET)
    assert state(table) == before
    table.upsert(rides(1, 1, tip=9.0), QUIET)  # in rome, where nothing is planned
    after = state(table)
    run(table)
    assert state(table) == after


@pytest.mark.parametrize(("table_type", "version"), KINDS)
@pytest.mark.parametrize("options", [{}, ROLLS_BACK])
def test_partitions_with_planned_file_groups_are_not_replaced(table_type: str, version: str, options: dict[str, str]) -> None:
    table = make(table_type, version)
    schedule(table, ONLY_OSLO)
    before, later = state(table), HudiTable(table.storage, clock=_Later(60 * 24 * 3))
    with pytest.raises(ConflictError, match="is planned and holds"):
        table.overwrite(rides(0, 2), dynamic=True, options=QUIET | options)
    with pytest.raises(ConflictError, match="is planned and holds"):
        table.delete(partitions=["oslo"], options=QUIET | options)
    with pytest.raises(ConflictError, match="is planned and holds"):
        later.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "1"})
    assert state(table) == before


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_allowed_updates_win_and_the_plan_cannot_complete(table_type: str, version: str, caplog: pytest.LogCaptureFixture) -> None:
    table = make(table_type, version)
    instant = schedule(table)
    table.upsert(rides(0, 1, tip=9.0), QUIET | ALLOW)
    assert f"services.rollback('{instant}')" in caplog.text
    before = state(table)
    with pytest.raises(ConflictError, match="is not what it was"):
        table.services.cluster(mode="execute")
    assert (state(table), planned(table)) == (before, [instant])
    table.services.rollback(instant)
    table.services.cluster(options=SORT)
    assert state(table) == before


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_allowed_updates_roll_the_plan_back_where_options_say_so(table_type: str, version: str) -> None:
    table = make(table_type, version)
    schedule(table)
    table.upsert(rides(1000, 4), SMALL | ROLLS_BACK)  # meets no planned file group
    assert len(planned(table)) == 1
    table.upsert(rides(0, 1, tip=9.0), QUIET | ROLLS_BACK)
    assert planned(table) == []
    assert table.to_arrow()["tip"].to_pylist().count(9.0) == 1
    before = state(table)
    table.services.cluster(options=SORT)
    assert state(table) == before
    assert table.inspect.health().to_pylist() == []


def test_a_clustering_that_runs_is_left_to_its_process() -> None:
    table = make()

    def write(done: int, count: int) -> None:
        if done == count:
            table.upsert(rides(0, 1, tip=9.0), QUIET | ROLLS_BACK)

    with pytest.raises(ConflictError, match="is not what it was"):
        table.services.cluster(options=SORT, progress=write)
    assert table.to_arrow()["tip"].to_pylist().count(9.0) == 1
    assert planned(table) == []


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_inserts_while_a_clustering_runs_are_there_after_it(table_type: str, version: str) -> None:
    table = make(table_type, version)

    def write(done: int, count: int) -> None:
        if done == count:
            table.upsert(rides(1000, 4), SMALL)

    (done,) = table.services.cluster(options=SORT, progress=write)
    assert done.state == "completed"
    assert len(state(table)) == 204
    assert table.inspect.health().to_pylist() == []


def test_compaction_continues_beside_a_planned_clustering() -> None:
    table = make("MERGE_ON_READ")
    schedule(table, ONLY_OSLO)
    table.upsert(rides(1, 1, tip=9.0), QUIET)
    before = state(table)
    (compacted,) = table.services.compact()
    assert compacted.state == "completed"
    run(table)
    assert state(table) == before


@pytest.mark.parametrize("key", ["async.enabled", "schedule.inline"])
def test_clustering_after_commits_runs_in_a_thread_or_is_planned(key: str) -> None:
    table = make()
    options: dict[str, Any] = QUIET | SORT | {f"hoodie.clustering.{key}": "true", "hoodie.clustering.async.max.commits": "6"}
    table.insert(rides(1000, 2), options)
    wait_for_background()
    assert (planned(table) != []) is (key == "schedule.inline")
    clusterings = [row for row in table.history().to_pylist() if row["operation"] == "CLUSTER"]
    assert len(clusterings) == (key == "async.enabled")
    assert len(state(table)) == 202


def test_clustering_is_not_due_before_as_many_commits() -> None:
    table = make()
    table.insert(rides(1000, 2), QUIET | SORT | {"hoodie.clustering.schedule.inline": "true", "hoodie.clustering.async.max.commits": "7"})
    assert planned(table) == []


@pytest.mark.parametrize("door", ["write", "clean"])
def test_an_old_plan_is_rolled_back_by_the_next_clean(door: str) -> None:
    table = make()
    instant = schedule(table)
    early, late = (HudiTable(table.storage, clock=_Later(minutes)) for minutes in (29, 31))

    def clean(table: HudiTable) -> None:
        if door == "clean":
            table.services.clean(options=EXPIRES)
        else:
            table.insert(rides(1000, 2), QUIET | EXPIRES)

    clean(early)
    assert planned(table) == [instant]
    table.services.clean(options=LAZY)
    late.storage.create(heartbeat_path(instant), b"")
    late.storage.set_modified(heartbeat_path(instant), int(late.clock.now().timestamp() * 1000))
    clean(late)
    assert planned(table) == [instant]
    late.storage.delete(heartbeat_path(instant))
    clean(late)
    assert planned(table) == []


def test_a_clustering_whose_plans_expire_sends_heartbeats() -> None:
    table = make()
    heartbeats = []

    def look(done: int, count: int) -> None:
        heartbeats.append([status.name for status in table.storage.list(".hoodie/.heartbeat")])

    (done,) = table.services.cluster(options=SORT | EXPIRES, progress=look)
    assert heartbeats[-1] == [done.instant]
    assert table.storage.list(".hoodie/.heartbeat") == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"hoodie.clustering.updates.strategy": "com.example.Mine"}, UnsupportedError),
        ({"hoodie.clustering.inline": "true", "hoodie.clustering.schedule.inline": "true"}, OptionError),
        ({"hoodie.clustering.inline": "true", "hoodie.clustering.async.enabled": "true"}, OptionError),
        ({"hoodie.clustering.enable.expirations": "true"}, OptionError),
    ],
)
def test_options_that_contradict_are_refused_before_the_write(options: dict[str, str], error: type[Exception]) -> None:
    table = make()
    before = state(table)
    with pytest.raises(error, match=r"hoodie\.clustering\."):
        table.insert(rides(1000, 2), QUIET | options)
    assert state(table) == before
