"""Writers side by side: which of two gets through, what the other is told, and what it leaves behind."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, OptionError, UnsupportedError, WriteConflictError
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.table import write_pipeline
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.heartbeats import heartbeat_path
from tests.not_none import not_none
from tests.unit.table.tables import make_table, ride, rows_of

MODE = "hoodie.write.concurrency.mode"
RETRIES = "hoodie.write.num.retries.on.conflict.failures"
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
OCC = {MODE: "optimistic_concurrency_control"}
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
NULLS = {"hoodie.write.set.null.for.missing.columns": "true"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


class Between:
    """An engine that lets something else happen once, before its tasks run or after them."""

    name = "local"

    def __init__(self, happens, *, after: bool = False) -> None:
        self._happens, self._after = happens, after

    def run(self, function, tasks):
        happens, self._happens = self._happens, None
        if happens is not None and not self._after:
            happens()
        results = LocalEngine(threads=1).run(function, tasks)
        if happens is not None and self._after:
            happens()
        return results


@pytest.fixture(params=[*TYPES, "COPY_ON_WRITE-6", "MERGE_ON_READ-6"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    kind, _, version = request.param.partition("-")
    options = {"hoodie.write.table.version": version} if version else {}
    made = make_table(MemoryStorage(), table_type=kind, partition_by=("city",), options=options)
    made.upsert([ride(1), ride(2), ride(3, city="rome")])
    return made


def beside(table: HudiTable, happens, *, after: bool = False) -> HudiTable:
    return HudiTable(table.storage, engine=Between(happens, after=after))


def check_sound(table: HudiTable, *, logs_stay: bool = False) -> None:
    storage = table.storage
    assert timeline_faults(storage) == []
    assert [path for path in garbage(storage) if not (logs_stay and ".log." in path)] == []
    assert [one.name for one in storage.list(".hoodie/.heartbeat")] == []
    if storage.stat(".hoodie/metadata") is not None:
        assert timeline_faults(FolderStorage(storage, ".hoodie/metadata")) == []
    assert table.inspect.health().num_rows == 0


@pytest.mark.parametrize("after", [False, True])
def test_writers_of_different_file_groups_both_get_through(table: HudiTable, after: bool) -> None:
    first = beside(table, lambda: table.upsert([ride(3, city="rome", value=5)], options=OCC), after=after)
    first.upsert([ride(1, value=7)], options=OCC)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome", value=5)]
    check_sound(table)


@pytest.mark.parametrize("after", [False, True])
def test_the_second_one_to_commit_loses_and_leaves_nothing(table: HudiTable, after: bool) -> None:
    first = beside(table, lambda: table.upsert([ride(2, value=5)], options=OCC), after=after)
    with pytest.raises(WriteConflictError, match=r"completed first and changed file group .*write again"):
        first.upsert([ride(1, value=7)], options=OCC)
    assert rows_of(table) == [ride(1), ride(2, value=5), ride(3, city="rome")]
    check_sound(table)


def test_the_error_names_the_winner_and_the_file_group(table: HudiTable) -> None:
    won = []
    first = beside(table, lambda: won.append(table.upsert([ride(2, value=5)], options=OCC).instant))
    with pytest.raises(WriteConflictError) as caught:
        first.upsert([ride(1, value=7)], options=OCC)
    (group,) = set(table.inspect.files().filter(pc.field("partition_path") == "oslo")["file_id"].to_pylist())
    assert not_none(won[0]) in str(caught.value)
    assert group in str(caught.value)
    assert RETRIES in str(caught.value)


def test_a_writer_that_lost_is_repeated_as_often_as_the_option_says(table: HudiTable) -> None:
    first = beside(table, lambda: table.upsert([ride(2, value=5)], options=OCC))
    first.upsert([ride(1, value=7)], options={**OCC, RETRIES: "1"})
    assert rows_of(table) == [ride(1, value=7), ride(2, value=5), ride(3, city="rome")]
    check_sound(table)


def test_one_new_key_is_not_inserted_by_two_writers(table: HudiTable) -> None:
    first = beside(table, lambda: table.upsert([ride(9, city="bergen", value=5)], options=OCC))
    with pytest.raises(WriteConflictError, match="inserted the record key '9' too"):
        first.upsert([ride(9, city="bergen", value=7), ride(8, city="bergen")], options=OCC)
    assert rows_of(table) == sorted([ride(1), ride(2), ride(3, city="rome"), ride(9, city="bergen", value=5)], key=lambda row: row["id"])
    check_sound(table)


def test_different_new_keys_of_one_partition_are_no_conflict(table: HudiTable) -> None:
    first = beside(table, lambda: table.upsert([ride(9, city="bergen")], options=OCC))
    first.upsert([ride(8, city="bergen")], options=OCC)
    assert [row["id"] for row in rows_of(table)] == [1, 2, 3, 8, 9]
    check_sound(table)


@pytest.mark.parametrize("kind", TYPES)
def test_two_writers_do_not_begin_one_bucket(kind: str) -> None:
    table = make_table(MemoryStorage(), table_type=kind, partition_by=("city",))
    first = beside(table, lambda: table.upsert([ride(2), ride(5)], options=OCC | BUCKETS))
    with pytest.raises(WriteConflictError):
        first.upsert([ride(number) for number in range(10, 20)], options=OCC | BUCKETS)
    assert rows_of(table) == [ride(2), ride(5)]
    check_sound(table)


def test_rows_placed_by_the_numbers_of_buckets_before_a_rescaling_lose() -> None:
    table = make_table(MemoryStorage(), partition_by=("city",))
    table.upsert([ride(number) for number in range(10)], options=BUCKETS)
    first = beside(table, lambda: table.services.rescale_buckets("oslo,5", options=OCC))
    with pytest.raises(WriteConflictError, match="numbers of buckets"):
        first.upsert([ride(number, city="rome") for number in range(10, 20)], options=OCC)
    assert rows_of(table) == [ride(number) for number in range(10)]
    check_sound(table)


@pytest.mark.parametrize(
    "write",
    [
        lambda table: table.delete([{"id": 1, "city": "oslo"}], options=OCC),
        lambda table: table.overwrite([ride(4)], options=OCC),
        lambda table: table.delete(partitions=["oslo"], options=OCC),
    ],
)
def test_deletes_and_overwrites_conflict_as_upserts_do(table: HudiTable, write) -> None:
    first = beside(table, lambda: write(table))
    with pytest.raises(WriteConflictError):
        first.upsert([ride(1, value=7)], options=OCC)
    after = rows_of(table)
    second = make_table(MemoryStorage(), table_type=table.config.table_type, partition_by=("city",))
    second.upsert([ride(1), ride(2), ride(3, city="rome")])
    with pytest.raises(WriteConflictError):
        write(beside(second, lambda: second.upsert([ride(1, value=7)], options=OCC)))
    assert rows_of(second) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    assert ride(1, value=7) not in after
    check_sound(table)
    check_sound(second)


def test_a_single_writer_is_refused_while_another_one_is_at_work(table: HudiTable) -> None:
    def write_alone() -> None:
        with pytest.raises(ConflictError, match=r"is being written.*same hoodie.write.concurrency.mode need not wait"):
            table.upsert([ride(2, value=5)])

    beside(table, write_alone).upsert([ride(1, value=7)], options=OCC)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]


@pytest.mark.parametrize("service", ["rollback", "compact", "cluster", "clean", "archive", "savepoint"])
def test_services_leave_a_writer_alone_that_is_alive(table: HudiTable, service: str) -> None:
    refused = []

    def serve() -> None:
        try:
            if service in ("rollback", "savepoint"):
                getattr(table.services, service)()
            elif service != "compact" or table.config.is_merge_on_read:
                getattr(table.services, service)(options=OCC)
        except ConflictError as error:
            refused.append(error)

    beside(table, serve).upsert([ride(1, value=7)], options=OCC | {RETRIES: str(int(service == "cluster"))})
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    assert len(refused) == (service == "rollback")


def test_a_write_over_which_the_table_was_restored_is_refused(table: HudiTable) -> None:
    saved = table.services.savepoint().instant
    table.upsert([ride(1, value=6)])

    def restore() -> None:
        for beat in table.storage.list(".hoodie/.heartbeat"):
            table.storage.delete(beat.path)  # the writer was held up for so long that it counts as dead
        table.services.restore(saved)

    with pytest.raises(ConflictError):
        beside(table, restore).upsert([ride(3, city="rome", value=7)], options=OCC)
    assert rows_of(table) == [ride(1), ride(2), ride(3, city="rome")]
    if table.config.layout > 1:  # rolled back logs of version 6 stay, and the restore deletes the rollbacks that name them
        check_sound(table)


def test_a_write_that_was_rolled_back_before_it_wrote_files_does_not_complete(table: HudiTable) -> None:
    def roll_back() -> None:
        for beat in table.storage.list(".hoodie/.heartbeat"):
            table.storage.delete(beat.path)  # the writer was held up for so long that it counts as dead
        table.services.clean(options=OCC)

    with pytest.raises(ConflictError, match="was rolled back by"):
        beside(table, roll_back).upsert([ride(1, value=7)], options=OCC)
    assert rows_of(table) == [ride(1), ride(2), ride(3, city="rome")]
    check_sound(table)


def test_a_column_of_another_writer_is_kept(table: HudiTable) -> None:
    other = pa.table({"id": [3], "city": ["rome"], "value": [5], "at": [9], "note": ["new"]})
    beside(table, lambda: table.upsert(other, options=OCC)).upsert([ride(1, value=7)], options=OCC)
    assert "note" in table.schema.names
    assert table.count() == 3
    check_sound(table)


def test_columns_that_contradict_each_other_are_a_conflict(table: HudiTable) -> None:
    def rows(number: int, city: str, column: str) -> pa.Table:
        row = ride(number, city=city)
        return (
            pa.Table.from_pylist([row]).cast(pa.schema([table.schema.field(name) for name in row])).append_column(column, pa.array(["x"]))
        )

    with pytest.raises(WriteConflictError, match="columns of table"):
        beside(table, lambda: table.upsert(rows(3, "rome", "theirs"), options=OCC)).upsert(rows(1, "oslo", "mine"), options=OCC)
    assert table.schema.names[-1] == "theirs"
    third = beside(table, lambda: table.upsert(rows(3, "rome", "third"), options=OCC | NULLS))
    third.upsert(rows(1, "oslo", "fourth"), options=OCC | NULLS | {RETRIES: "2"})
    assert set(table.schema.names) >= {"theirs", "third", "fourth"}


def test_a_write_that_changes_nothing_leaves_the_timeline_as_it_was(table: HudiTable) -> None:
    before = table.storage.file_names(table.config.timeline_path)
    assert table.delete([{"id": 77, "city": "oslo"}], options=OCC).instant is None
    assert table.storage.file_names(table.config.timeline_path) == before
    check_sound(table)


def test_a_failing_write_leaves_the_timeline_as_it_was(table: HudiTable) -> None:
    before = table.storage.file_names(table.config.timeline_path)
    with pytest.raises(ValueError, match="null in the record key"):
        table.upsert([{**ride(1), "id": None, "no_such": 1}], options=OCC)
    assert table.storage.file_names(table.config.timeline_path) == before


def test_a_dead_writer_is_rolled_back_by_a_clean_and_a_live_one_never(table: HudiTable) -> None:
    def clean() -> None:
        table.services.clean(options=OCC)
        pending = load_timeline(table.storage, table.config).pending()
        assert [one.action for one in pending] == [Action.DELTA_COMMIT if table.config.is_merge_on_read else Action.COMMIT]
        assert table.storage.stat(heartbeat_path(pending[0].requested)) is not None

    beside(table, clean).upsert([ride(1, value=7)], options=OCC)
    check_sound(table)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({MODE: "optimistic"}, OptionError, "can be SINGLE_WRITER, OPTIMISTIC_CONCURRENCY_CONTROL, NON_BLOCKING"),
        ({STRATEGY: "org.mine.Strategy"}, UnsupportedError, "loads no classes by name"),
        (
            OCC | {STRATEGY: "org.apache.hudi.client.transaction.BucketIndexConcurrentFileWritesConflictResolutionStrategy"},
            OptionError,
            "has no bucket index",
        ),
    ],
)
def test_modes_and_strategies_that_are_not_served_are_refused(table: HudiTable, options, error, text: str) -> None:
    before = table.storage.file_names(table.config.timeline_path)
    with pytest.raises(error, match=text):
        table.upsert([ride(1)], options=options)
    assert table.storage.file_names(table.config.timeline_path) == before


@pytest.mark.parametrize("version", ["6", "9"])
def test_tables_that_are_not_served_are_refused(version: str) -> None:
    table = make_table(MemoryStorage(), options={"hoodie.populate.meta.fields": "false", "hoodie.write.table.version": version})
    with pytest.raises(UnsupportedError, match="no meta columns"):
        table.upsert([ride(1)], options=OCC)
    table.upsert([ride(1)])


def test_buckets_that_are_split_are_refused() -> None:
    hashing = BUCKETS | {"hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
    table = make_table(MemoryStorage(), table_type="MERGE_ON_READ")
    with pytest.raises(UnsupportedError, match="split and merged"):
        table.upsert([ride(1)], options=OCC | hashing)
    check_sound(table)


def test_a_planned_clustering_is_not_rolled_back_by_a_write_beside_others(table: HudiTable) -> None:
    options = {
        "hoodie.clustering.updates.strategy": "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy",
        "hoodie.clustering.rollback.pending.replacecommit.on.conflict": "true",
    }
    with pytest.raises(UnsupportedError, match="several writers"):
        table.upsert([ride(1)], options=OCC | options)


def test_a_clustering_that_is_planned_meanwhile_wins(table: HudiTable) -> None:
    first = beside(table, lambda: table.services.cluster(mode="schedule", options=OCC))
    with pytest.raises(WriteConflictError, match="is pending and changed file group"):
        first.upsert([ride(1, value=7)], options=OCC)
    table.services.cluster(mode="execute", options=OCC)
    assert rows_of(table) == [ride(1), ride(2), ride(3, city="rome")]


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_record_that_a_live_writer_has_begun_in_the_metadata_table_stays(table: HudiTable, is_alive: bool) -> None:
    """Apache Hudi begins it together with its write, without the lock."""
    mdt = FolderStorage(table.storage, ".hoodie/metadata")
    records: list[str] = []

    def begin_record() -> None:
        (pending,) = load_timeline(table.storage, table.config).pending()
        records[:] = [f"{table.config.timeline_path}/{pending.requested}.deltacommit.{state}" for state in ("requested", "inflight")]
        for path in records:
            mdt.create(path, b"")
        if not is_alive:
            table.storage.delete(heartbeat_path(pending.requested))
        table.upsert([ride(3, city="rome", value=5)], options=OCC | {"hoodie.clean.automatic": "false"})
        assert [mdt.stat(path) is not None for path in records] == [is_alive, is_alive]
        for path in records:
            mdt.delete(path)

    beside(table, begin_record).upsert([ride(1, value=7)], options=OCC)
    assert records
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome", value=5)]


def test_a_record_that_a_live_writer_has_begun_stays_when_a_clustering_completes(table: HudiTable) -> None:
    mdt = FolderStorage(table.storage, ".hoodie/metadata")

    def cluster() -> None:
        (pending,) = load_timeline(table.storage, table.config).pending()
        records = [f"{table.config.timeline_path}/{pending.requested}.deltacommit.{state}" for state in ("requested", "inflight")]
        for path in records:
            mdt.create(path, b"")
        assert len(table.services.cluster(options=OCC)) == 1
        assert [mdt.stat(path) is not None for path in records] == [True, True]
        for path in records:
            mdt.delete(path)

    with pytest.raises(WriteConflictError, match="completed first"):
        beside(table, cluster).upsert([ride(1, value=7)], options=OCC)


def test_a_record_whose_write_begins_after_the_timeline_was_read_stays(table: HudiTable) -> None:
    """A writer of Apache Hudi may begin both between the two timelines that are read."""
    time = not_none(load_timeline(table.storage, table.config).last_completed()).requested
    requested = str(int(time) + 1)
    records = [f".hoodie/metadata/{table.config.timeline_path}/{requested}.deltacommit.{state}" for state in ("requested", "inflight")]
    for path in (*records, heartbeat_path(requested)):
        table.storage.create(path, b"")
    table.upsert([ride(3, city="rome", value=5)], options=OCC | {"hoodie.clean.automatic": "false"})
    assert [table.storage.stat(path) is not None for path in records] == [True, True]
    table.storage.delete(heartbeat_path(requested))
    table.upsert([ride(3, city="rome", value=6)], options=OCC | {"hoodie.clean.automatic": "false"})
    assert [table.storage.stat(path) for path in records] == [None, None]


def test_a_write_whose_base_a_restore_takes_away_before_it_is_read_is_told_so(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    first = not_none(table.upsert([ride(1, value=1)], options=OCC).instant)
    table.upsert([ride(1, value=2)], options=OCC)
    state_before, restored = write_pipeline.state_before, list[str]()

    def read_late(state):
        if not restored:
            restored.append(first)
            with pytest.raises(ConflictError, match="showed life"):
                table.services.restore(first)
            for beat in table.storage.list(".hoodie/.heartbeat"):
                table.storage.delete(beat.path)
            table.services.restore(first)
        return state_before(state)

    monkeypatch.setattr(write_pipeline, "state_before", read_late)
    with pytest.raises(ConflictError, match=r"restored by \d+ while"):
        table.upsert([ride(2, value=3)], options=OCC)
    assert rows_of(table)[0] == ride(1, value=1)
    check_sound(table, logs_stay=table.config.version == TableVersion.SIX)  # docs/design/0183-concurrent-writers-of-version-6.md
