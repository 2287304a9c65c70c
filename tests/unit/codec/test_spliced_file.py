"""Row groups that are copied as bytes: any reader reads the copy, and what contradicts itself is not copied."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.codec.parquet import spliced_file
from pyhudi.codec.parquet.compact_protocol import BINARY, I64, ThriftStruct, read_struct, write_struct
from pyhudi.codec.parquet.copied_source import ParquetSource
from pyhudi.codec.parquet.page_files import footer_length, items_of, struct_of
from pyhudi.codec.parquet.spliced_file import SplicedFile
from pyhudi.errors import CorruptTableError

ROWS = pa.table(
    {
        "id": pa.array(range(5000)),
        "text": [None if number % 7 == 0 else f"text {number % 900}" for number in range(5000)],
        "tags": [["a", None, "b"][: number % 4] for number in range(5000)],
        "nothing": pa.nulls(5000, pa.float64()),
        "flag": [number % 3 == 0 for number in range(5000)],
    }
)
LAYOUTS: list[dict[str, Any]] = [
    {"row_group_size": 1250, "write_page_index": True, "data_page_size": 2000},
    {"row_group_size": 5000, "write_statistics": False, "use_dictionary": False},
    {"row_group_size": 2000, "data_page_version": "2.0", "compression": "zstd", "write_page_index": True},
]


def file_of(**layout: Any) -> bytes:
    output = io.BytesIO()
    pq.write_table(ROWS, output, write_page_checksum=True, store_schema=False, **layout)
    return output.getvalue()


def source_of(data: bytes) -> ParquetSource:
    def read(offset: int, length: int) -> bytes:
        if not 0 <= offset <= offset + length <= len(data):
            raise CorruptTableError("outside of the file")
        return data[offset : offset + length]

    return ParquetSource.of(read, len(data), "the file")


def copy_of(*files: bytes) -> bytes:
    sources, output = [source_of(data) for data in files], io.BytesIO()
    spliced = SplicedFile(output, sources[0])
    for source in sources:
        assert source.can_be_copied_to(sources[0])
        for number in range(len(source.group_rows)):
            spliced.add_group(source, number)
    spliced.finish({"k": "v"})
    return output.getvalue()


def with_chunk(data: bytes, column: int, change: Callable[[ThriftStruct], ThriftStruct], fields: ThriftStruct | None = None) -> bytes:
    """Return a file whose first row group has other metadata of a column, and other fields of its chunk."""
    length = footer_length(data[-8:], "a file")
    footer, _ = read_struct(data[-8 - length : -8], "a footer")
    chunk = struct_of(items_of(struct_of(items_of(footer, 4)[0]), 1)[column])
    chunk |= {3: (chunk[3][0], change(struct_of(chunk[3][1]))), **(fields or {})}
    written = write_struct(footer)
    return data[: -8 - length] + written + len(written).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("layout", LAYOUTS, ids=["pages", "plain", "version 2"])
@pytest.mark.parametrize("run_bytes", [0, 3000, 1 << 20])
def test_copies_of_several_files_have_their_rows_and_statistics(
    layout: dict[str, Any], run_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spliced_file, "_RUN_BYTES", run_bytes)
    data = file_of(**layout)
    copy = pq.ParquetFile(io.BytesIO(copy_of(data, copy_of(data))), page_checksum_verification=True)
    assert copy.read().equals(pa.concat_tables([ROWS, ROWS]))
    assert copy.metadata.metadata == {b"k": b"v"}
    stored = pq.ParquetFile(io.BytesIO(data)).metadata
    for number in range(copy.metadata.num_row_groups):
        group, before = copy.metadata.row_group(number), stored.row_group(number % stored.num_row_groups)
        assert (group.num_rows, group.total_byte_size) == (before.num_rows, before.total_byte_size)
        for column in range(group.num_columns):
            one, other = group.column(column), before.column(column)
            assert one.statistics == other.statistics
            assert (one.has_offset_index, one.has_column_index) == (other.has_offset_index, other.has_column_index)
            assert one.total_compressed_size == other.total_compressed_size


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (5, (I64, 1249), "values in 1250 rows"),
        (7, (I64, -5), "outside of the file"),
        (7, (I64, 1 << 62), "outside of the file"),
        (7, (I64, 40), "ends behind its column chunk|no whole page"),
        (9, (I64, 1 << 40), "outside of the file"),
        (9, (BINARY, b"x"), "where a number belongs"),
        (3, (BINARY, b"x"), "where a list belongs"),
    ],
)
def test_metadata_that_contradicts_the_pages_is_refused(field: int, value: Any, message: str) -> None:
    data = with_chunk(file_of(**LAYOUTS[0]), 0, lambda metadata: {**{n: v for n, v in metadata.items() if n != 11}, field: value})
    with pytest.raises(CorruptTableError, match=message):
        copy_of(data)


def test_an_offset_of_the_chunk_itself_is_shifted_where_a_writer_states_it() -> None:
    data = file_of(**LAYOUTS[1])
    stated = with_chunk(
        data, 1, lambda metadata: metadata, {2: (I64, pq.read_metadata(io.BytesIO(data)).row_group(0).column(1).data_page_offset)}
    )
    copy = pq.read_metadata(io.BytesIO(copy_of(data, stated)))
    chunks = [copy.row_group(number).column(1) for number in range(2)]
    assert [chunk.file_offset for chunk in chunks] == [0, chunks[1].data_page_offset]
    assert chunks[1].data_page_offset > len(data) / 2


def test_a_chunk_that_takes_a_negative_number_of_bytes_is_not_hidden_by_the_next() -> None:
    data = file_of(**LAYOUTS[1])
    first = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0).data_page_offset
    changed = with_chunk(data, 0, lambda metadata: {**metadata, 7: (I64, -2)})
    changed = with_chunk(changed, 1, lambda metadata: {**metadata, 9: (I64, first - 2)})
    with pytest.raises(CorruptTableError):
        copy_of(changed)


def test_chunks_with_a_bloom_filter_or_without_metadata_are_not_copied() -> None:
    source = source_of(file_of(**LAYOUTS[0]))
    assert source.can_be_copied_to(source)
    assert not source_of(with_chunk(file_of(**LAYOUTS[0]), 0, lambda metadata: {**metadata, 14: (I64, 4)})).can_be_copied_to(source)
    assert not source_of(with_chunk(file_of(**LAYOUTS[0]), 0, lambda _: {})).can_be_copied_to(source)
    for required in (1, 2, 3, 4, 5, 6, 7, 9):  # or a copy would be as unreadable as its source
        lacking = with_chunk(file_of(**LAYOUTS[0]), 0, lambda metadata, field=required: {n: v for n, v in metadata.items() if n != field})  # type: ignore[misc]
        assert not source_of(lacking).can_be_copied_to(source)
