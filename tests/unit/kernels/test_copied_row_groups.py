"""A rewrite that copies unchanged row groups gives what a rewrite of all rows gives, and refuses to copy damage."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.parquet.copied_source import ParquetSource
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file import stored_groups
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.stored_groups import StoredGroups
from pyhudi.kernels.tasks.splicing_writer import SplicingFileWriter
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.kernels.conftest import SMALL_FILTER, Group, keyed, record_context_of

ROWS = 240
GROUP_ROWS = 20
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "ts": pa.int64(),
        "v": pa.string(),
        "x": pa.float64(),
        "tags": pa.list_(pa.struct({"a": pa.int32(), "b": pa.string()})),
    }
)
CONTEXTS = [record_context_of(SCHEMA), record_context_of(SCHEMA, ["ts"])]
SETTINGS = replace(SMALL_FILTER, bloom_fits=True)


def rows_of(ids: list[int], version: int) -> pa.Table:
    count = len(ids)
    values = {
        "id": ids,
        "ts": [None if not version and number % 11 == 0 else (number * 7 + version * 3) % 5 for number in ids],
        "v": [None if (number + version) % 5 == 0 else f"value {number % 13} of {version}" for number in ids],
        "x": [float("nan") if number % 37 == 0 else number / (version + 1) for number in ids],
        "tags": [[{"a": number, "b": None}] * (number % 3) if number % 4 else None for number in ids],
    }
    return keyed(pa.table(values, schema=SCHEMA)) if count else keyed(SCHEMA.empty_table())


def group_bytes() -> int:
    """The setting with which the first file has row groups of about `GROUP_ROWS` rows."""
    return int(rows_of([*range(ROWS)], 0).nbytes / ROWS * GROUP_ROWS * 2)


def first_group(context_number: int) -> Group:
    group = Group(CONTEXTS[context_number], settings=replace(SETTINGS, row_group_bytes=group_bytes()))
    group.write(rows_of([*range(ROWS)], 0))
    return group


FIRST_FILES = [first_group(number) for number in range(len(CONTEXTS))]


def copy_of(group: Group) -> Group:
    """Return a group whose file is the same, in a table of its own."""
    assert group.base is not None
    copy = replace(group, storage=MemoryStorage())
    copy.storage.create(group.base.path, group.storage.read(group.base.path))
    return copy


def copies(group: Group, rows: pa.Table, patch: pytest.MonkeyPatch, *, append_only: bool = False) -> list[int]:
    """Write rows to a group whose row groups are copied; return the numbers of those that were."""
    copied: list[int] = []
    copy = SplicingFileWriter.copy_group

    def count(self: SplicingFileWriter, number: int, keys: pa.ChunkedArray) -> None:
        copied.append(number)
        copy(self, number, keys)

    with patch.context() as patched:
        patched.setattr(stored_groups, "COPIED_FILE_BYTES", 0)
        patched.setattr(SplicingFileWriter, "copy_group", count)
        group.write(rows, append_only=append_only)
    return copied


def parquet_of(group: Group) -> tuple[bytes, pq.ParquetFile]:
    assert group.base is not None
    data = group.storage.read(group.base.path)
    return data, pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)


def with_deletes(rows: pa.Table, deleted: set[int]) -> pa.Table:
    return rows.append_column("_pyhudi_delete", pa.array([number in deleted for number in rows.column("id").to_pylist()], pa.bool_()))


def same_values(one: pa.Table, other: pa.Table) -> bool:
    """Equality of tables in which NaN equals NaN."""
    return str(one.to_pylist()) == str(other.to_pylist()) and one.schema == other.schema


def check_statistics(parquet: pq.ParquetFile) -> None:
    """Bounds and numbers of nulls that the file has are those of its rows."""
    for number in range(parquet.num_row_groups):
        rows, metadata = parquet.read_row_group(number), parquet.metadata.row_group(number)
        assert metadata.num_rows == rows.num_rows
        for index in range(metadata.num_columns):
            chunk = metadata.column(index)
            assert chunk.has_offset_index
            if "." in chunk.path_in_schema or not chunk.is_stats_set:
                continue
            column = rows.column(chunk.path_in_schema)
            assert chunk.statistics.null_count == column.null_count
            if chunk.statistics.has_min_max:
                assert {"min": chunk.statistics.min, "max": chunk.statistics.max} == pc.min_max(column).as_py()


def check_pages(data: bytes, parquet: pq.ParquetFile) -> None:
    """Single rows are read by the page index."""
    source = pa.BufferReader(data)
    for number in range(parquet.num_row_groups):
        whole = parquet.read_row_group(number, columns=["id", "_hoodie_file_name"])
        pages = PageRows(source, parquet, "the file", verify=True)
        last = np.array([whole.num_rows - 1])
        read = pages.rows(number, ["id", "_hoodie_file_name"], last)
        assert read is None or read.to_pylist() == whole.take(last).to_pylist()


CHANGES = st.lists(st.tuples(st.integers(0, ROWS + 30), st.booleans()), max_size=12, unique_by=lambda change: change[0])


def with_positions(rows: pa.Table, group: Group) -> pa.Table:
    """Return rows with the row of each record in the file of a group, as an index tells it."""
    stored = parquet_of(group)[1].read(["_hoodie_record_key"]).column(0).combine_chunks()
    return rows.append_column("_pyhudi_position", pc.index_in(rows.column("_hoodie_record_key"), value_set=stored).cast(pa.int64()))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1), st.lists(CHANGES, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_rows_footers_and_statistics_are_those_of_a_whole_rewrite(
    context: int, rounds: list[list[tuple[int, bool]]], append: bool, located: bool
) -> None:
    plain, copying = copy_of(FIRST_FILES[context]), copy_of(FIRST_FILES[context])
    patch = pytest.MonkeyPatch()
    for version, changes in enumerate(rounds, 1):
        rows = with_deletes(rows_of([number for number, _ in changes], version), {number for number, deleted in changes if deleted})
        stats = plain.write(rows, append_only=append).stat
        copies(copying, with_positions(rows, copying) if located and not append else rows, patch, append_only=append)
        assert copying.base is not None
        _, one = parquet_of(plain)
        data, other = parquet_of(copying)
        assert same_values(one.read(), other.read())
        assert one.metadata.metadata == other.metadata.metadata
        assert (stats.num_writes, copying.base.size) == (other.metadata.num_rows, len(data))
    check_statistics(other)
    check_pages(data, other)


def test_only_row_groups_with_a_changed_key_are_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    group = copy_of(FIRST_FILES[0])
    groups = parquet_of(group)[1].num_row_groups
    assert groups > 5
    assert copies(group, rows_of([0, ROWS - 1], 1), monkeypatch) == [*range(1, groups - 1)]
    assert copies(group, rows_of([], 2), monkeypatch, append_only=True)  # a rewritten file is copied once more
    assert copies(group, rows_of([*range(ROWS)], 3), monkeypatch) == []


def group_of_lasting_filter() -> Group:
    """Return a group whose bloom filter never begins again, which would read all keys."""
    group = Group(CONTEXTS[0], settings=replace(SETTINGS, bloom_fits=False, row_group_bytes=group_bytes()))
    group.write(rows_of([*range(ROWS)], 0))
    return group


def test_no_key_is_read_where_positions_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_of_lasting_filter()
    groups = parquet_of(group)[1].num_row_groups
    rows = with_positions(rows_of([10, ROWS - 10], 1), group)
    monkeypatch.setattr(StoredGroups, "keys", None)
    monkeypatch.setattr(StoredGroups, "first_keys", None)
    assert copies(group, rows, monkeypatch) == [*range(1, groups - 1)]
    assert [row["id"] for row in group.read() if row["v"] and "of 1" in row["v"]] == [10, ROWS - 10]


@pytest.mark.parametrize("deleted", [0, 99, ROWS - 1])
def test_range_of_a_file_whose_row_groups_all_change_is_that_of_its_keys(deleted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_of_lasting_filter()
    rows = with_deletes(rows_of(sorted({*range(0, ROWS, 5), deleted, 999}), 1), {deleted})
    assert copies(group, rows, monkeypatch) == []
    keys = parquet_of(group)[1].read(["_hoodie_record_key"]).column(0)
    footer = parquet_of(group)[1].metadata.metadata
    assert {"min": footer[b"hoodie_min_record_key"].decode(), "max": footer[b"hoodie_max_record_key"].decode()} == pc.min_max(keys).as_py()


def test_new_rows_join_a_small_last_row_group(monkeypatch: pytest.MonkeyPatch) -> None:
    group = copy_of(FIRST_FILES[0])
    sizes = []
    for number in range(4):
        copies(group, rows_of([ROWS + number], 1), monkeypatch)
        sizes.append(parquet_of(group)[1].num_row_groups)
    assert sizes[-1] <= sizes[0] + 1


@pytest.mark.parametrize(
    "change", [{"compression": "snappy"}, {"schema": pa.schema([*SCHEMA, pa.field("more", pa.int64())])}], ids=["codec", "column"]
)
def test_files_of_another_codec_or_schema_are_rewritten(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    group = copy_of(FIRST_FILES[0])
    rows = rows_of([1], 1)
    if "schema" in change:
        group.context = record_context_of(change["schema"])
        rows = rows.append_column("more", pa.array([1]))
    else:
        group.settings = replace(group.settings, **change)
    assert copies(group, rows, monkeypatch) == []
    assert len(group.read()) == ROWS


def test_a_damaged_page_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = 0
    for column in range(parquet_of(FIRST_FILES[0])[1].metadata.num_columns):
        group = copy_of(FIRST_FILES[0])
        data, parquet = parquet_of(group)
        chunk = parquet.metadata.row_group(3).column(column)
        if chunk.path_in_schema == "_hoodie_file_name":
            continue  # is new in any rewrite
        at = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size - 1
        assert group.base is not None
        group.storage.replace(group.base.path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(CorruptTableError, match=group.base.path):
            copies(group, rows_of([0], 1), monkeypatch)
        damaged += 1
    assert damaged > 5


def test_damage_of_any_byte_is_an_error_or_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    clean = copy_of(FIRST_FILES[0])
    data, parquet = parquet_of(clean)
    copies(clean, rows_of([0], 1), monkeypatch)
    expected = parquet_of(clean)[1].read().drop_columns("_hoodie_file_name")
    chunk = parquet.metadata.row_group(4).column(2)
    random = np.random.default_rng(3)
    in_pages = random.integers(chunk.data_page_offset, chunk.data_page_offset + chunk.total_compressed_size, 15)
    behind = random.integers(len(data) - parquet.metadata.serialized_size - 3000, len(data), 45)
    for at in [*in_pages.tolist(), *behind.tolist()]:
        group = copy_of(FIRST_FILES[0])
        assert group.base is not None
        group.storage.replace(group.base.path, data[:at] + bytes([data[at] ^ (1 << int(random.integers(8)))]) + data[at + 1 :])
        try:
            copies(group, rows_of([0], 1), monkeypatch)
        except CorruptTableError:
            continue
        assert same_values(parquet_of(group)[1].read().drop_columns("_hoodie_file_name"), expected)


def test_a_full_disk_is_not_called_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    group = copy_of(FIRST_FILES[0])

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SplicingFileWriter, "copy_group", fail)
    monkeypatch.setattr(stored_groups, "COPIED_FILE_BYTES", 0)
    with pytest.raises(OSError, match="No space left"):
        group.write(rows_of([0], 1))
    assert len([status for status in group.storage.list("") if status.name.endswith(".parquet")]) == 1


def test_a_source_without_a_whole_footer_is_an_error() -> None:
    data = parquet_of(FIRST_FILES[0])[0]
    for part in (b"", data[:100], data[:-9] + b"\xff\xff\xff\x7fPAR1"):
        with pytest.raises(CorruptTableError):
            ParquetSource.of(lambda offset, length, part=part: part[offset : offset + length], len(part), "the file")  # type: ignore[misc]
