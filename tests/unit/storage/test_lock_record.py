"""A table is written under one lock: the one inside it, or the lock file elsewhere that its first writer recorded."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockTimeoutError, OptionError, StorageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.lock_files.lock_record import LOCK_FILE, LOCK_FILE_OPTION
from pyhudi.storage.lock_files.record_files import LOCK_FOLDER
from pyhudi.storage.remote.object_store import ObjectStorage

_numbers = count()


@pytest.fixture
def url() -> str:
    return f"memory://lock-records-{next(_numbers)}/t"


def store(url: str, lock: Path) -> ObjectStorage:
    is_local = url.startswith("local:")
    return ObjectStorage(url, ((LOCK_FILE_OPTION, str(lock)), *((("auto_mkdir", "true"),) if is_local else ())))


def lock_of(storage) -> None:
    with storage.lock(1):
        pass


@pytest.fixture(params=["memory", "local"])
def where(request, url, tmp_path) -> str:
    return url if request.param == "memory" else f"local://{tmp_path}/t"


def records(storage) -> list[str]:
    return [name for name in storage.file_names(LOCK_FOLDER) if "lock-at" in name]


@pytest.mark.parametrize("path", ["my.lock", "./my.lock", "~/my.lock", ""])
def test_relative_lock_file_is_refused(url, path) -> None:
    with pytest.raises(OptionError, match=r"'pyhudi\.lock\.file' is .* give an absolute path"):
        ObjectStorage(url, ((LOCK_FILE_OPTION, path),))


def test_other_lock_file_than_the_recorded_one_is_refused(where, tmp_path) -> None:
    lock_of(store(where, tmp_path / "one.lock"))
    with pytest.raises(OptionError, match=r"is written under the lock file '.*one\.lock', this writer would take '.*two\.lock'.*fix_lock"):
        lock_of(store(where, tmp_path / "two.lock"))
    lock_of(store(where, tmp_path / "one.lock"))


def test_same_lock_file_by_another_path_is_the_same_lock(where, tmp_path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "mounted").symlink_to(tmp_path / "locks")
    lock_of(store(where, tmp_path / "locks" / "l"))
    lock_of(store(where, tmp_path / "mounted" / "l"))


def test_lock_file_that_was_made_again_is_another_lock(where, tmp_path) -> None:
    """Who still holds the old one excludes nobody who takes the new one; nor does another machine's file of the same path."""
    lock_of(store(where, tmp_path / "l"))
    (tmp_path / "l").unlink()
    with pytest.raises(OptionError, match="was recreated"):
        lock_of(store(where, tmp_path / "l"))


def test_file_of_something_else_is_no_lock_file(url, tmp_path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StorageError, match="name a file that nothing else uses"):
        lock_of(store(url, tmp_path / "data.csv"))
    assert (tmp_path / "data.csv").read_text() == "a,b\n1,2\n"


def test_table_that_was_written_by_its_plain_path_has_its_lock_inside(tmp_path) -> None:
    lock_of(LocalStorage(str(tmp_path / "t")))
    others = store(f"local://{tmp_path}/t", tmp_path / "l")
    with pytest.raises(OptionError, match=r"is written under the one inside it.*fix_lock"):
        lock_of(others)
    assert records(others) == []
    lock_of(LocalStorage(str(tmp_path / "t")))


def test_plain_path_is_refused_for_a_table_with_its_lock_elsewhere(tmp_path) -> None:
    lock_of(store(f"local://{tmp_path}/t", tmp_path / "l"))
    with pytest.raises(OptionError, match=r"is written under the lock file '.*/l', a writer by this path would take the one inside"):
        lock_of(LocalStorage(str(tmp_path / "t")))


def test_lock_file_inside_the_table_is_the_lock_of_its_plain_path(tmp_path) -> None:
    """Recorded by its place in the table: a copy of the table has a lock of its own."""
    (tmp_path / "t" / LOCK_FOLDER).mkdir(parents=True)
    by_url = store(f"local://{tmp_path}/t", tmp_path / "t" / LOCK_FILE)
    lock_of(LocalStorage(str(tmp_path / "t")))
    lock_of(by_url)
    lock_of(LocalStorage(str(tmp_path / "t")))
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    lock_of(LocalStorage(str(tmp_path / "copy")))
    assert records(by_url) == []


@pytest.mark.parametrize("other", ["elsewhere", "plain"])
def test_of_two_first_writers_with_two_locks_at_most_one_continues(tmp_path, monkeypatch, other) -> None:
    """The second one comes between the look for records and the making of one, or right after it."""
    url = f"local://{tmp_path}/t"
    first = store(url, tmp_path / "one.lock")
    second = LocalStorage(str(tmp_path / "t")) if other == "plain" else store(url, tmp_path / "two.lock")
    for moment in ("before", "after"):
        shutil.rmtree(tmp_path / "t", ignore_errors=True)
        refused, create, is_first = [], ObjectStorage.create, [True]  # type: ignore[var-annotated]

        def create_beside(storage, path, data, moment=moment, refused=refused, create=create, is_first=is_first) -> None:
            begins = is_first and storage is first
            if begins:
                is_first.clear()
            if moment == "after":
                create(storage, path, data)
            if begins:
                _try_lock(second, refused)
            if moment == "before":
                create(storage, path, data)

        monkeypatch.setattr(ObjectStorage, "create", create_beside)
        _try_lock(first, refused)
        monkeypatch.setattr(ObjectStorage, "create", create)
        assert refused
        _try_lock(first, allowed := [])  # type: ignore[var-annotated]
        _try_lock(second, allowed)
        assert len(allowed) == 1


def _try_lock(storage, refused: list[str]) -> None:
    try:
        lock_of(storage)
    except OptionError as error:
        refused.append(str(error))


SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64())])


def test_copied_table_says_so_and_health_records_its_lock_again(tmp_path) -> None:
    url, options = f"local://{tmp_path}/t", {LOCK_FILE_OPTION: str(tmp_path / "l"), "auto_mkdir": "true"}
    table = HudiTable.create(url, SCHEMA, name="t", keys=["id"], storage_options=options)
    table.upsert([{"id": 1, "v": 1}])
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    copied = HudiTable.open(f"local://{tmp_path}/copy", options | {LOCK_FILE_OPTION: str(tmp_path / "m")})
    with pytest.raises(OptionError, match="copied, restored or mounted elsewhere"):
        copied.upsert([{"id": 2, "v": 1}])
    assert copied.inspect.health(fix_lock=True).num_rows == 0
    copied.upsert([{"id": 2, "v": 1}])
    assert copied.to_arrow().num_rows == 2
    with pytest.raises(OptionError, match="is written under the lock file"):
        HudiTable.open(str(tmp_path / "copy")).upsert([{"id": 3, "v": 1}])
    HudiTable.open(str(tmp_path / "copy")).inspect.health(fix_lock=True)
    HudiTable.open(str(tmp_path / "copy")).upsert([{"id": 3, "v": 1}])
    with pytest.raises(OptionError, match="is written under the one inside it"):
        copied.upsert([{"id": 4, "v": 1}])
    assert copied.to_arrow().num_rows == 3
    table.upsert([{"id": 5, "v": 1}])


def test_copy_of_a_table_with_its_lock_inside_is_written_beside_the_original(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    table.upsert([{"id": 1, "v": 1}])
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    copied = HudiTable.open(tmp_path / "copy")
    with LocalStorage(str(tmp_path / "t")).lock(1):
        copied.upsert([{"id": 2, "v": 1}], options={"hoodie.write.lock.wait_time_ms": "0"})
    table.upsert([{"id": 3, "v": 1}])
    assert sorted(copied.to_arrow().column("id").to_pylist()) == [1, 2]
    assert sorted(table.to_arrow().column("id").to_pylist()) == [1, 3]


def test_copy_of_a_table_with_its_lock_outside_is_written_under_the_same_lock(tmp_path) -> None:
    options = {LOCK_FILE_OPTION: str(tmp_path / "l"), "auto_mkdir": "true"}
    table = HudiTable.create(f"local://{tmp_path}/t", SCHEMA, name="t", keys=["id"], storage_options=options)
    table.upsert([{"id": 1, "v": 1}])
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    copied = HudiTable.open(f"local://{tmp_path}/copy", options)
    at_once = {"hoodie.write.lock.wait_time_ms": "0"}
    with store(f"local://{tmp_path}/t", tmp_path / "l").lock(1), pytest.raises(LockTimeoutError):
        copied.upsert([{"id": 2, "v": 1}], options=at_once)
    copied.upsert([{"id": 2, "v": 1}], options=at_once)
    assert sorted(copied.to_arrow().column("id").to_pylist()) == [1, 2]
    assert table.to_arrow().column("id").to_pylist() == [1]
