"""The storage in memory: the suite, and what only it can do."""

from __future__ import annotations

import pickle

import pytest

from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.storage_suite import StorageSuite
from tests.not_none import not_none


class TestMemoryStorage(StorageSuite):
    @pytest.fixture
    def storage(self):
        return MemoryStorage()


def test_copy_has_the_content_and_a_life_of_its_own() -> None:
    storage = MemoryStorage()
    storage.create("a/b", b"1")
    twin = storage.copy()
    twin.create("a/c", b"2")
    storage.delete("a/b")
    assert [status.path for status in twin.list("a")] == ["a/b", "a/c"]
    assert storage.list("a") == []


def test_files_are_stamped_by_the_given_clock() -> None:
    storage = MemoryStorage(clock=lambda: 5_000_000)
    storage.create("a", b"")
    assert not_none(storage.stat("a")).modified_ms == 5


def test_equal_names_are_the_same_table_until_dropped() -> None:
    MemoryStorage("shared").create("a", b"1")
    assert MemoryStorage("shared").read("a") == b"1"
    MemoryStorage("shared").drop()
    assert MemoryStorage("shared").list("") == []


def test_pickled_storage_serves_the_same_table() -> None:
    storage = MemoryStorage()
    storage.create("a", b"1")
    assert pickle.loads(pickle.dumps(storage)).read("a") == b"1"
