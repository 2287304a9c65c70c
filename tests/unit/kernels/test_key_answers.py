"""What a search for record keys has found is not searched again, and is the same for whoever asks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_answers_of_several_searches_add_up(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["b", "c", "d", "c", "e"])
    for keys in (of("c", "cx"), of("e", "b", "c"), of("dx")):
        find_keys(storage, file, keys)
    storage.delete(file.path)
    assert find_keys(storage, file, of("e", "dx", "c", "cx", "b", "c")).to_pylist() == [4, None, SEVERAL, None, 0, SEVERAL]
    rows, numbers = rows_of_keys(storage, file, of("e", "c"))
    assert (rows.tolist(), numbers.tolist()) == ([1, 3, 4], [1, 1, 0])
    assert recall(storage, file, of("d")) is None


def test_a_key_outside_of_the_range_of_the_file_is_known_to_be_absent(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["b", "d"])
    find_keys(storage, file, of("d"))
    storage.delete(file.path)
    assert find_keys(storage, file, of("z", "d", "a")).to_pylist() == [None, 1, None]
    assert recall(storage, file, of("c")) is None


def test_what_would_be_too_much_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_answers, "_MOST_KEYS", 2)
    storage = LocalStorage(str(tmp_path))
    file = file_of(storage, ["a", "b", "c"])
    for key in "abc":
        assert find_keys(storage, file, of(key)).null_count == 0
    assert recall(storage, file, of("a")) is None
    assert recall(storage, file, of("c")) is not None


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.lists(st.sets(st.sampled_from("abcdefghi"), min_size=1), max_size=4))
def test_answers_are_those_of_the_file(stored: list[str], searches: list[set[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        storage = LocalStorage(folder)
        file = file_of(storage, stored)
        for keys in searches:
            rows, numbers = rows_of_keys(storage, file, of(*sorted(keys)))
            expected = [(at, sorted(keys).index(key)) for at, key in enumerate(stored) if key in keys]
            assert [*zip(rows.tolist(), numbers.tolist(), strict=True)] == expected


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
