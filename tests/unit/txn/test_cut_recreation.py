"""Tables created again by an overwrite, cut at every change: readers see the old table or the new one, and the next writer settles it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, CorruptTableError, SchemaError, UnsupportedError
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.recreated_storage import RECREATION_FOLDER
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.version import recreate_table as module
from pyhudi.table.version.recreate_table import NewDefinition, recreate_table
from pyhudi.table.write_table import write
from pyhudi.testing.fault_injection import Fault
from pyhudi.txn import recreation
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, check_sound, cuts, ride
from tests.unit.storage.cloud_store import new_url, serve_from_memory

NEW_SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "day": pa.int32()})
NEW_ROWS = [{"id": "a", "city": "oslo", "day": 1}, {"id": "b", "city": "rome", "day": 2}]
WITHOUT_PARTITIONS = {"partition_by": ()}
CASES = [
    pytest.param(("COPY_ON_WRITE", 9, {}), id="other columns"),
    pytest.param(("COPY_ON_WRITE", 9, WITHOUT_PARTITIONS), id="without partitions"),
    pytest.param(("MERGE_ON_READ", 8, {"partition_by": ("day",)}), id="other partitions"),
    pytest.param(("MERGE_ON_READ", 6, {"table_type": "MERGE_ON_READ"}), id="from version 6"),
]


def definition(**changes: object) -> NewDefinition:
    stated: dict[str, object] = {
        "schema": NEW_SCHEMA,
        "name": "other",
        "keys": ("id",),
        "partition_by": ("city",),
        "order_by": (),
        "table_type": "COPY_ON_WRITE",
        "options": {},
        **changes,
    }
    return NewDefinition(**stated)  # type: ignore[arg-type]


def handle(storage: Storage) -> HudiTable:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds(), engine=LocalEngine(threads=1))


def recreate(storage: Storage, new: NewDefinition, metadata: str = "true") -> None:
    def rows(created: Storage) -> None:
        write(handle(created), Operation.UPSERT, NEW_ROWS, options={"hoodie.metadata.enable": metadata}, engine=LocalEngine(threads=1))

    recreate_table(handle(storage), new, resolve({}), rows)


def stored(table_type: str = "COPY_ON_WRITE", version: int = 9, *, metadata: bool = True) -> tuple[MemoryStorage, Driver]:
    driver = Driver(metadata_table=metadata, table_type=table_type, created_with={"hoodie.write.table.version": str(version)})
    storage = MemoryStorage()
    driver.create(storage)
    for number in range(2):
        driver.write(storage, Operation.UPSERT, [ride(1, "oslo", number), ride(2, "paris", number)])
    return storage, driver


def rows_of(storage: Storage) -> list[dict[str, object]]:
    return sorted(HudiTable(storage).to_arrow().to_pylist(), key=str)


def names_of_files(storage: Storage) -> set[str]:
    return {status.name for folder in recreation.data_folders(storage) for status in folder.files}


def check_cuts(case: tuple[str, int, dict[str, object]], *faults: Fault, whole: bool) -> tuple[int, int]:
    """Cut at every change, and return how often the old table was left, and how often the new one."""
    table_type, version, changes = case
    storage, driver = stored(table_type, version, metadata=whole)
    new_definition, metadata = definition(**changes), str(whole).lower()
    old, files = rows_of(storage), names_of_files(storage)
    ended = storage.copy()
    recreate(ended, new_definition, metadata)
    new = sorted(NEW_ROWS, key=str)
    assert rows_of(ended) == new
    counts = [0, 0]
    for run in cuts(lambda at: recreate(at, new_definition, metadata), storage, faults, lambda call: call.method != "lock"):
        left = rows_of(run.storage)
        assert left in (old, new), run.point
        assert run.error is not None or left == new, run.point
        counts[left == new] += 1
        if left == old:
            driver.write(run.storage, Operation.UPSERT, [ride(9, "rome", 9)])
            assert rows_of(run.storage) == sorted([*old, ride(9, "rome", 9)], key=str), run.point
            check_at_rest(run.storage, run.point)
            assert run.storage.stat(RECREATION_FOLDER) is None, run.point
            assert not [name for name in names_of_files(run.storage) - files if "parquet" in name][1:], run.point
        else:
            write(handle(run.storage), Operation.DELETE, [NEW_ROWS[0]], options={"hoodie.metadata.enable": metadata})
            assert rows_of(run.storage) == new[1:], run.point
            check_sound(run.storage, run.point)
            assert run.storage.stat(RECREATION_FOLDER) is None, run.point
            assert not names_of_files(run.storage) & {name for name in files if "parquet" in name or ".log." in name}, run.point
            assert HudiTable(run.storage).inspect.health().to_pylist() == [], run.point
    return counts[0], counts[1]


@pytest.mark.parametrize("case", [CASES[1], CASES[3]])
def test_recreation_cut_after_any_change_leaves_the_old_table_or_the_new_one(case: tuple[str, int, dict[str, object]]) -> None:
    old, new = check_cuts(case, Fault.AFTER, whole=False)
    assert old > 10
    assert new > 10


#: What else an overwrite may change: cut at every call, too.
FURTHER_CASES = [
    pytest.param(("COPY_ON_WRITE", 9, {"keys": ("day",)}), id="other key"),
    pytest.param(("COPY_ON_WRITE", 9, {"options": {"hoodie.table.cdc.enabled": "true"}}), id="change data"),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *FURTHER_CASES])
def test_recreation_cut_anyhow_leaves_the_old_table_or_the_new_one(case: tuple[str, int, dict[str, object]]) -> None:
    check_cuts(case, Fault.AFTER, Fault.TORN, Fault.ERROR_NOT_DONE, Fault.ERROR_BUT_DONE, whole=True)


def test_the_new_table_has_its_files_alone() -> None:
    storage, _ = stored("MERGE_ON_READ")
    recreate(storage, definition(partition_by=("day",)))
    table = HudiTable(storage)
    assert sorted(status.path for status in storage.list("")) == [".hoodie", "1", "2"]
    assert (table.config.name, table.config.partition_fields, table.config.timeline_path) == ("other", ("day",), ".hoodie/timeline")
    assert table.history()["operation"].to_pylist() == ["INSERT_OVERWRITE_TABLE", "UPSERT"]
    assert table.history()["file_groups_replaced"].to_pylist() == [0, 0]
    assert table.inspect.verify().to_pylist() == []


def test_a_reader_that_lists_sees_the_new_rows_alone_while_the_old_files_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored()
    monkeypatch.setattr(module, "recover_recreation", lambda *_: None)
    recreate(storage, definition())
    assert any("paris" in folder.path for folder in recreation.data_folders(storage))
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)


def test_a_write_of_bad_rows_leaves_the_old_table_and_its_files() -> None:
    storage, _ = stored()
    before, files = rows_of(storage), names_of_files(storage)

    def bad(created: Storage) -> None:
        write(handle(created), Operation.UPSERT, NEW_ROWS)
        write(handle(created), Operation.UPSERT, [{"id": "a", "city": "oslo", "day": [1]}])

    with pytest.raises(SchemaError):
        recreate_table(handle(storage), definition(), resolve({}), bad)
    assert (rows_of(storage), names_of_files(storage)) == (before, files)
    assert storage.stat(RECREATION_FOLDER) is None


def test_another_writer_waits_for_the_lock() -> None:
    storage, _ = stored()

    def meddling(created: Storage) -> None:
        assert rows_of(storage) == rows_before
        with pytest.raises(ConflictError, match="lock"):
            handle(storage).upsert([ride(1, "oslo", 7)], options={"hoodie.write.lock.wait_time_ms": "10"})
        write(handle(created), Operation.UPSERT, NEW_ROWS)

    rows_before = rows_of(storage)
    recreate_table(handle(storage), definition(), resolve({}), meddling)
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)


def test_an_empty_table_is_created_again_and_readable_meanwhile() -> None:
    storage = MemoryStorage()
    Driver().create(storage)

    def rows(created: Storage) -> None:
        write(handle(created), Operation.UPSERT, NEW_ROWS)
        assert rows_of(storage) == []

    recreate_table(handle(storage), definition(), resolve({}), rows)
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)


def test_change_data_of_the_new_table_begin_with_its_rows() -> None:
    storage, _ = stored()
    recreate(storage, definition(options={"hoodie.table.cdc.enabled": "true"}))
    assert HudiTable(storage).changes(format="cdc")["op"].to_pylist() == ["i", "i"]


def test_a_table_created_again_without_rows_is_empty() -> None:
    storage, _ = stored()
    recreate_table(handle(storage), definition(), resolve({}), lambda _: None)
    assert rows_of(storage) == []
    handle(storage).insert(NEW_ROWS)
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)


def test_version_6_is_refused_before_anything_is_written() -> None:
    storage, _ = stored()
    before = rows_of(storage)
    with pytest.raises(UnsupportedError, match=r"hoodie\.write\.table\.version"):
        recreate(storage, definition(options={"hoodie.write.table.version": "6"}))
    assert rows_of(storage) == before


def test_commits_of_others_before_the_change_is_finished_are_retained(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored()
    with monkeypatch.context() as patched:
        patched.setattr(module, "recover_recreation", lambda *_: None)
        recreate(storage, definition())
    with monkeypatch.context() as patched:
        patched.setattr("pyhudi.txn.locked_table.recover_recreation", lambda *_: False)
        patched.setattr("pyhudi.txn.transaction.identity_note", lambda _: "")  # commits of Apache Hudi have none
        write(handle(storage), Operation.UPSERT, [{"id": "c", "city": "oslo", "day": 3}])
    handle(storage).delete([{"id": "a", "city": "oslo"}])
    assert [row["id"] for row in rows_of(storage)] == ["b", "c"]
    assert storage.stat(RECREATION_FOLDER) is None


def test_a_damaged_note_of_the_change_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored()
    monkeypatch.setattr(module, "recover_recreation", lambda *_: None)
    recreate(storage, definition())
    storage.replace(f"{RECREATION_FOLDER}/pyhudi.recreation.json", json.dumps([1]).encode())
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)
    with pytest.raises(CorruptTableError, match=r"pyhudi\.recreation\.json"):
        handle(storage).upsert([NEW_ROWS[0]])


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "by the next writer"])
def test_a_table_on_an_object_store_is_created_again(is_finished: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    serve_from_memory(monkeypatch)
    storage = CloudStorage(new_url())
    driver = Driver(metadata_table=True)
    driver.create(storage)
    driver.write(storage, Operation.UPSERT, [ride(1, "oslo", 1), ride(2, "paris", 2)])
    with monkeypatch.context() as patched:
        if not is_finished:
            patched.setattr(module, "recover_recreation", lambda *_: None)
        recreate(storage, definition())
    assert rows_of(storage) == sorted(NEW_ROWS, key=str)
    handle(storage).delete([{"id": "a", "city": "oslo"}])
    assert [row["id"] for row in rows_of(storage)] == ["b"]
    assert storage.stat(RECREATION_FOLDER) is None
    assert {folder.path for folder in recreation.data_folders(storage)} == {"oslo", "rome"}
