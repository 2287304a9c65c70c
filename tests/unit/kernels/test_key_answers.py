"""What a search for record keys has found is not searched again, and is the same for whoever asks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pyhudi.kernels.keys import key_answers
from pyhudi.kernels.keys.key_answers import recall, remember
from pyhudi.kernels.keys.key_probe import SEVERAL, find_keys, rows_of_keys
from pyhudi.kernels.tasks.write_task import WriteTask, run_write_task
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from tests.unit.kernels.conftest import FIRST, SMALL_FILTER, base_of, keyed, record_context_of

SHAPE = record_context_of(pa.schema({"id": pa.string()}))


def file_of(storage: Storage, keys: list[str]) -> BaseFile:
    rows = keyed(pa.table({"id": pa.array(keys, pa.string())}))
    return base_of(run_write_task(storage, SHAPE, SMALL_FILTER, WriteTask(FIRST, "", "g0-0", "0-0-0"), rows))


def of(*keys: str) -> pa.StringArray:
    return pa.array(keys, pa.string())


def test_keys_that_were_searched_are_answered_without_the_file(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["a", "b", "a", "c"])
    assert find_keys(storage, file, of("c", "x", "a", "c")).to_pylist() == [3, None, SEVERAL, 3]
    storage.delete(file.path)
    assert find_keys(storage, file, of("x", "c")).to_pylist() == [None, 3]
    rows, numbers = rows_of_keys(storage, file, of("a", "x"))
    assert (rows.tolist(), numbers.tolist()) == ([0, 2], [0, 0])


def test_a_key_that_was_not_searched_is_looked_for_in_the_file(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["a", "b", "c"])
    assert find_keys(storage, file, of("a", "x")).to_pylist() == [0, None]
    assert recall(storage, file, of("a", "c")) is None
    assert find_keys(storage, file, of("a", "c")).to_pylist() == [0, 2]


def test_a_table_in_memory_is_always_searched() -> None:
    storage = MemoryStorage()
    file = file_of(storage, ["a"])
    assert find_keys(storage, file, of("a")).to_pylist() == [0]
    assert recall(storage, file, of("a")) is None


def test_a_search_for_very_many_keys_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_answers, "_MOST_KEYS", 1)
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["a"])
    remember(storage, file, of("a", "b"), np.array([0]), np.array([0]))
    assert recall(storage, file, of("a")) is None
