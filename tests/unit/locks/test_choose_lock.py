"""Lock providers come in by each door: options of a write or a service, of the table's storage, and hudi-defaults.conf."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, LockTimeoutError, OptionError, UnsupportedError
from pyhudi.locks.choose_lock import lock_provider, with_lock_provider
from pyhudi.locks.file_system_lock import FileSystemProvider
from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.spec.options import resolve
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.remote.object_store import ObjectStorage
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage

PACKAGE = "org.apache.hudi.client.transaction.lock."
SKEW = {"hoodie.time.generator.max_expected_clock_skew_ms": "1"}
FILE = {"hoodie.write.lock.provider": f"{PACKAGE}FileSystemBasedLockProvider", **SKEW}
SHORT = {"hoodie.write.lock.wait_time_ms": "50"}
SCHEMA = pa.schema({"id": pa.int64(), "v": pa.int64()})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    return tmp_path / "t"


def write(table: HudiTable, number: int = 1, **options: str) -> None:
    table.upsert([{"id": number, "v": number}], options={name.replace("__", "."): value for name, value in options.items()})


def block(path: Path) -> None:
    """Plays Apache Hudi holding the lock."""
    (path / ".hoodie" / "lock").touch()


@pytest.mark.parametrize(
    "operation",
    [
        lambda table: table.upsert([{"id": 1, "v": 1}], options={**FILE, **SHORT}),
        lambda table: table.delete([{"id": 1}], options={**FILE, **SHORT}),
        lambda table: table.services.clean(options={**FILE, **SHORT}),
        lambda table: table.services.upgrade("9", options={**FILE, **SHORT}),
        lambda table: table.services.change_type("MERGE_ON_READ", options={**FILE, **SHORT}),
        lambda table: table.services.cluster(options={**FILE, **SHORT, "hoodie.clustering.inline.max.commits": "1"}),
        lambda table: table.services.archive(options={**FILE, **SHORT}),
        lambda table: table.upsert(
            [{"id": 1, "v": 1}],
            options={**FILE, **SHORT, "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"},
        ),
    ],
)
def test_operations_with_the_option_wait_for_the_lock_of_others(path, operation) -> None:
    block(path)
    with pytest.raises(LockTimeoutError, match=r"FileSystemBasedLockProvider in '\.hoodie'.*delete that file"):
        operation(HudiTable.open(path))
    assert HudiTable.open(path).history().num_rows == 0


def test_table_that_is_opened_with_the_options_takes_the_lock_in_all_its_operations(path) -> None:
    table = HudiTable.open(path, FILE)
    assert isinstance(table.storage, ProvidedStorage)
    write(table)
    table.services.savepoint()
    with pytest.raises(OptionError, match=r"is written under the lock provider FileSystemBasedLockProvider .* would take none"):
        HudiTable.open(path).services.savepoint()


@pytest.mark.parametrize("options", [{}, {"hoodie.write.lock.wait_time_ms": "60"}], ids=["of the storage", "of the call"])
def test_time_to_wait_for_the_lock_may_be_an_option_of_the_table(path, options) -> None:
    """What a call states comes first."""
    block(path)
    stated = "50" if not options else "90000"
    table = HudiTable.open(path, {**FILE, "hoodie.write.lock.wait_time_ms": stated})
    with pytest.raises(LockTimeoutError, match=r"for 0\.0[56] s"):
        table.upsert([{"id": 1, "v": 1}], options=options)
    if not options:
        with pytest.raises(LockTimeoutError, match=r"for 0\.05 s"):
            table.services.savepoint()


@pytest.mark.parametrize("provider", [{}, {"hoodie.write.lock.provider": f"{PACKAGE}InProcessLockProvider"}])
def test_time_to_wait_is_no_option_of_a_table_without_a_provider(path, provider) -> None:
    with pytest.raises(OptionError, match=r"wait_time_ms has no effect without hoodie\.write\.lock\.provider"):
        HudiTable.open(path, {**SHORT, **provider})


def test_defaults_file_names_the_provider_for_operations_without_options(path, tmp_path, monkeypatch) -> None:
    HudiTable.open(path).upsert([{"id": 1, "v": 1}], options=FILE)
    (tmp_path / "hudi-defaults.conf").write_text("".join(f"{name}={value}\n" for name, value in FILE.items()))
    monkeypatch.setenv("HUDI_CONF_DIR", str(tmp_path))
    table = HudiTable.open(path)
    table.services.savepoint()
    write(table, 2)
    block(path)
    with pytest.raises(LockTimeoutError):
        write(table, 3, hoodie__write__lock__wait_time_ms="50")


def test_writers_under_another_lock_are_refused_until_it_is_recorded(path, tmp_path) -> None:
    elsewhere = {**FILE, "hoodie.write.lock.filesystem.path": str(tmp_path)}
    write(HudiTable.open(path, FILE))
    for storage_options in (None, elsewhere):
        with pytest.raises(OptionError, match="Writers under two locks destroy a table"):
            write(HudiTable.open(path, storage_options), 2)
    HudiTable.open(path, elsewhere).inspect.health(fix_lock=True)
    write(HudiTable.open(path, elsewhere), 3)
    with pytest.raises(OptionError, match="Writers under two locks destroy a table"):
        write(HudiTable.open(path, FILE), 4)
    HudiTable.open(path).inspect.health(fix_lock=True)
    write(HudiTable.open(path), 5)
    assert sorted(HudiTable.open(path).to_arrow()["id"].to_pylist()) == [1, 3, 5]


def test_options_that_contradict_those_of_the_table_are_refused(path, tmp_path) -> None:
    table = HudiTable.open(path, FILE)
    with pytest.raises(OptionError, match="was opened with FileSystemBasedLockProvider"):
        table.upsert([{"id": 1, "v": 1}], options={**FILE, "hoodie.write.lock.filesystem.path": str(tmp_path)})
    table.upsert([{"id": 1, "v": 1}], options=FILE)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"hoodie.write.lock.provider": "org.example.Lock"},
            UnsupportedError,
            r"example\.Lock is not served\. It can be .*FileSystem",
        ),
        ({"hoodie.write.lock.filesystem.expire": "5"}, OptionError, "is an option of FileSystemBasedLockProvider"),
        ({**FILE, "hoodie.write.lock.filesystem.expire": "soon"}, OptionError, "expire"),
        ({**FILE, "hoodie.write.lock.hivemetastore.table": "t"}, OptionError, "is an option of HiveMetastoreBasedLockProvider"),
    ],
)
def test_wrong_options_are_refused_by_name_before_anything_is_written(path, options, error, message) -> None:
    with pytest.raises(error, match=message):
        HudiTable.open(path).upsert([{"id": 1, "v": 1}], options=options)
    with pytest.raises(error, match=message):
        HudiTable.open(path, options)
    assert HudiTable.open(path).history().num_rows == 0


def test_other_hudi_options_are_none_of_a_storage(path) -> None:
    with pytest.raises(OptionError, match=r"hoodie\.index\.type is no option of a storage"):
        HudiTable.open(path, {**FILE, "hoodie.index.type": "BLOOM"})


@pytest.mark.parametrize("name", ["", "InProcessLockProvider", f"{PACKAGE}InProcessLockProvider"])
def test_lock_of_one_process_is_the_tables_own(name) -> None:
    storage = MemoryStorage()
    assert with_lock_provider(storage, resolve({"hoodie.write.lock.provider": name})) is storage


def test_class_is_known_with_and_without_its_package() -> None:
    assert (
        lock_provider(resolve(FILE)) == FileSystemProvider() == lock_provider(resolve({**FILE, "hoodie.write.lock.filesystem.expire": "0"}))
    )
    storage = with_lock_provider(LocalStorage("/t"), resolve(FILE))
    assert pickle.loads(pickle.dumps(storage)) == storage


class _LosesLock(InterceptedStorage):
    """Deletes the lock file when a data file is written, as the close of Apache Hudi's provider does."""

    def _pass(self, call: Call, effect, torn=None):
        if call.method == "open_output" and ".parquet" in call.path:
            assert self.inner.delete(".hoodie/lock")
        return effect()


def test_nothing_is_visible_of_a_write_that_lost_the_lock_of_the_provider(path) -> None:
    table = HudiTable(with_lock_provider(_LosesLock(LocalStorage(str(path))), resolve(FILE)))
    with pytest.raises(ConflictError, match="the lock of its provider was lost"):
        write(table)
    assert HudiTable.open(path).count() == 0
    write(HudiTable.open(path, FILE), 2)
    assert HudiTable.open(path).to_arrow()["id"].to_pylist() == [2]


def test_object_store_is_written_under_a_lock_provider_without_a_lock_file(tmp_path) -> None:
    pytest.importorskip("fsspec")
    shared = {**FILE, "hoodie.write.lock.filesystem.path": str(tmp_path)}
    url = f"local://{tmp_path}/t"
    with pytest.raises(UnsupportedError, match=r"hoodie\.write\.lock\.provider"), ObjectStorage(url).lock(0):
        pass
    with with_lock_provider(
        ObjectStorage(url, (("auto_mkdir", "true"), ("pyhudi.lock.file", str(tmp_path / "one.lock")))), resolve(shared)
    ).lock(1):
        assert (tmp_path / "lock").exists()


def test_time_taken_under_the_lock_is_over_on_clocks_that_are_behind(path) -> None:
    table = HudiTable.open(path, {**FILE, "hoodie.time.generator.max_expected_clock_skew_ms": "300"})
    began = time.monotonic()
    write(table)
    assert time.monotonic() - began >= 0.3
