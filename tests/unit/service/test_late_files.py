"""Files that a writer wrote after others had rolled its write back are deleted before a reader can take them for committed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pyhudi.codec.actions.rollback_codec import encode_rollback_plan
from pyhudi.service.rollback.execute_rollback import execute_rollback
from pyhudi.service.rollback.rollback_plan import plan_rollback
from pyhudi.spec.files.marker import MarkerType, marker_folder, marker_path
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.heartbeats import heartbeat_path
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.markers import is_file_of
from pyhudi.txn.metadata_updates import time_of_service
from tests.unit.service.test_failed_writes_policy import died
from tests.unit.table.tables import files_of, make_table, ride, rows_of

LISTED = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false"}
KEEP_ALL = LISTED | {"hoodie.archive.automatic": "false"}
LIMITS = LISTED | {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.compact.inline.max.delta.commits": "1"}
#: In version 6 log files do not have the time of their writer in their names.
KINDS = [("COPY_ON_WRITE", 6), ("COPY_ON_WRITE", 8), ("COPY_ON_WRITE", 9), ("MERGE_ON_READ", 8), ("MERGE_ON_READ", 9)]


def rolled_back(kind: str, version: int) -> tuple[MemoryStorage, str, Mapping[str, bytes]]:
    """Return a table without metadata table, the time of a write that was rolled back, and the files that it had written."""
    storage, failed = died(kind, version, options=KEEP_ALL)
    files = {path: storage.read(path) for path in files_of(storage) if is_file_of(path, failed) and ".hoodie" not in path}
    assert files
    HudiTable(storage).services.rollback()
    assert not set(files).intersection(files_of(storage))
    return storage, failed, files


def write_late(storage: MemoryStorage, files: Mapping[str, bytes]) -> list[str]:
    """Write the files in file groups of their own, and return their paths."""
    late = {path.replace("-0_", "-1_", 1): content for path, content in files.items()}
    for path, content in late.items():
        storage.create(path, content)
    return list(late)


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_they_are_deleted_before_their_rollback_is_archived(kind: str, version: int, caplog: pytest.LogCaptureFixture) -> None:
    storage, failed, files = rolled_back(kind, version)
    late = write_late(storage, files)
    for number in range(10, 16):
        HudiTable(storage).upsert([ride(number)], options=LIMITS)
    timeline = load_timeline(storage, HudiTable(storage).config)
    assert failed < timeline.instants[0].requested, "the rollback is archived"
    assert [row["id"] for row in rows_of(HudiTable(storage))] == [1, 2, *range(10, 16)]
    assert {row["id"]: row["value"] for row in rows_of(HudiTable(storage))}[2] == 0
    assert not set(late).intersection(files_of(storage))
    assert f"deleted {len(late)} files that the writer of {failed} wrote after it had been rolled back" in caplog.text


def test_a_dry_run_of_archival_deletes_none() -> None:
    storage, _, files = rolled_back("COPY_ON_WRITE", 9)
    late = write_late(storage, files)
    for number in range(10, 16):
        HudiTable(storage).upsert([ride(number)], options=KEEP_ALL)
    assert HudiTable(storage).services.archive(options=LIMITS, dry_run=True).instants
    assert set(late) <= set(files_of(storage))


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_those_with_markers_are_deleted_by_the_next_write_unless_their_writer_is_alive(kind: str, version: int) -> None:
    storage, failed, files = rolled_back(kind, version)
    late = write_late(storage, files)
    for path in late:
        storage.create(marker_path(failed, path, MarkerType.CREATE), b"")
    storage.replace(heartbeat_path(failed), b"")
    HudiTable(storage).upsert([ride(4)], options=KEEP_ALL)
    assert set(late) <= set(files_of(storage))
    storage.delete(heartbeat_path(failed))
    HudiTable(storage).upsert([ride(5)], options=KEEP_ALL)
    assert not set(late).intersection(files_of(storage))
    assert not storage.list(marker_folder(failed))
    assert [row["id"] for row in rows_of(HudiTable(storage))] == [1, 2, 4, 5]


def test_those_that_are_written_during_the_rollback_are_deleted_at_its_end() -> None:
    storage, failed = died("COPY_ON_WRITE", 9, options=KEEP_ALL)
    (path,) = (path for path in files_of(storage) if is_file_of(path, failed) and ".hoodie" not in path)
    late = path.replace("-0_", "-1_", 1)

    class Meanwhile(InterceptedStorage):
        """The writer goes on when its files are deleted."""

        def _pass(self, call: Call, effect, torn=None):
            if (call.method, call.path) == ("delete", path):
                storage.create(marker_path(failed, late, MarkerType.CREATE), b"")
                storage.create(late, b"late")
            return effect()

    HudiTable(Meanwhile(storage)).services.rollback()
    assert storage.stat(path) is None
    assert storage.stat(late) is None
    assert not storage.list(".hoodie/.temp")


def test_a_compaction_that_ran_again_at_the_time_at_which_it_was_rolled_back_stays() -> None:
    table = make_table(MemoryStorage(), table_type="MERGE_ON_READ")
    storage = table.storage
    table.upsert([ride(1), ride(2)], options=KEEP_ALL)
    table.upsert([ride(2, value=7)], options=KEEP_ALL)
    once = KEEP_ALL | {"hoodie.compact.inline.max.delta.commits": "1"}
    (planned,) = table.services.compact(options=once, mode="schedule")
    plan = planned.instant

    class Dying(InterceptedStorage):
        is_dead = False

        def _pass(self, call: Call, effect, torn=None):
            self.is_dead |= call.method == "create" and call.path.startswith(f".hoodie/timeline/{plan}_")
            if self.is_dead:
                raise Crashed
            return effect()

    with pytest.raises(Crashed):
        HudiTable(Dying(storage)).services.compact(options=once, mode="execute")
    with locked_table(storage, 1, SystemClock(), SystemIds()) as locked:  # as Apache Hudi does
        (failed,) = locked.timeline.pending()
        rollback_plan = plan_rollback(locked, failed)
        content = encode_rollback_plan(rollback_plan, sync=locked.ids.sync_marker())
        execute_rollback(locked, locked.writer.request(Action.ROLLBACK, time_of_service(locked), content), rollback_plan)
    HudiTable(storage).services.compact(options=once, mode="execute")
    assert load_timeline(storage, table.config).completed(Action.ROLLBACK)
    for number in range(10, 18):
        HudiTable(storage).upsert([ride(number)], options=LIMITS)
    assert not load_timeline(storage, table.config).completed(Action.ROLLBACK)
    assert [(row["id"], row["value"]) for row in rows_of(HudiTable(storage))][:2] == [(1, 0), (2, 7)]
    assert table.inspect.health().num_rows == 0
