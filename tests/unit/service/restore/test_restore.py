"""Restores and rollbacks of completed commits: which rows are there afterwards, what is refused, what is left."""

from __future__ import annotations

import functools
from datetime import UTC, datetime

import pytest

from pyhudi.codec.actions.rollback_codec import encode_restore_plan
from pyhudi.errors import ConflictError, CorruptTableError, UsageError
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spec.actions.restore import RestoreMetadata, RestorePlan
from pyhudi.spec.actions.rollback import InstantInfo
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import store_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.testing.invariants import dangling_references, garbage, timeline_faults
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.service.restore.kinds import EACH_KIND, KINDS, Kind
from tests.unit.service.restore.test_savepoints import clean
from tests.unit.table.tables import copy_of, files_of, make_table, ride, rows_of

T1 = "20260101000000000"
COMPACT = {"hoodie.compact.inline.max.delta.commits": "1"}
NOT_INLINE = {"hoodie.compact.inline": "false"}


def changed(table: HudiTable, kind: Kind, commits: int) -> HudiTable:
    """Write to a table: upserts into an old and a new partition, a compaction, a delete of a partition."""
    for number in range(commits):
        table.upsert([ride(3 + number, ["oslo", "bern", "rome"][number % 3]), ride(1, "oslo", 100 + number)], options=kind.options)
        if number == 1 and kind.table_type == "MERGE_ON_READ":
            table.services.compact(options=COMPACT)
        if number == 2:
            table.delete(partitions=["rome"], options=kind.options)
    return HudiTable(table.storage)


def begun(kind: Kind) -> HudiTable:
    return copy_of(_begun(kind))


@functools.cache
def _begun(kind: Kind) -> HudiTable:
    table = kind.table()
    table.upsert([ride(1, "oslo"), ride(2, "rome")], options=kind.options)
    table.upsert([ride(1, "oslo", 7)], options=kind.options)
    return table


def check_sound(table: HudiTable, kind: Kind) -> None:
    """What must hold after a restore; log files of version 6 stay, with a block that rolls back what is in them."""
    if kind.version > 6 or kind.table_type == "COPY_ON_WRITE":
        assert garbage(table.storage) == []
    assert timeline_faults(table.storage) == []
    assert dangling_references(table.storage, row_count) == []
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


@EACH_KIND
@pytest.mark.parametrize("commits", [2, 12], ids=["metadata table rolled back", "metadata table rebuilt"])
def test_restored_table_has_the_rows_and_indexes_of_its_savepoint_and_continues(kind: Kind, commits: int) -> None:
    table = begun(kind)
    rows, partitions = rows_of(table), HudiTable(table.storage).config.metadata_partitions
    saved = table.services.savepoint()
    table = changed(table, kind, commits)
    planned = table.services.restore(to=saved.instant, dry_run=True)
    done = table.services.restore(to=saved.instant)
    assert (done.files, done.bytes) == (planned.files, planned.bytes)
    assert done.metadata_table == ("rolled back" if commits == 2 and (kind.version, kind.table_type) != (6, "MERGE_ON_READ") else "rebuilt")
    table = HudiTable(table.storage)
    assert rows_of(table) == rows
    assert table.config.metadata_partitions == partitions
    assert table.storage.list("bern") == []
    check_sound(table, kind)
    table.upsert([ride(1, "oslo", 8), ride(9, "bern")], options=kind.options)
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo", 8), ride(2, "rome"), ride(9, "bern")]


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[3]], ids=str)
@pytest.mark.parametrize("later", [0, 1])
def test_metadata_table_that_was_built_after_the_target_is_rebuilt(kind: Kind, later: int) -> None:
    table = begun(kind)
    saved = table.services.savepoint()
    table.upsert([ride(1, "oslo", 8), ride(5, "bern")], options=kind.options)
    table.services.index(rebuild=True)
    for number in range(later):
        table.upsert([ride(6 + number)], options=kind.options)
    assert table.services.restore(to=saved.instant).metadata_table == "rebuilt"
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo", 7), ride(2, "rome")]
    check_sound(HudiTable(table.storage), kind)


@pytest.mark.parametrize("version", [8, 9])
def test_partition_statistics_that_a_table_cannot_have_go_without_a_rebuild(version: int) -> None:
    """Apache Hudi builds them in each write of a merge-on-read table that lacks them."""
    table = begun(kind := Kind("COPY_ON_WRITE", version))
    table.services.index("partition_stats", drop=True)
    saved = HudiTable(table.storage).services.savepoint()
    without = {**kind.options, "hoodie.metadata.index.partition.stats.enable": "false"}
    HudiTable(table.storage).upsert([ride(1, "oslo", 8), ride(5, "bern")], options=without)
    HudiTable(table.storage).services.index("partition_stats")
    store_properties(table.storage, {"hoodie.table.type": "MERGE_ON_READ"}, datetime(2026, 1, 1, tzinfo=UTC))
    HudiTable(table.storage).inspect.health(fix_properties=True)
    partitions = set(HudiTable(table.storage).config.metadata_partitions)
    assert HudiTable(table.storage).services.restore(to=saved.instant).metadata_table == "rolled back"
    table = HudiTable(table.storage)
    assert set(table.config.metadata_partitions) == partitions - {"partition_stats"}
    assert not table.storage.list(".hoodie/metadata/partition_stats")
    assert rows_of(table) == [ride(1, "oslo", 7), ride(2, "rome")]
    check_sound(table, kind)


def test_restore_says_what_it_rolled_back_and_leaves_no_rollback() -> None:
    kind = KINDS[0]
    table = begun(kind)
    saved = table.services.savepoint()
    later = [not_none(table.upsert([ride(5 + number)]).instant) for number in range(3)]
    table.services.restore(to=saved.instant)
    timeline = load_timeline(table.storage, table.config)
    (restore,) = timeline.with_actions(Action.RESTORE).completed()
    done = read_action(table.storage, table.config, restore)
    assert isinstance(done, RestoreMetadata)
    assert list(done.rolled_back) == later[::-1]
    assert [one.time for one in done.instants] == later[::-1]
    assert all(sum(len(part.deleted) for part in done.rollbacks[time][0].partitions.values()) == 1 for time in later)
    assert timeline.with_actions(Action.ROLLBACK).instants == ()


def test_restore_to_the_latest_commit_does_nothing() -> None:
    table = make_table()
    done = table.upsert([ride(1)])
    before = files_of(table.storage)
    assert table.services.restore(to=done.instant).state == "nothing to do"
    assert files_of(table.storage) == before


def test_pending_writes_and_services_go_with_a_restore() -> None:
    kind = KINDS[3]
    table = begun(kind)
    saved = table.services.savepoint()
    table.upsert([ride(1, "oslo", 8)])
    table.services.compact(mode="schedule", options=COMPACT)
    table.upsert([ride(1, "oslo", 9)], options=NOT_INLINE)
    table.services.restore(to=saved.instant)
    assert load_timeline(table.storage, table.config).pending() == ()
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo", 7), ride(2, "rome")]
    check_sound(HudiTable(table.storage), kind)


def test_compaction_planned_before_the_target_stays_and_runs() -> None:
    kind = KINDS[3]
    table = begun(kind)
    table.services.compact(mode="schedule", options=COMPACT)
    table.upsert([ride(1, "oslo", 8)], options=NOT_INLINE)
    saved = table.services.savepoint()
    table.upsert([ride(1, "oslo", 9)], options=NOT_INLINE)
    table.services.restore(to=saved.instant)
    assert [one.action for one in load_timeline(table.storage, table.config).pending()] == [Action.COMPACTION]
    table = HudiTable(table.storage)
    table.services.compact(mode="execute")
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo", 8), ride(2, "rome")]


class Mortal(InterceptedStorage):
    """Dies at the first delete of a data file."""

    def _pass(self, call, effect, torn=None):
        if call.method == "delete" and call.path.endswith(".parquet"):
            raise Crashed
        return effect()


def cut_off() -> tuple[HudiTable, str]:
    """A table of which a restore was cut off that has rolled back nothing yet but has begun to delete."""
    table = begun(KINDS[0])
    saved = table.services.savepoint()
    changed(table, KINDS[0], 3)
    with pytest.raises(Crashed):
        HudiTable(Mortal(table.storage)).services.restore(to=saved.instant)
    return HudiTable(table.storage), saved.instant


def test_restore_that_was_cut_off_shows_the_target_blocks_writers_and_is_taken_up_again() -> None:
    table, target = cut_off()
    assert rows_of(table) == [ride(1, "oslo", 7), ride(2, "rome")]
    for write in (
        lambda: table.upsert([ride(3)]),
        table.services.savepoint,
        table.services.rollback,
        table.services.archive,
        lambda: table.services.index("by_value", "value"),
    ):
        with pytest.raises(ConflictError, match=r"continue with table.services.restore\(\)"):
            write()
    with pytest.raises(ConflictError, match="must come to its end first"):
        table.services.restore(to=T1)
    assert table.services.restore(dry_run=True).target == target
    table.services.restore()
    table = HudiTable(table.storage)
    assert rows_of(table) == [ride(1, "oslo", 7), ride(2, "rome")]
    check_sound(table, KINDS[0])
    with pytest.raises(UsageError, match=r"no restore of table .* is pending"):
        table.services.restore()


@pytest.mark.parametrize("service", ["compaction", "clustering", "indexing"])
def test_service_that_is_running_keeps_a_restore_out(service: str) -> None:
    table = make_table()
    first = table.upsert([ride(1)])
    table.upsert([ride(2)])
    with table.storage.lock(0, service), pytest.raises(ConflictError, match="another process or thread is"):
        table.services.restore(to=first.instant)
    assert table.services.restore(to=first.instant).state == "completed"


def test_restore_of_apache_hudi_without_a_target_in_its_plan_is_brought_to_its_end() -> None:
    table = make_table()
    first = table.upsert([ride(1)])
    times = [not_none(table.upsert([ride(number)]).instant) for number in (2, 3)]
    plan = RestorePlan(tuple(InstantInfo(time, "commit") for time in reversed(times)), version=1)
    at = "29990101000000000"
    table.storage.create(f".hoodie/timeline/{at}.restore.requested", encode_restore_plan(plan, sync=bytes(16)))
    assert rows_of(HudiTable(table.storage)) == [ride(1), ride(2), ride(3)]
    table.storage.create(f".hoodie/timeline/{at}.restore.inflight", b"")
    assert rows_of(HudiTable(table.storage)) == [ride(1)]
    table.services.restore()
    assert rows_of(HudiTable(table.storage)) == [ride(1)]
    timeline = load_timeline(table.storage, table.config)
    assert [one.requested for one in timeline.data_instants()] == [first.instant]
    assert timeline.with_actions(Action.ROLLBACK).instants == ()


def test_restore_whose_plan_is_lost_is_told_and_nothing_is_read() -> None:
    table, _ = cut_off()
    (plan,) = (path for path in files_of(table.storage) if path.endswith(".restore.requested"))
    table.storage.delete(plan)
    with pytest.raises(CorruptTableError, match="no readable plan"):
        rows_of(HudiTable(table.storage))


def test_savepoint_of_a_later_commit_is_in_the_way() -> None:
    table = make_table()
    first = table.upsert([ride(1)])
    second = table.upsert([ride(2)])
    table.services.savepoint()
    table.upsert([ride(3)])
    with pytest.raises(UsageError, match=f"would go: {second.instant}. Delete them first"):
        table.services.restore(to=first.instant)


def test_unknown_cleaned_and_archived_targets_are_refused_with_the_earliest_possible() -> None:
    table = make_table(partition_by=["city"])
    first = table.upsert([ride(1)])
    (path,) = table.inspect.files()["path"].to_pylist()
    second = table.upsert([ride(1, value=7)])
    with pytest.raises(UsageError, match=f"that is when commit {first.instant} was completed. To restore to it, give {first.instant}"):
        table.services.restore(first.completed)
    with pytest.raises(UsageError, match=f"of no commit of its active timeline. The earliest .* is {first.instant}"):
        table.services.restore(to=T1)
    clean(table, path)
    with pytest.raises(UsageError, match=f"a clean deletes .*; the earliest time that can be restored is {second.instant}"):
        table.services.restore(to=first.instant)


def test_archived_target_is_refused_with_the_earliest_possible() -> None:
    table = make_table()
    times = [table.upsert([ride(number)], options={"hoodie.metadata.enable": "false"}).instant for number in range(8)]
    table.services.archive(options={"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})
    active = [one.requested for one in load_timeline(table.storage, table.config).data_instants()]
    assert times[0] not in active
    with pytest.raises(UsageError, match=f"is archived.*The earliest time that can be restored is {active[0]}"):
        table.services.restore(to=times[0])
    assert table.services.restore(to=active[0]).instant is not None


@EACH_KIND
def test_latest_commit_is_rolled_back(kind: Kind) -> None:
    table = begun(kind)
    rows, partitions = rows_of(table), HudiTable(table.storage).config.metadata_partitions
    done = table.upsert([ride(1, "oslo", 8), ride(4, "bern")], options=kind.options)
    table = HudiTable(table.storage)
    before = files_of(table.storage)
    table.services.rollback(done.instant, dry_run=True)
    assert files_of(table.storage) == before
    table.services.rollback(done.instant)
    table = HudiTable(table.storage)
    assert rows_of(table) == rows
    assert table.config.metadata_partitions == partitions
    check_sound(table, kind)
    table.upsert([ride(4, "bern", 4)], options=kind.options)
    assert rows_of(HudiTable(table.storage)) == [*rows, ride(4, "bern", 4)]


def test_rolled_back_overwrite_shows_the_replaced_rows_again() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome")])
    done = table.overwrite([ride(3, "oslo")], dynamic=True)
    table.services.rollback(done.instant)
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo"), ride(2, "rome")]


def test_only_commit_is_rolled_back_to_an_empty_table() -> None:
    table = make_table(MemoryStorage())
    done = table.upsert([ride(1)])
    table.services.rollback(done.instant)
    table = HudiTable(table.storage)
    assert rows_of(table) == []
    table.upsert([ride(2)])
    assert rows_of(HudiTable(table.storage)) == [ride(2)]


def test_earlier_savepointed_and_cleaned_commits_are_not_rolled_back() -> None:
    table = make_table(partition_by=["city"])
    first = table.upsert([ride(1)])
    (path,) = table.inspect.files()["path"].to_pylist()
    second = table.upsert([ride(1, value=7)])
    with pytest.raises(UsageError, match=f"{second.instant} came after it"):
        table.services.rollback(first.instant)
    table.services.savepoint()
    with pytest.raises(UsageError, match="it has a savepoint; delete that first"):
        table.services.rollback(second.instant)
    table.services.delete_savepoint(not_none(second.instant))
    clean(table, path)
    with pytest.raises(UsageError, match=f"a clean deletes .*{first.instant}, needs"):
        HudiTable(table.storage).services.rollback(second.instant)
