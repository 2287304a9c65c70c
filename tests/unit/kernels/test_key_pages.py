"""A search of pages for record keys gives what a search of the whole column gives, or leaves the search to it; also in damaged files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.parquet.compact_protocol import read_struct
from pyhudi.codec.parquet.page_bounds import index_location
from pyhudi.codec.parquet.page_files import chunk_of, flat_columns, footer_length
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.keys import key_pages
from pyhudi.kernels.keys.key_pages import rows_by_pages
from pyhudi.kernels.keys.key_probe import rows_of_keys
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.storage.memory_storage import MemoryStorage

FILE = BaseFile("", BaseFileName("f1-0", "0-1-2", "20260101000000000"), 0)
PAGE = 10
LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False},
    "dictionary": {"use_dictionary": True, "compression": "zstd"},
    "second version": {"use_dictionary": True, "data_page_version": "2.0", "compression": "snappy"},
    "delta": {"use_dictionary": False, "column_encoding": {RECORD_KEY: "DELTA_BYTE_ARRAY"}},
}
#: Short, so that keys repeat and come next to each other; some sort otherwise as UTF-16.
KEYS = st.text("ab\x00\xffé\U0001f600￮", max_size=3)


@pytest.fixture(autouse=True, scope="module")
def small_files() -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(key_pages, "_ROWS_PER_KEY", 0)
        patched.setattr(key_pages, "_SHARE_MAX", 1.0)
        yield


def file_of(keys: Sequence[str | None], group: int = 1_000, **layout: Any) -> bytes:
    output = io.BytesIO()
    options = {"write_page_index": True, "write_page_checksum": True, "store_schema": False, "max_rows_per_page": PAGE, **layout}
    rows = pa.table({RECORD_KEY: pa.array(keys, pa.string())})
    pq.write_table(rows, output, row_group_size=group, write_batch_size=PAGE, **options)
    return output.getvalue()


def by_pages(data: bytes, keys: Sequence[str]) -> list[tuple[int, int]] | None:
    source = pa.BufferReader(data)
    parquet = pq.ParquetFile(source)
    counts = [parquet.metadata.row_group(number).num_rows for number in range(parquet.num_row_groups)]
    result = rows_by_pages(PageRows(source, parquet, "the file", verify=True), counts, RECORD_KEY, pa.array(keys, pa.string()))
    return None if result is None else [*zip(*(one.tolist() for one in result), strict=True)]


def by_column(stored: Sequence[str | None], keys: Sequence[str]) -> list[tuple[int, int]]:
    return [(row, keys.index(key)) for row, key in enumerate(stored) if key in keys]


def in_byte_order(keys: Sequence[str]) -> list[str]:
    return sorted(keys, key=str.encode)


@settings(max_examples=60)
@given(
    st.sampled_from(list(LAYOUTS)),
    st.lists(KEYS, min_size=1, max_size=120),
    st.lists(KEYS, max_size=15),
    st.lists(KEYS, min_size=1, max_size=6, unique=True),
    st.sampled_from([PAGE * 3, 1_000]),
)
def test_the_rows_are_those_of_the_whole_column(layout: str, stored: list[str], appended: list[str], keys: list[str], group: int) -> None:
    held = in_byte_order(stored) + in_byte_order(appended)
    assert by_pages(file_of(held, group, **LAYOUTS[layout]), keys) == by_column(held, keys)


@settings(max_examples=30)
@given(st.lists(st.none() | KEYS, min_size=1, max_size=120), st.lists(KEYS, min_size=1, max_size=6, unique=True))
def test_keys_in_any_order_are_found_too_or_left_to_the_whole_column(stored: list[str | None], keys: list[str]) -> None:
    assert by_pages(file_of(stored), keys) in (None, by_column(stored, keys))


NUMBERED = [f"key {number:04}" for number in range(0, 2_000, 2)]


def test_few_pages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[int]] = []
    values = PageRows.values

    def counted(self: PageRows, name: str, pages: Any, numbers: Any) -> Any:
        read.append(numbers.tolist())
        return values(self, name, pages, numbers)

    monkeypatch.setattr(PageRows, "values", counted)
    data = file_of(NUMBERED, 500)
    assert by_pages(data, ["key 0014", "key 1333"]) == [(7, 0)]
    assert read == [[0], [16]]
    read.clear()
    assert by_pages(data, ["key 0020", "key 0999"]) == [(10, 0)]  # the first of a page; between the row groups
    assert read == [[0, 1, 2, 49], [0]]
    read.clear()
    assert by_pages(data, ["a", "z"]) == []
    assert read == [[0], [49]]


@pytest.mark.parametrize(
    ("stored", "layout"),
    [
        pytest.param(NUMBERED, {"write_page_index": False}, id="no index"),
        pytest.param([*NUMBERED[:-1], None], {}, id="nulls"),
        pytest.param(NUMBERED, {"write_statistics": False}, id="no bounds"),
        pytest.param(NUMBERED[::-1], {}, id="descending"),
    ],
)
def test_other_files_are_left_to_the_whole_column(stored: list[str | None], layout: dict[str, Any]) -> None:
    assert by_pages(file_of(stored, **layout), ["key 0014"]) is None


@pytest.mark.parametrize(("name", "value"), [("_ROWS_PER_KEY", 501), ("_SHARE_MAX", 0.01)])
def test_many_keys_are_left_to_the_whole_column(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    monkeypatch.setattr(key_pages, name, value)
    assert by_pages(file_of(NUMBERED), ["key 0014", "key 1014"]) is None


def test_each_bit_of_the_indexes_and_of_a_page_counts() -> None:
    """The indexes have no checksum: with a changed bit the rows are the same, or the whole column is searched."""
    stored = in_byte_order([f"k{number:02}" for number in range(60)] + ["k19", "k29", "k30"])
    data = file_of(stored, use_dictionary=False)
    footer = read_struct(data[-8 - footer_length(data[-8:], "") : -8], "")[0]
    column = flat_columns(footer)[RECORD_KEY]
    chunk, bounds = chunk_of(footer, 0, column), index_location(footer, 0, column)
    assert chunk is not None
    assert bounds is not None
    keys = ["k05", "k19", "k295", "k30", "k59", "x"]
    expected = by_column(stored, keys)
    assert by_pages(data, keys) == expected
    damages = {"bounds": (*bounds, 1), "offsets": (chunk.index_offset, chunk.index_length, 1), "pages": (4, 300, 11)}
    for name, (begin, length, step) in damages.items():
        left = 0
        for bit in range(0, length * 8, step):
            damaged = bytearray(data)
            damaged[begin + bit // 8] ^= 1 << bit % 8
            rows = by_pages(bytes(damaged), keys)
            assert rows in (None, expected), (name, bit)
            left += rows is None
        assert left > length // step, name


def test_a_search_of_a_file_asks_its_pages_and_reads_the_column_where_they_are_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    data = file_of(NUMBERED)
    answers: list[Any] = []

    def remembered(*arguments: Any) -> Any:
        answers.append(rows_by_pages(*arguments))
        return answers[-1]

    monkeypatch.setattr("pyhudi.kernels.keys.key_probe.rows_by_pages", remembered)
    for stored in (data, _with_wrong_bounds(data)):
        storage.create(FILE.path, stored)
        rows, numbers = rows_of_keys(storage, FILE, pa.array(["no", "key 0014"]))
        assert (rows.tolist(), numbers.tolist()) == ([7], [1])
        storage.delete(FILE.path)
    assert [answer is None for answer in answers] == [False, True]


def _with_wrong_bounds(data: bytes) -> bytes:
    """Return a file whose column index says that its first page ends earlier."""
    footer = read_struct(data[-8 - footer_length(data[-8:], "") : -8], "")[0]
    location = index_location(footer, 0, flat_columns(footer)[RECORD_KEY])
    assert location is not None
    begin, length = location
    index = data[begin : begin + length]
    assert index.count(b"key 0018") == 1
    return data[:begin] + index.replace(b"key 0018", b"key 0012") + data[begin + length :]


def test_no_rows_and_no_groups() -> None:
    assert by_pages(file_of([]), ["a"]) in (None, [])
    assert np.array_equal(rows_of_keys(_stored(file_of([])), FILE, pa.array(["a"]))[0], [])


def _stored(data: bytes) -> MemoryStorage:
    storage = MemoryStorage()
    storage.create(FILE.path, data)
    return storage
