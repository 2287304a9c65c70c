"""Savepoints: what they name, what is refused, what is left of one that was cut off."""

from __future__ import annotations

import pytest

from pyhudi.codec.actions.clean_codec import encode_clean_metadata, encode_clean_plan
from pyhudi.errors import UsageError
from pyhudi.spec.actions.clean import CleanMetadata, CleanPartition, CleanPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.service.restore.kinds import EACH_KIND, Kind
from tests.unit.table.tables import files_of, make_table, ride

T1 = "20260101000000000"


def instants(table: HudiTable, action: Action) -> list[Instant]:
    return [one for one in load_timeline(table.storage, table.config).instants if one.action is action]


def clean(table: HudiTable, path: str, *, pending: bool = False) -> None:
    """Delete a file as a clean by versions does, which does not state from when on files are retained."""
    at = "29990101000000000"
    plan = CleanPlan("KEEP_LATEST_FILE_VERSIONS", files={"oslo": (path,)})
    folder, sync = ".hoodie/timeline", bytes(16)
    table.storage.create(f"{folder}/{at}.clean.requested", encode_clean_plan(plan, sync=sync))
    if not pending:
        table.storage.delete(path)
        done = CleanPartition("oslo", plan.policy, deleted=(path.rpartition("/")[2],))
        metadata = CleanMetadata(at, 1, 1, "", "", {"oslo": done})
        table.storage.create(f"{folder}/{at}.clean.inflight", b"")
        table.storage.create(f"{folder}/{at}_29990101000000001.clean", encode_clean_metadata(metadata, sync=sync))


@EACH_KIND
def test_savepoint_names_the_files_of_the_newest_slices(kind: Kind) -> None:
    table = kind.table()
    table.upsert([ride(1, "oslo"), ride(2, "rome")])
    table.upsert([ride(1, "oslo", 7)])
    made = table.services.savepoint(user="ann", comment="before the migration")
    (listed,) = table.services.savepoints()
    assert made == listed
    assert (made.user, made.comment, made.partitions) == ("ann", "before the migration", 2)
    (instant,) = instants(table, Action.SAVEPOINT)
    content = read_action(table.storage, table.config, instant)
    named = {f"{path}/{name}" for path, names in content.files.items() for name in names}  # type: ignore[attr-defined]
    assert named <= set(files_of(table.storage))
    assert made.files == len(named) == (3 if kind.table_type == "MERGE_ON_READ" else 2)


def test_savepoint_of_an_earlier_commit_names_the_files_of_its_time() -> None:
    table = make_table(partition_by=["city"])
    first = table.upsert([ride(1)])
    before = {path for path in files_of(table.storage) if path.endswith(".parquet")}
    table.upsert([ride(1, value=7)])
    table.services.savepoint(first.instant)
    (instant,) = instants(table, Action.SAVEPOINT)
    content = read_action(table.storage, table.config, instant)
    assert {f"oslo/{name}" for name in content.files["oslo"]} == before  # type: ignore[attr-defined]


def test_dry_runs_change_nothing() -> None:
    table = make_table()
    table.upsert([ride(1)])
    before = files_of(table.storage)
    planned = table.services.savepoint(dry_run=True)
    assert files_of(table.storage) == before
    table.services.savepoint()
    before = files_of(table.storage)
    table.services.delete_savepoint(planned.instant, dry_run=True)
    assert files_of(table.storage) == before


def test_deleted_savepoint_leaves_nothing() -> None:
    table = make_table()
    table.upsert([ride(1)])
    before = files_of(table.storage)
    made = table.services.savepoint()
    table.services.delete_savepoint(made.instant)
    assert files_of(table.storage) == before


def test_second_savepoint_of_a_commit_and_deletes_of_none_are_refused() -> None:
    table = make_table()
    with pytest.raises(UsageError, match="no commit yet"):
        table.services.savepoint()
    done = table.upsert([ride(1)])
    with pytest.raises(UsageError, match=f"no savepoint {done.instant}; its savepoints are: none"):
        table.services.delete_savepoint(not_none(done.instant))
    table.services.savepoint()
    with pytest.raises(UsageError, match="has a savepoint already"):
        table.services.savepoint(done.instant)
    with pytest.raises(UsageError, match=f"its savepoints are: {done.instant}"):
        table.services.delete_savepoint(T1)


def test_savepoint_of_no_commit_is_refused_with_the_earliest_one() -> None:
    table = make_table()
    done = table.upsert([ride(1)])
    with pytest.raises(UsageError, match=f"is no commit of it.*the earliest is {done.instant}"):
        table.services.savepoint(T1)


@pytest.mark.parametrize("pending", [True, False], ids=["planned", "done"])
def test_commit_whose_files_a_clean_deletes_is_refused_with_the_earliest_whole_one(pending: bool) -> None:
    table = make_table(partition_by=["city"])
    first = table.upsert([ride(1)])
    (path,) = table.inspect.files()["path"].to_pylist()
    second = table.upsert([ride(1, value=7)])
    clean(table, path, pending=pending)
    table = HudiTable(table.storage)
    with pytest.raises(UsageError, match=f"deletes 'oslo/.*the earliest commit that has all of its files is {second.instant}"):
        table.services.savepoint(first.instant)
    assert table.services.savepoint(second.instant).files == 1


def test_savepoint_that_was_cut_off_is_completed_or_deleted_by_the_next() -> None:
    for finish in (lambda table, time: table.services.savepoint(time), lambda table, time: table.services.delete_savepoint(time)):
        storage = MemoryStorage()
        table = make_table(storage)
        done = table.upsert([ride(1)])
        before = files_of(storage)
        storage.create(f".hoodie/timeline/{done.instant}.savepoint.inflight", b"")
        finish(HudiTable(storage), done.instant)
        (*rest,) = instants(table, Action.SAVEPOINT)
        assert [one.state for one in rest] == [State.COMPLETED] if rest else files_of(storage) == before
