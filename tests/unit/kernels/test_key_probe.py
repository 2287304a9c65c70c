"""Which file holds which key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.keys import key_probe as probe
from pyhudi.kernels.keys.key_probe import SEVERAL, find_keys
from pyhudi.kernels.tasks.write_task import WriteTask, run_write_task
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.kernels.conftest import FIRST, SMALL_FILTER, base_of, keyed, record_context_of

SHAPE = record_context_of(pa.schema({"id": pa.string()}))


def files_with(storage: MemoryStorage, *keys: list[str]) -> list[BaseFile]:
    files = []
    for number, some in enumerate(keys):
        task = WriteTask(FIRST, "", f"g{number}-0", f"{number}-0-0")
        rows = keyed(pa.table({"id": pa.array(some, pa.string())}))
        files.append(base_of(run_write_task(storage, SHAPE, SMALL_FILTER, task, rows)))
    return files


def find(storage: MemoryStorage, file: BaseFile, keys: list[str]) -> list[int | None]:
    result: list[int | None] = find_keys(storage, file, pa.array(keys, pa.string())).to_pylist()
    return result


def test_each_key_is_found_in_its_row_and_absent_ones_nowhere() -> None:
    storage = MemoryStorage()
    (file,) = files_with(storage, ["a", "b", "x", "y"])
    assert find(storage, file, ["y", "zz", "a", "b", "aa"]) == [3, None, 0, 1, None]


@pytest.mark.parametrize("encoded_first", [100_000, 0], ids=["few keys", "many keys"])
def test_key_that_is_asked_for_twice_is_answered_twice(encoded_first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_ENCODED_FIRST", encoded_first)
    storage = MemoryStorage()
    (file,) = files_with(storage, ["a"])
    assert find(storage, file, ["a", "b", "a"]) == [0, None, 0]


@pytest.mark.parametrize("encoded_first", [100_000, 0], ids=["few keys", "many keys"])
def test_key_that_stands_in_several_rows_has_no_row_of_its_own(encoded_first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_ENCODED_FIRST", encoded_first)
    storage = MemoryStorage()
    (file,) = files_with(storage, ["a", "b", "a", "c"])
    assert find(storage, file, ["c", "a", "b", "d"]) == [3, SEVERAL, 1, None]


def test_keys_outside_the_range_of_the_file_leave_the_answers_for_others_in_their_places() -> None:
    storage = MemoryStorage()
    (file,) = files_with(storage, ["m", "n", "o"])
    assert find(storage, file, ["z", "o", "a", "m", "zz", "n"]) == [None, 2, None, 0, None, 1]


def test_rows_are_counted_through_all_batches_of_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_ROWS_AT_ONCE", 150_000)
    storage = MemoryStorage()
    keys = [f"{number:06d}" for number in range(300_000)]
    (file,) = files_with(storage, keys)
    positions = [0, 131_071, 131_072, 149_999, 150_000, 262_144, 299_999]
    assert find(storage, file, [keys[index] for index in positions]) == positions


def test_no_keys_and_an_empty_file_are_fine() -> None:
    storage = MemoryStorage()
    full, empty = files_with(storage, ["a"], [])
    assert find(storage, full, []) == []
    assert find(storage, empty, ["a"]) == [None]


def test_file_whose_key_range_cannot_match_is_not_read_past_its_footer() -> None:
    storage = MemoryStorage()
    (file,) = files_with(storage, ["a", "b"])
    whole = storage.read(file.path)
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    storage.replace(file.path, bytes(pages) + whole[pages:])
    assert find(storage, file, ["m", "z"]) == [None, None]
    with pytest.raises(CorruptTableError, match=file.path):
        find(storage, file, ["b"])


def test_key_beyond_the_first_plane_is_found_though_its_range_is_in_java_s_order() -> None:
    storage = MemoryStorage()
    (file,) = files_with(storage, ["\U00010000", "\uffee"])
    assert find(storage, file, ["\U00010000", "\uffee", "\uffff"]) == [0, 1, None]
