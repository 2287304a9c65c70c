"""Rolling back what a failed write appended to a merge-on-read table of version 6."""

from __future__ import annotations

import pytest

from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.rollback.append_rollback_block import rollback_pending
from pyhudi.spec.actions.rollback import RollbackMetadata, RollbackRequest
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.service.test_rollback import Mortal
from tests.unit.table.tables import files_of, make_table, ride, rows_of

VERSION_6 = {"hoodie.write.table.version": "6"}


class Dying:
    """Looks keys up and runs the tasks of a write; then the process dies."""

    name = "local"

    def __init__(self, storage: Mortal) -> None:
        self.storage = storage

    def run(self, function, tasks):
        results = LocalEngine(threads=1).run(function, tasks)
        if any(isinstance(result, list) and isinstance(result[0], TaskResult) for result in results):
            self.storage.crashed = True
            raise Crashed
        return results


def table_with_failed_updates(storage: MemoryStorage) -> HudiTable:
    """One log in oslo that counts, and one of a failed write; none in rome."""
    table = make_table(storage, partition_by=["city"], table_type="MERGE_ON_READ", options=VERSION_6)
    table.insert([ride(1, "oslo"), ride(2, "rome")])
    table.upsert([ride(1, "oslo", 5)])
    mortal = Mortal(storage)
    with pytest.raises(Crashed):
        HudiTable(mortal, engine=Dying(mortal)).upsert([ride(1, "oslo", 666)])
    return HudiTable(storage)


def logs_of(table: HudiTable, partition: str = "oslo") -> list[str]:
    return sorted(path for path in files_of(table.storage, partition) if ".log." in path)


def blocks_of(table: HudiTable, path: str) -> list[BlockType]:
    content = table.storage.stat(path)
    assert content is not None
    with table.storage.open_input(path) as source:
        return [block.type for block in scan_blocks(source, path, content.size)]


def test_log_of_a_failed_write_stays_and_a_block_after_it_takes_it_back() -> None:
    table = table_with_failed_updates(MemoryStorage())
    before = logs_of(table)
    (plan,) = table.services.rollback()
    assert [sorted(request.log_blocks_to_delete or ()) for request in plan.requests or ()] == [[before[-1].rpartition("/")[2]]]
    after = logs_of(table)
    assert after[:-1] == before
    assert blocks_of(table, after[-1]) == [BlockType.COMMAND]
    assert rows_of(table) == [ride(1, "oslo", 5), ride(2, "rome")]


def test_rollback_records_the_files_by_partition() -> None:
    table = table_with_failed_updates(MemoryStorage())
    table.services.rollback()
    (instant,) = load_timeline(table.storage, table.config).with_actions(Action.ROLLBACK).completed()
    done = read_action(table.storage, table.config, instant)
    assert isinstance(done, RollbackMetadata)
    part = done.partitions["oslo"]
    failed, rolled_back = logs_of(table)[1:]
    assert list(part.failed_log_files or ()) == [failed.rpartition("/")[2]]
    assert [path.rpartition("/")[2] for path in part.rollback_log_files or ()] == [rolled_back.rpartition("/")[2]]


def test_what_was_rolled_back_stays_so_when_the_timeline_begins_later() -> None:
    """The instants before the first active one count as archived, so as completed."""
    table = table_with_failed_updates(MemoryStorage())
    table.upsert([ride(2, "rome", 7)])
    timeline = [status.path for status in table.storage.list(".hoodie") if not status.is_dir]
    newest = max(path for path in timeline if path.endswith(".deltacommit"))
    for path in timeline:
        if path.rpartition("/")[2][0].isdigit() and not path.startswith(newest.partition(".delta")[0]):
            table.storage.delete(path)
    assert rows_of(HudiTable(table.storage)) == [ride(1, "oslo", 5), ride(2, "rome", 7)]


def test_writes_after_a_rollback_count() -> None:
    table = table_with_failed_updates(MemoryStorage())
    table.upsert([ride(1, "oslo", 8)])
    assert rows_of(table) == [ride(1, "oslo", 8), ride(2, "rome")]
    assert [path.rpartition(".log.")[2].partition("_")[0] for path in logs_of(table)] == ["1", "2", "3", "4"]


def test_log_without_marker_is_found_by_the_inflight_file() -> None:
    table = table_with_failed_updates(MemoryStorage())
    table.storage.delete_tree(".hoodie/.temp")
    (plan,) = table.services.rollback()
    assert [request.partition_path for request in plan.requests or ()] == ["oslo"]


def test_markers_of_hudi_0_x_name_the_base_file() -> None:
    table = table_with_failed_updates(MemoryStorage())
    (failed,) = load_timeline(table.storage, table.config).pending()
    (base,) = (path for path in files_of(table.storage, "oslo") if path.endswith(".parquet"))
    table.storage.delete_tree(".hoodie/.temp")
    table.storage.replace(f".hoodie/{failed.file_name(1)}", b"")  # names no file group
    table.storage.create(f".hoodie/.temp/{failed.requested}/{base}.marker.APPEND", b"")
    (plan,) = table.services.rollback()
    assert [request.file_id for request in plan.requests or ()] == [base.removeprefix("oslo/").partition("_")[0]]
    assert table.storage.stat(base) is not None


def test_plan_that_does_not_say_which_slice_is_refused() -> None:
    table = table_with_failed_updates(MemoryStorage())
    with pytest.raises(CorruptTableError, match="without their file slice"):
        rollback_pending(table.storage, "20260101000000000", "20250101000000000", RollbackRequest("oslo", log_blocks_to_delete={"a": 1}))
