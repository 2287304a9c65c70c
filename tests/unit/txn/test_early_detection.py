"""Early detection of conflicts: who gives up before it writes, by which markers, and what is left to the commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import OptionError, StorageError, UnsupportedError, WriteConflictError
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.marker import TEMP_FOLDER, TIMELINE_SERVER_BASED, TYPE_FILE, MarkerType, marker_path
from pyhudi.spec.instant import State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.conflicts.early_detection import ConflictDetector, EarlyDetection
from pyhudi.txn.heartbeat_settings import HeartbeatSettings
from pyhudi.txn.heartbeats import heartbeat_path
from tests.unit.table.tables import files_of, make_table, ride, rows_of
from tests.unit.txn.test_concurrent_schedules import EARLY
from tests.unit.txn.test_non_blocking import NBCC
from tests.unit.txn.test_optimistic import BUCKETS, OCC, RETRIES, TYPES, check_sound

DETECTS = OCC | {EARLY: "true"}
COMMITS = {"hoodie.write.concurrency.early.conflict.check.commit.conflict": "true"}
TRANSACTIONAL = "SimpleTransactionDirectMarkerBasedDetectionStrategy"
IMPLICIT = {
    "hoodie.write.lock.provider": "ZookeeperBasedImplicitBasePathLockProvider",
    "hoodie.write.lock.zookeeper.url": "127.0.0.1:1",
}
STRATEGY = "hoodie.write.concurrency.early.conflict.detection.strategy"


class OnceInflight:
    """An engine that lets something else happen once its own files and their markers are written."""

    name = "local"

    def __init__(self, table: HudiTable, happens: Callable[[], object]) -> None:
        self._table, self._happens, self._done = table, happens, False

    def run(self, function, tasks):
        states = [one.state for one in load_timeline(self._table.storage, self._table.config).pending()]
        now = not self._done and State.INFLIGHT in states
        self._done = self._done or now
        results = LocalEngine(threads=1).run(function, tasks)
        if now:
            self._happens()
        return results


@pytest.fixture(params=TYPES)
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = make_table(MemoryStorage(), table_type=request.param, partition_by=("city",))
    made.upsert([ride(1), ride(2), ride(3, city="rome")])
    return made


def written(storage: RecordingStorage) -> list[str]:
    return [call.path for call in storage.calls if call.method == "open_output"]


def give_up(table: HudiTable, **options: str) -> Callable[[], None]:
    """Return a write that detects the conflict before it writes a data file."""

    def write() -> None:
        recorded = RecordingStorage(table.storage)
        with pytest.raises(WriteConflictError, match="is writing, or has written, to file group"):
            HudiTable(recorded, engine=LocalEngine(threads=1)).upsert([ride(1, value=5)], options=DETECTS | options)
        assert written(recorded) == []

    return write


def older(table: HudiTable, happens: Callable[[], object]) -> HudiTable:
    return HudiTable(table.storage, engine=OnceInflight(table, happens))


def test_the_writer_that_began_later_gives_up_before_it_writes(table: HudiTable) -> None:
    older(table, give_up(table)).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    check_sound(table)


def test_without_early_detection_it_writes_and_commits_first(table: HudiTable) -> None:
    with pytest.raises(WriteConflictError, match="completed first"):
        older(table, lambda: table.upsert([ride(1, value=5)], options=OCC)).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table)[0] == ride(1, value=5)


def test_other_file_groups_are_no_conflict(table: HudiTable) -> None:
    older(table, lambda: table.upsert([ride(3, city="rome", value=5)], options=DETECTS)).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome", value=5)]


def test_markers_of_a_writer_that_has_died_do_not_count(table: HudiTable) -> None:
    def die_and_write() -> None:
        (pending,) = load_timeline(table.storage, table.config).pending()
        table.storage.delete(heartbeat_path(pending.requested))
        table.upsert([ride(1, value=5)], options=DETECTS | {"hoodie.clean.automatic": "false"})

    with pytest.raises(WriteConflictError, match="completed first"):
        older(table, die_and_write).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table)[0] == ride(1, value=5)


def test_markers_of_the_timeline_server_count_too(table: HudiTable) -> None:
    def batch_and_write() -> None:
        (folder,) = [status.path for status in table.storage.list(TEMP_FOLDER)]
        names = [path.removeprefix(f"{folder}/") for path in files_of(table.storage, folder)]
        table.storage.delete_tree(folder)
        table.storage.create(f"{folder}/{TYPE_FILE}", TIMELINE_SERVER_BASED.encode())
        table.storage.create(f"{folder}/MARKERS0", "".join(f"{name}\n" for name in names).encode())
        give_up(table)()

    older(table, batch_and_write).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    check_sound(table)


def test_of_two_writers_the_one_that_began_first_goes_on(table: HudiTable) -> None:
    earlier, later = ("20990101000000000", "20990101000000001")
    file_id = "aaaaaaaa-0000-0000-0000-000000000000-0"
    for instant in (earlier, later):
        table.storage.create(marker_path(instant, f"oslo/{file_id}_0-0-0_{instant}.parquet", MarkerType.MERGE), b"")
        table.storage.replace(heartbeat_path(instant), b"")
    detection = EarlyDetection(HeartbeatSettings())
    groups = [FileGroupId("oslo", file_id)]
    ConflictDetector(table.config, earlier, detection, SystemClock()).check(table.storage, groups)
    with pytest.raises(WriteConflictError, match=f"{earlier} of table .* is writing, or has written, to file group {file_id} in 'oslo'"):
        ConflictDetector(table.config, later, detection, SystemClock()).check(table.storage, groups)
    ConflictDetector(table.config, later, detection, SystemClock()).check(table.storage, [FileGroupId("rome", file_id)])


@pytest.mark.parametrize("checks", [True, False])
def test_commits_since_the_beginning_count_where_the_option_says_so(table: HudiTable, checks: bool) -> None:
    recorded = RecordingStorage(table.storage)
    options = DETECTS | (COMMITS if checks else {})

    class FirstLookUp(OnceInflight):
        def run(self, function, tasks):
            if not self._done:
                self._done = True
                self._happens()
            return LocalEngine(threads=1).run(function, tasks)

    engine = FirstLookUp(table, lambda: table.upsert([ride(1, value=5)], options=OCC))
    text = "is writing, or has written" if checks else "completed first"
    with pytest.raises(WriteConflictError, match=text):
        HudiTable(recorded, engine=engine).upsert([ride(1, value=7)], options=options)
    assert (written(recorded) == []) == checks
    assert rows_of(table)[0] == ride(1, value=5)
    check_sound(table)


def test_a_write_that_gives_up_is_repeated_as_often_as_the_option_says(table: HudiTable) -> None:
    first = older(table, give_up(table, **{RETRIES: "1"}))
    first.upsert([ride(1, value=7)], options=DETECTS)
    table.upsert([ride(1, value=5)], options=DETECTS | {RETRIES: "1"})
    assert rows_of(table)[0] == ride(1, value=5)


def test_buckets_are_compared_where_both_begin_one() -> None:
    table = make_table(MemoryStorage(), table_type="MERGE_ON_READ", partition_by=("city",))
    older(table, give_up(table, **BUCKETS)).upsert([ride(1, value=7)], options=DETECTS | BUCKETS)
    assert rows_of(table) == [ride(1, value=7)]
    check_sound(table)


def test_markers_of_a_compaction_do_not_count() -> None:
    table = make_table(MemoryStorage(), table_type="MERGE_ON_READ", partition_by=("city",))
    table.upsert([ride(1), ride(2)])
    table.upsert([ride(1, value=4)])
    engine = OnceInflight(table, lambda: table.upsert([ride(1, value=5)], options=DETECTS))
    table.services.compact(options=OCC, engine=engine)
    assert rows_of(table) == [ride(1, value=5), ride(2)]


def test_what_cannot_be_read_is_left_to_the_commit(table: HudiTable) -> None:
    class Failing(RecordingStorage):
        def list(self, path: str) -> list[FileStatus]:
            raise StorageError(f"no list of {path}")

    detector = ConflictDetector(table.config, "20990101000000000", EarlyDetection(HeartbeatSettings()), SystemClock())
    detector.check(Failing(table.storage), [FileGroupId("oslo", "aaaaaaaa-0000-0000-0000-000000000000-0")])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({EARLY: "true"}, OptionError, "needs hoodie.write.concurrency.mode=OPTIMISTIC"),
        (NBCC | {EARLY: "true"}, OptionError, "it is NON_BLOCKING"),
        (DETECTS | {STRATEGY: "org.mine.Strategy"}, UnsupportedError, "loads no classes by name"),
        (DETECTS | {STRATEGY: TRANSACTIONAL} | IMPLICIT, UnsupportedError, "is written with ZookeeperBasedImplicitBasePathLockProvider"),
        (
            DETECTS | {STRATEGY: "org.apache.hudi.client.transaction.SimpleTransactionDirectMarkerBasedDetectionStrategy"},
            UnsupportedError,
            "is written with no lock provider. Take hoodie.write.lock.provider=ZookeeperBasedLockProvider",
        ),
    ],
)
def test_what_cannot_be_detected_is_refused(options: dict[str, str], error: type[Exception], text: str) -> None:
    table = make_table(MemoryStorage(), table_type="MERGE_ON_READ", partition_by=("city",))
    before = files_of(table.storage)
    with pytest.raises(error, match=text):
        table.upsert([ride(1)], options=options)
    assert files_of(table.storage) == before


@pytest.mark.parametrize(
    "strategy",
    [
        "org.apache.hudi.client.transaction.SimpleDirectMarkerBasedDetectionStrategy",
        "org.apache.hudi.timeline.service.handlers.marker.AsyncTimelineServerBasedDetectionStrategy",
    ],
)
def test_strategies_by_the_names_of_apache_hudi(table: HudiTable, strategy: str) -> None:
    older(table, give_up(table, **{STRATEGY: strategy})).upsert([ride(1, value=7)], options=DETECTS)
    assert rows_of(table)[0] == ride(1, value=7)
