"""Which file holds which key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.probe import locate_keys
from pyhudi.kernels.write_task import WriteTask, run_write_task
from pyhudi.spec.file_group import BaseFile
from pyhudi.storage.memory import MemoryStorage
from tests.unit.kernels.conftest import FIRST, SMALL_FILTER, base_of, keyed, shape_of

SHAPE = shape_of(pa.schema({"id": pa.string()}))


def files_with(storage: MemoryStorage, *keys: list[str]) -> list[BaseFile]:
    files = []
    for number, some in enumerate(keys):
        task = WriteTask(FIRST, "", f"g{number}-0", f"{number}-0-0")
        rows = keyed(pa.table({"id": pa.array(some, pa.string())}))
        files.append(base_of(run_write_task(storage, SHAPE, SMALL_FILTER, task, rows)))
    return files


def located(storage: MemoryStorage, files: list[BaseFile], keys: list[str]) -> list[int | None]:
    return locate_keys(storage, files, pa.array(keys, pa.string())).to_pylist()


def test_each_key_is_found_in_its_file_and_absent_ones_nowhere() -> None:
    storage = MemoryStorage()
    files = files_with(storage, ["a", "b"], [], ["c"], ["x", "y"])
    assert located(storage, files, ["c", "zz", "y", "a", "b", "aa"]) == [2, None, 3, 0, 0, None]


def test_key_that_is_asked_for_twice_is_answered_twice() -> None:
    storage = MemoryStorage()
    files = files_with(storage, ["a"])
    assert located(storage, files, ["a", "b", "a"]) == [0, None, 0]


def test_no_keys_and_no_files_are_fine() -> None:
    storage = MemoryStorage()
    assert located(storage, [], ["a"]) == [None]
    assert located(storage, files_with(storage, ["a"]), []) == []


@pytest.mark.parametrize("lookup_rows", [1, 3, 1000])
def test_answers_do_not_depend_on_how_files_are_looked_up_together(lookup_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.kernels.probe._LOOKUP_ROWS", lookup_rows)
    storage = MemoryStorage()
    files = files_with(storage, *[[f"k{number}", f"l{number}"] for number in range(7)])
    assert located(storage, files, [f"l{number}" for number in range(9)]) == [*range(7), None, None]


def test_file_whose_key_range_cannot_match_is_not_read_past_its_footer() -> None:
    storage = MemoryStorage()
    files = files_with(storage, ["a", "b"], ["m"])
    whole = storage.read(files[0].path)
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    storage.replace(files[0].path, bytes(pages) + whole[pages:])
    assert located(storage, files, ["m", "z"]) == [1, None]
    with pytest.raises(CorruptTableError, match=files[0].path):
        located(storage, files, ["b"])


def test_key_beyond_the_first_plane_is_found_though_its_range_is_in_java_s_order() -> None:
    storage = MemoryStorage()
    files = files_with(storage, ["\U00010000", "\uffee"], ["a"])
    assert located(storage, files, ["\U00010000", "\uffee", "\uffff"]) == [0, 0, None]
