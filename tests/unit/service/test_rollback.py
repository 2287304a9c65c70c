"""Rolling back failed writes: what is deleted, what is recorded, what is refused."""

from __future__ import annotations

import pytest

from pyhudi.codec.actions.rollback_codec import encode_rollback_plan
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, CorruptTableError, StorageError, UsageError
from pyhudi.service.rollback.rollback_plan import planned_files
from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPlan, RollbackRequest
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.table.tables import after_heartbeats, files_of, make_table, ride, rows_of

T1 = "20260101000000000"


class DyingEngine:
    """Runs the tasks, then the process dies."""

    name = "local"

    def __init__(self, storage) -> None:
        self.storage = storage

    def run(self, function, tasks):
        LocalEngine(threads=1).run(function, tasks)
        self.storage.crashed = True
        raise Crashed


class Mortal(InterceptedStorage):
    crashed = False

    def _pass(self, call, effect, torn=None):
        if self.crashed:
            raise Crashed
        return effect()


def table_with_failed_write(storage: MemoryStorage) -> HudiTable:
    make_table(storage, partition_by=["city"]).upsert([ride(1, "oslo")])
    mortal = Mortal(storage)
    with pytest.raises(Crashed):
        HudiTable(mortal, engine=DyingEngine(mortal)).insert([ride(2, "oslo"), ride(3, "rome")])
    return HudiTable(storage)


def rollbacks(table: HudiTable) -> list[RollbackMetadata]:
    timeline = load_timeline(table.storage, table.config).with_actions(Action.ROLLBACK)
    return [read_action(table.storage, table.config, instant) for instant in timeline.completed()]  # type: ignore[misc]


def test_next_write_rolls_back_what_a_dead_writer_left_and_records_it() -> None:
    table = table_with_failed_write(MemoryStorage())
    (failed,) = load_timeline(table.storage, table.config).pending()
    table.upsert([ride(4, "rome")])
    assert rows_of(table) == [ride(1, "oslo"), ride(4, "rome")]
    (done,) = rollbacks(table)
    assert done.commits == (failed.requested,)
    assert set(done.partitions) == {"oslo", "rome"}
    assert done.files_deleted == 2
    assert not [path for path in files_of(table.storage) if failed.requested in path]


def test_files_without_markers_are_found_by_listing() -> None:
    table = table_with_failed_write(MemoryStorage())
    (failed,) = load_timeline(table.storage, table.config).pending()
    table.storage.delete_tree(f".hoodie/.temp/{failed.requested}")
    (plan,) = table.services.rollback()
    assert len(not_none(plan.requests)) == 2
    assert not [path for path in files_of(table.storage) if failed.requested in path]


def test_markers_of_a_timeline_server_are_read() -> None:
    table = table_with_failed_write(MemoryStorage())
    storage = table.storage
    (failed,) = load_timeline(storage, table.config).pending()
    folder = f".hoodie/.temp/{failed.requested}"
    lines = [path.removeprefix(f"{folder}/") for path in files_of(storage, folder)]
    storage.delete_tree(folder)
    storage.create(f"{folder}/MARKERS.type", b"TIMELINE_SERVER_BASED")
    storage.create(f"{folder}/MARKERS0", "\n".join(lines).encode() + b"\n")
    (plan,) = table.services.rollback()
    assert len(not_none(plan.requests)) == 2


def test_dry_run_plans_and_changes_nothing() -> None:
    table = table_with_failed_write(MemoryStorage())
    before = files_of(table.storage)
    (plan,) = table.services.rollback(dry_run=True)
    assert [request.partition_path for request in not_none(plan.requests)] == ["oslo", "rome"]
    assert files_of(table.storage) == before


def test_sound_table_has_nothing_to_roll_back() -> None:
    table = make_table()
    table.upsert([ride(1)])
    assert table.services.rollback() == ()


def test_unknown_instant_is_refused() -> None:
    table = make_table()
    table.upsert([ride(1)])
    with pytest.raises(UsageError, match="no failed write"):
        table.services.rollback(T1)


def test_file_that_cannot_be_deleted_keeps_the_rollback_pending() -> None:
    class Stubborn(InterceptedStorage):
        def _pass(self, call, effect, torn=None):
            if call.method == "delete" and call.path.endswith(".parquet"):
                raise StorageError("busy")
            return effect()

    table = table_with_failed_write(MemoryStorage())
    with pytest.raises(StorageError, match="busy"):
        HudiTable(Stubborn(table.storage)).services.rollback()
    pending = load_timeline(table.storage, table.config).pending()
    assert {(instant.action, instant.state) for instant in pending} >= {(Action.ROLLBACK, State.INFLIGHT)}
    assert rows_of(table) == [ride(1, "oslo")]
    table.upsert([ride(5, "rome")])
    assert rows_of(table) == [ride(1, "oslo"), ride(5, "rome")]
    assert load_timeline(table.storage, table.config).pending() == ()


@pytest.mark.parametrize(("age_s", "alive"), [(10, True), (500, False)])
def test_write_whose_heartbeat_is_fresh_is_left_alone(age_s, alive) -> None:
    storage = MemoryStorage()
    table = table_with_failed_write(storage)
    (failed,) = load_timeline(storage, table.config).pending()
    storage.create(f".hoodie/.heartbeat/{failed.requested}", b"")
    later = after_heartbeats(storage, age_s)
    if alive:
        with pytest.raises(ConflictError, match="is being written"):
            later.insert([ride(4, "rome")])
    else:
        later.insert([ride(4, "rome")])
        assert storage.list(".hoodie/.heartbeat") == []
    assert bool(load_timeline(storage, table.config).pending()) is alive


def pending_rollback(table: HudiTable, plan: RollbackPlan) -> None:
    instant = Instant("29990101000000000", Action.ROLLBACK, State.REQUESTED)
    table.storage.create(f".hoodie/timeline/{instant.file_name(2)}", encode_rollback_plan(plan, sync=bytes(16)))


def test_pending_rollback_of_a_commit_that_is_not_the_latest_is_refused_and_its_files_stay() -> None:
    table = make_table()
    done = table.insert([ride(1)])
    (path,) = table.inspect.files()["path"].to_pylist()
    table.insert([ride(2)], options={"hoodie.parquet.small.file.limit": "0"})
    pending_rollback(table, RollbackPlan(InstantInfo(not_none(done.instant), "commit"), (RollbackRequest("", files_to_delete=(path,)),)))
    with pytest.raises(CorruptTableError, match="came after it"):
        table.upsert([ride(3)])
    assert rows_of(table) == [ride(1), ride(2)]


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (RollbackRequest("../other", files_to_delete=(f"/x/a-0_0-0-0_{T1}.parquet",)), CorruptTableError),
        (RollbackRequest("", files_to_delete=("/etc/passwd",)), CorruptTableError),
        (RollbackRequest("", files_to_delete=("/x/a-0_0-0-0_20250101000000000.parquet",)), CorruptTableError),
    ],
)
def test_plan_that_names_what_its_instant_did_not_write_is_refused(request_, kind) -> None:
    with pytest.raises(kind):
        planned_files(RollbackPlan(InstantInfo(T1, "commit"), (request_,)))


def test_plan_of_a_table_that_was_moved_still_names_its_files() -> None:
    request = RollbackRequest("city=oslo", files_to_delete=(f"/old/place/city=oslo/a-0_0-0-0_{T1}.parquet",))
    assert planned_files(RollbackPlan(InstantInfo(T1, "commit"), (request,))) == {"city=oslo": [f"city=oslo/a-0_0-0-0_{T1}.parquet"]}
