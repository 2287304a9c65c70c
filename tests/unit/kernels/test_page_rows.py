"""Rows that are read by their pages, and reads that decode the filter's columns first, give what whole columns give."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.parquet.compact_protocol import ThriftStruct, read_struct
from pyhudi.codec.parquet.page_files import chunk_of, flat_columns, footer_length
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file import file_rows
from pyhudi.kernels.base_file import page_rows as page_rows_module
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.parquet_output import open_writer
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.storage.memory_storage import MemoryStorage

#: Whole row groups: of a short one a few rows may be in most pages, which are then left to Arrow.
ROWS = 750
#: Rows of one row group.
GROUP = 250
FILE = BaseFile("p", BaseFileName("f1-0", "0-1-2", "20260101000000000"), 0)
INDICES = st.lists(st.integers(0, GROUP - 1), min_size=1, max_size=4, unique=True).map(sorted)


def rows_of_all_types() -> pa.Table:
    random = np.random.default_rng(7)
    whole = random.integers(-(2**40), 2**40, ROWS)
    nulls = random.random(ROWS) < 0.3
    return pa.table(
        {
            "key": [f"key {number:05}" for number in random.permutation(ROWS)],
            "a": pa.array(whole, mask=nulls),
            "x": whole / 7,
            "few": pa.array([f"value {number % 3}" for number in range(ROWS)], mask=nulls),
            "flag": pa.array(whole > 0, mask=nulls),
            "at": pa.array(whole, pa.timestamp("us", "UTC"), mask=nulls),
            "day": pa.array(whole % 30_000, pa.int32()).cast(pa.date32()),
            "paid": pa.array([None if number % 5 else number for number in range(ROWS)], pa.decimal128(12, 2)),
            "raw": pa.array([bytes([number % 256]) * (number % 9) for number in range(ROWS)], pa.binary()),
            "none": pa.nulls(ROWS, pa.string()),
        }
    )


TABLE = rows_of_all_types()


def file_of(table: pa.Table = TABLE, **options: Any) -> bytes:
    output = io.BytesIO()
    settings = {"write_page_index": True, "write_page_checksum": True, "store_schema": False, "max_rows_per_page": 20, **options}
    pq.write_table(table, output, row_group_size=GROUP, write_batch_size=10, **settings)
    return output.getvalue()


def page_rows(data: bytes, *, verify: bool = True) -> PageRows:
    source = pa.BufferReader(data)
    return PageRows(source, pq.ParquetFile(source), "the file", verify=verify)


FILES = [
    file_of(compression="zstd"),
    file_of(compression="none", use_dictionary=False),
    file_of(compression="snappy", data_page_version="2.0"),
    file_of(compression="gzip", use_dictionary=["few"], version="2.6", column_encoding={"a": "DELTA_BINARY_PACKED"}),
]


@settings(max_examples=40)
@given(st.integers(0, len(FILES) - 1), st.integers(0, 2), INDICES, st.lists(st.sampled_from(TABLE.schema.names), min_size=1, unique=True))
def test_rows_are_those_of_whole_columns(file: int, group: int, indices: list[int], names: list[str]) -> None:
    count = min(GROUP, ROWS - group * GROUP)
    in_group = np.array([index for index in indices if index < count] or [count - 1])
    rows = page_rows(FILES[file]).rows(group, names, in_group)
    assert rows is not None
    assert rows.equals(TABLE.select(names).take(pa.array(in_group + group * GROUP)))


def test_a_footer_is_decoded_once_and_that_of_another_file_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def counted(data: bytes, what: str) -> tuple[ThriftStruct, int]:
        decoded.append(data)
        return read_struct(data, what)

    monkeypatch.setattr(page_rows_module, "read_struct", counted)
    columns = pa.table({"unlike all others": range(ROWS)}), pa.table({"unlike all othErs": range(ROWS, 2 * ROWS)})
    for table in columns * 3:
        rows = page_rows(file_of(table)).rows(0, table.schema.names, np.array([3]))
        assert rows is not None
        assert rows.equals(table.slice(3, 1))
    assert len(decoded) == len(set(decoded)) == 2


def test_what_cannot_be_read_by_page_is_left_to_arrow() -> None:
    nested = pa.table({"l": [[1, 2]] * ROWS, "s": [{"a": 1}] * ROWS, "z": range(ROWS)})
    rows = page_rows(file_of(nested))
    one = np.array([3])
    assert rows.rows(0, ["l"], one) is None
    assert rows.rows(0, ["z", "s"], one) is None
    assert rows.rows(0, [], one) is None
    second_group = rows.rows(1, ["z"], one)
    assert second_group is not None
    assert second_group.to_pydict() == {"z": [GROUP + 3]}
    assert page_rows(file_of(write_page_index=False)).rows(0, ["a"], one) is None
    assert page_rows(FILES[0]).rows(0, ["a"], np.arange(GROUP)) is None  # all pages
    stored = pa.table({"s": pa.array(["x"] * ROWS, pa.large_string())})
    assert page_rows(file_of(stored, store_schema=True)).rows(0, ["s"], one) is None  # another type without Arrow's schema


def test_damage_is_told() -> None:
    data = bytearray(FILES[1])
    begin = pq.ParquetFile(pa.BufferReader(bytes(data))).metadata.row_group(0).column(1).data_page_offset
    data[begin + 60] ^= 1
    with pytest.raises((OSError, CorruptTableError)):
        page_rows(bytes(data)).rows(0, ["a"], np.array([3]))
    with pytest.raises(CorruptTableError, match="the file"):
        PageRows(pa.BufferReader(b"PAR1"), pq.ParquetFile(pa.BufferReader(FILES[0])), "the file", verify=True).rows(0, ["a"], np.array([3]))


def test_each_bit_of_an_offset_index_counts() -> None:
    """It has no checksum: with a changed bit there is an error, or the same rows."""
    data = file_of(TABLE.select(["a"]), max_rows_per_page=60)
    footer = read_struct(data[-8 - footer_length(data[-8:], "") : -8], "")[0]
    chunk = chunk_of(footer, 1, flat_columns(footer)["a"])
    assert chunk is not None
    rows = np.array([75, 130])
    expected = TABLE.select(["a"]).take(pa.array(rows + GROUP))
    errors = 0
    for bit in range(chunk.index_length * 8):
        damaged = bytearray(data)
        damaged[chunk.index_offset + bit // 8] ^= 1 << bit % 8
        try:
            result = page_rows(bytes(damaged)).rows(1, ["a"], rows)
        except (CorruptTableError, OSError):
            errors += 1
        else:
            assert result is None or result.equals(expected), bit
    assert errors > chunk.index_length


FILTERS = [
    pc.field("key").isin(["key 00003", "key 00400", "key 00599"]),
    pc.field("key") == "no such key",
    pc.field("a").is_null(),
    (pc.field("key") < "key 00010") & (pc.field("x") > 0),
    (pc.field("few") == "value 1") | (pc.field("day") == pc.field("day")),
    pc.field("city") == "oslo",
    (pc.field("city") == "rome") | (pc.field("key") == "key 00003"),
    pc.field("new").is_null() & (pc.field("key") < "key 00004"),
]


@pytest.mark.parametrize("number", range(len(FILTERS)))
@pytest.mark.parametrize("data", [FILES[0], file_of(write_page_index=False)], ids=["pages", "columns"])
def test_a_filtered_read_is_the_same_whichever_columns_are_decoded_first(number: int, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.create(FILE.path, data)
    schema = pa.schema([*TABLE.schema, pa.field("city", pa.string()), pa.field("new", pa.int32())])
    without = np.sort(np.random.default_rng(number).choice(ROWS, 100, replace=False))

    def read(small: int, few_of: int, left_out: Any) -> pa.Table:
        monkeypatch.setattr(file_rows, "_SMALL_GROUP_ROWS", small)
        monkeypatch.setattr(file_rows, "_FEW_OF", few_of)
        constants = {"city": pa.scalar("oslo")}
        batches = iter_base_file(storage, FILE, schema, None, FILTERS[number], without=left_out, constants=constants)
        return pa.Table.from_batches(batches, schema=schema)

    for left_out in (None, without):
        whole = read(ROWS + 1, 1, left_out)
        assert whole.equals(read(0, 1, left_out))  # late, if at all possible by page
        assert whole.equals(read(0, 10, left_out))
        assert whole.equals(read(0, ROWS + 1, left_out))  # each row that passes is one too many
    everything = pq.read_table(io.BytesIO(data))
    everything = everything.append_column("city", pa.array(["oslo"] * ROWS)).append_column(schema.field("new"), pa.nulls(ROWS, pa.int32()))
    assert read(0, 1, None).equals(everything.filter(FILTERS[number]))


def test_pages_are_what_a_late_read_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.create(FILE.path, FILES[0])
    requested_rows: list[tuple[int, list[int]]] = []
    rows = PageRows.rows

    def counted(self: PageRows, group: int, names: list[str], indices: Any) -> Any:
        requested_rows.append((group, indices.tolist()))
        return rows(self, group, names, indices)

    monkeypatch.setattr(PageRows, "rows", counted)
    monkeypatch.setattr(file_rows, "_SMALL_GROUP_ROWS", 0)
    monkeypatch.setattr(file_rows, "_FEW_OF", 50)
    at = 300
    key = TABLE.column("key")[at].as_py()
    batches = [*iter_base_file(storage, FILE, TABLE.schema, None, pc.field("key") == key)]
    assert pa.Table.from_batches(batches).equals(TABLE.slice(at, 1))
    assert requested_rows == [(1, [at - GROUP])]


def columns_of_file(rows: pa.Table) -> list[Any]:
    output = io.BytesIO()
    with open_writer(output, rows.schema, WriterSettings(), rows) as writer:
        writer.write_table(rows)
    group = pq.read_metadata(io.BytesIO(output.getvalue())).row_group(0)
    return [group.column(number) for number in range(group.num_columns)]


def test_files_of_several_pages_have_a_page_index_without_bounds_where_statistics_would_be_wrong() -> None:
    rows = pa.table({"x": [1.0, float("nan")] * 10_001, "a": range(20_002), "s": ["p", None] * 10_001})
    columns = columns_of_file(rows)
    assert [column.has_offset_index for column in columns] == [True] * 3
    assert [column.has_column_index for column in columns] == [False, True, True]
    assert not any(column.has_offset_index for column in columns_of_file(rows.slice(0, 20_000)))
