"""A lock provider that is a class in Python, by each door, and classes that are none."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest

from pyhudi import HudiTable, register_lock_provider
from pyhudi.errors import LockLostError, LockTimeoutError, OptionError, StorageError, UnsupportedError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.spec.options import resolve

MODULE = __name__
NAME = {"hoodie.write.lock.provider": f"{MODULE}:OneProcess", "hoodie.time.generator.max_expected_clock_skew_ms": "1"}
URL = {"hoodie.write.lock.custom.url": "here"}
SHORT = {"hoodie.write.lock.wait_time_ms": "50"}


class OneProcess:
    """Locks tables within this process."""

    locks: ClassVar[dict[str, threading.Lock]] = {}
    answer: object = True

    def location(self, options):
        assert set(options) <= {*URL, *SHORT, "hoodie.write.lock.provider"}
        return options["hoodie.write.lock.custom.url"]

    def lock(self, table, options):
        assert options["hoodie.write.lock.custom.url"] == "here"
        self.table = table
        self.one = self.locks.setdefault(table, threading.Lock())
        return self

    def acquire(self, timeout_s):
        return self.one.acquire(timeout=timeout_s or 0.001)

    def is_held(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def release(self):
        self.one.release()

    def holder(self):
        return f"Ask the owner of {self.table}."


class Silent(OneProcess):
    def lock(self, table, options):
        raise RuntimeError("no service")


class NoLock(OneProcess):
    def lock(self, table, options):
        return object()


class NoLocation(OneProcess):
    def location(self, options):
        return None


class Breaks(OneProcess):
    def acquire(self, timeout_s):
        raise RuntimeError("down")


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="t", keys=["id"])


def test_write_takes_the_lock_of_the_class_and_the_table_records_it(table) -> None:
    table.upsert([{"id": 1, "v": 1}], options={**NAME, **URL})
    OneProcess.locks[table.storage.uri].acquire()
    with pytest.raises(LockTimeoutError, match=rf"{MODULE}:OneProcess at 'here'\)\. Ask the owner of {table.storage.uri}"):
        table.upsert([{"id": 2, "v": 1}], options={**NAME, **URL, **SHORT})
    OneProcess.locks[table.storage.uri].release()
    with pytest.raises(OptionError, match=rf"is written under the lock provider {MODULE}:OneProcess at 'here'"):
        table.upsert([{"id": 2, "v": 1}])
    with pytest.raises(OptionError, match="Writers under two locks destroy a table"):
        table.upsert([{"id": 2, "v": 1}], options={**NAME, "hoodie.write.lock.custom.url": "elsewhere"})
    configured = HudiTable.open(table.storage.uri, {**NAME, **URL})
    configured.services.savepoint()
    assert pickle.loads(pickle.dumps(configured.storage)) == configured.storage
    assert not OneProcess.locks[table.storage.uri].locked()


@pytest.mark.parametrize("answer", [False, None, 1, RuntimeError("no answer")])
def test_lock_that_is_not_surely_held_ends_the_write(table, answer, monkeypatch) -> None:
    monkeypatch.setattr(OneProcess, "answer", answer)
    with pytest.raises(LockLostError):
        table.upsert([{"id": 1, "v": 1}], options={**NAME, **URL})
    assert table.count() == 0
    assert not OneProcess.locks[table.storage.uri].locked()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("no_such_module_at_all:Lock", OptionError, "no lock provider can be made of it.*no_such_module_at_all"),
        (f"{MODULE}:Missing", OptionError, "no lock provider can be made of it.*Missing"),
        (f":{MODULE}", OptionError, "no lock provider can be made of it"),
        (f"{MODULE}:NoLocation", OptionError, "must say by a text"),
        (f"{MODULE}:pytest", OptionError, r"is no class with a method lock\(table, options\)"),
        (f"{MODULE}:NoLock", OptionError, "has no method acquire"),
        (f"{MODULE}:Silent", StorageError, "gives no lock of table .*RuntimeError: no service"),
        (f"{MODULE}:Breaks", StorageError, "cannot take the lock of table .*RuntimeError: down. Nothing was written"),
    ],
)
def test_classes_that_are_no_lock_providers_are_errors_that_say_why(table, name, error, message) -> None:
    with pytest.raises(error, match=message):
        table.upsert([{"id": 1, "v": 1}], options={"hoodie.write.lock.provider": name, **URL})
    assert table.history().num_rows == 0


def test_options_of_the_class_are_those_of_locks() -> None:
    with pytest.raises(OptionError, match=r"has no location for the options \['hoodie.write.lock.provider'\]: KeyError"):
        lock_provider(resolve(NAME))
    with pytest.raises(OptionError, match=r"custom\.url is an option of a lock provider in Python"):
        lock_provider(resolve(URL))


def test_registered_provider_may_have_the_name_of_a_java_class(table) -> None:
    options = {"hoodie.write.lock.provider": "com.example.Locks", **URL}
    with pytest.raises(UnsupportedError, match=r"is not served.*register_lock_provider"):
        table.upsert([{"id": 1, "v": 1}], options={"hoodie.write.lock.provider": "com.example.Locks"})
    register_lock_provider("com.example.Locks", OneProcess())
    table.upsert([{"id": 1, "v": 1}], options=options)
    with pytest.raises(OptionError, match=r"lock provider com\.example\.Locks at 'here'"):
        table.upsert([{"id": 2, "v": 1}])


def test_second_process_finds_the_class_by_its_name(table, tmp_path) -> None:
    (tmp_path / "mylocks.py").write_text(
        "class Lock:\n"
        "    def location(self, options): return 'a file'\n"
        "    def lock(self, table, options): return self\n"
        "    def acquire(self, timeout_s): print('taken'); return True\n"
        "    def is_held(self): return True\n"
        "    def release(self): print('released')\n"
        "    def holder(self): return 'Nobody.'\n"
    )
    code = "import sys; from pyhudi import HudiTable; HudiTable.open(sys.argv[1]).services.savepoint(); print('done')"
    (tmp_path / "hudi-defaults.conf").write_text("hoodie.write.lock.provider=mylocks:Lock\n")
    table.upsert([{"id": 1, "v": 1}])
    env = {"PATH": "", "PYTHONPATH": str(tmp_path), "HUDI_CONF_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code, table.storage.uri], capture_output=True, text=True, env=env, check=False)
    assert run.stdout.split() == ["taken", "released", "done"], run.stderr
