"""Rows of the archived timeline's files."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.timeline_archive.full_timeline import read_rows

PATH = ".hoodie/timeline/history/1_2_0.parquet"


@pytest.fixture
def storage() -> MemoryStorage:
    output = io.BytesIO()
    pq.write_table(pa.table({"instantTime": ["1", "2"], "metadata": [b"x", None], "more": [1, 2]}), output)
    storage = MemoryStorage()
    storage.create(PATH, output.getvalue())
    return storage


def test_rows_come_with_the_columns_asked_for(storage: MemoryStorage) -> None:
    rows = list(read_rows(storage, PATH, ["instantTime", "metadata"]))
    assert rows == [{"instantTime": "1", "metadata": b"x"}, {"instantTime": "2", "metadata": None}]


def test_missing_column_names_file_and_column(storage: MemoryStorage) -> None:
    with pytest.raises(CorruptTableError, match=rf"{PATH}.*'plan'"):
        list(read_rows(storage, PATH, ["plan"]))


def test_damaged_file_is_named(storage: MemoryStorage) -> None:
    storage.replace(PATH, b"PAR1")
    with pytest.raises(CorruptTableError, match=PATH):
        list(read_rows(storage, PATH, ["instantTime"]))


def test_name_that_is_no_text_is_damage(storage: MemoryStorage) -> None:
    """A flipped bit of the footer, which has no checksum, turns text into bytes."""
    output = io.BytesIO()
    pq.write_table(pa.table({"instantTime": [b"1"], "action": ["commit"]}), output)
    storage.replace(PATH, output.getvalue())
    with pytest.raises(CorruptTableError, match=rf"{PATH}.*'instantTime'"):
        list(read_rows(storage, PATH, ["instantTime", "action"]))


@pytest.mark.parametrize(("times", "stated", "greatest"), [(["8", "9", "7"], True, "9"), (["8"], False, None), ([1, 2], True, None)])
def test_the_greatest_time_is_read_from_the_footer(storage: MemoryStorage, times: list[object], stated: bool, greatest: str | None) -> None:
    output = io.BytesIO()
    pq.write_table(pa.table({"action": ["commit"] * len(times), "completionTime": times}), output, 1, write_statistics=stated)
    storage.replace(PATH, output.getvalue())
    assert read_rows.greatest(storage, PATH, "completionTime") == greatest
    assert read_rows.greatest(storage, PATH, "plan") is None
