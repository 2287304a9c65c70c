"""Columns of keys make the same cells, in the same file groups, as keys one by one."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyhudi.codec.hfile import HFileReader, HFileWriter
from pyhudi.errors import UsageError
from pyhudi.metadata_table.format.cell_blocks import BLOCK_BYTES, cell_columns
from pyhudi.metadata_table.format.metadata_keys import secondary_key, secondary_keys, secondary_prefix, shard
from pyhudi.metadata_table.format.shards import shards
from pyhudi.schema.meta_columns import RECORD_KEY

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(TEXTS), st.integers(1, 40))
@example(["polygenelubricants", "", "é", "\U0001f600", "same", "same"], 10)  # the first has the least hash that Java knows
def test_file_groups_of_a_column_are_those_of_each_key(keys, count) -> None:
    assert shards(pa.array(keys, pa.string()), count).tolist() == [shard(key, count) for key in keys]


def written(append) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=0, block_bytes=BLOCK_BYTES)
    append(writer)
    writer.finish()
    return sink.getvalue()


@given(st.dictionaries(TEXTS.filter(bool), st.integers(0, 2)))
def test_columns_make_the_file_that_single_cells_make(cells) -> None:
    values = [b"a", b"", b"value"]
    rows, which = pa.array(list(cells), pa.string()), np.array(list(cells.values()), np.int64)
    columns, of_a_column = (cell_columns(rows, some, which) for some in (values, pa.array(values, pa.large_binary())))

    def by_column(writer: HFileWriter) -> None:
        for block in columns.blocks():
            writer.append_block(block)

    def by_cell(writer: HFileWriter) -> None:
        for row, number in sorted((key.encode(), number) for key, number in cells.items()):
            writer.append(row, values[number])

    assert written(by_column) == written(by_cell)
    columns = of_a_column
    assert written(by_column) == written(by_cell)


def test_many_cells_are_spread_over_blocks_and_found_again() -> None:
    keys = [f"{number:08d}" for number in range(60_000)]
    columns = cell_columns(pa.array(keys[::-1]), [b"x" * 30], np.zeros(len(keys), np.int64))

    def by_column(writer: HFileWriter) -> None:
        for block in columns.blocks():
            writer.append_block(block)

    data = written(by_column)
    file = HFileReader(io.BytesIO(data), len(data))
    assert [row.decode() for row, _ in file.entries()] == keys
    assert [row for row, _ in file.get_many([b"00000000", b"00059999", b"00033333", b"7"])] == [b"00000000", b"00033333", b"00059999"]


def test_of_equal_rows_the_newest_stays() -> None:
    columns = cell_columns(pa.array(["b", "a", "b", "b"]), [b"0", b"1", b"2"], np.array([1, 0, 2, 0]))
    assert (columns.rows.to_pylist(), columns.which.tolist()) == (["a", "b"], [0, 2])


def test_key_that_no_cell_holds_is_refused() -> None:
    with pytest.raises(UsageError, match="40000 bytes does not fit"):
        list(cell_columns(pa.array(["k" * 40_000]), [b""], np.zeros(1, np.int64)).blocks())


@given(st.lists(st.tuples(st.none() | TEXTS, TEXTS)))
@example([("a$b\\c\0", "k$"), (None, "k"), ("", "k")])
def test_secondary_keys_of_columns_are_those_of_each_row(pairs) -> None:
    rows = pa.table(
        {RECORD_KEY: pa.array([key for _, key in pairs], pa.string()), "v": pa.array([value for value, _ in pairs], pa.string())}
    )
    result = secondary_keys(rows, "v")
    assert result.keys.to_pylist() == [secondary_key(value, key) for value, key in pairs]
    assert result.prefixes.to_pylist() == [secondary_prefix(value) for value, _ in pairs]
