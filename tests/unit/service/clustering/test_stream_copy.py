"""Clustering by stream copy: files are joined by copying their row groups, every row once; what cannot be copied is read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.codec.parquet.compact_protocol import I64, read_struct, write_struct
from pyhudi.errors import CorruptTableError, OptionError
from pyhudi.kernels.base_file import bloom_columns, stored_groups
from pyhudi.kernels.base_file.stored_groups import StoredGroups, read_keys
from pyhudi.kernels.merge import merge_slice
from pyhudi.kernels.tasks import splicing_writer
from pyhudi.kernels.tasks.splicing_writer import JoiningFileWriter
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from tests.tables import unpack
from tests.unit.service.clustering.test_rewrite import KINDS, PREFIX, QUIET, SORT, base_files, make, rides, state
from tests.unit.table.tables import make_table
from tests.unit.table.test_page_checksums import ROWS, in_pages, with_flipped_bit

COPY = {f"{PREFIX}class": "org.apache.hudi.client.clustering.plan.strategy.SparkStreamCopyClusteringPlanStrategy"}
RUN_COPY = {"hoodie.clustering.execution.strategy.class": "SparkStreamCopyClusteringExecutionStrategy"}
MIXED = {f"{PREFIX}binary.copy.schema.evolution.enable": "true"}
#: Tables that Apache Hudi wrote; lists of two levels, as its Avro writer makes them, are not copied, by its own rule.
OF_APACHE_HUDI = [
    ("all_types_v9", False),
    ("sql_operations_v8", True),
    ("with_metadata_table_v9", True),
    ("dropped_partition_column_v9", True),
]


@pytest.fixture(autouse=True)
def copied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows of the row groups that were copied."""
    rows: list[int] = []
    join_group = JoiningFileWriter.join_group

    def count(writer: JoiningFileWriter, stored: StoredGroups, number: int) -> None:
        rows.append(stored.rows[number])
        join_group(writer, stored, number)

    monkeypatch.setattr(JoiningFileWriter, "join_group", count)
    return rows


def check_files(table: HudiTable) -> None:
    """Each file names itself on all its rows, and its statistics and pages are whole."""
    for path in base_files(table):
        with table.storage.open_input(path) as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True)
            rows = parquet.read()
            assert parquet.metadata.num_rows == rows.num_rows
        assert set(rows["_hoodie_file_name"].to_pylist()) == {path.rpartition("/")[2]}


@pytest.mark.parametrize(("options", "at_once"), [(COPY, 1 << 20), (RUN_COPY, 0)])
def test_row_groups_of_a_table_are_copied(
    options: dict[str, str], at_once: int, copied: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_groups, "_READ_AT_ONCE", at_once)
    table = make()
    before = state(table)
    (done,) = table.services.cluster(options=options)
    assert (done.slices, done.files_written, done.rows) == (8, 2, 200)
    assert sum(copied) == 200
    assert state(table) == before
    check_files(table)
    assert table.inspect.health().to_pylist() == []
    table.upsert(rides(0, 60, tip=9.0), {**QUIET, "hoodie.index.type": "BLOOM"})
    assert [row["tip"] for row in state(table)] == [9.0] * 60 + [0.0] * 140


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_only_slices_without_logs_are_copied(table_type: str, version: str, copied: list[int]) -> None:
    table = make(table_type, version)
    before = state(table)
    table.services.cluster(options=COPY)
    assert sum(copied) == (200 if table_type == "COPY_ON_WRITE" else 150)  # the update of ten rows is in logs
    assert state(table) == before
    check_files(table)


def test_files_of_another_schema_are_joined_apart_or_written_again(copied: list[int]) -> None:
    table = make()
    wider = table.schema.append(pa.field("stars", pa.int32()))
    table.insert(pa.Table.from_pylist([{**row, "stars": 5} for row in rides(200, 50)], schema=wider), QUIET)
    before = state(table)
    (apart,) = table.services.cluster(options=COPY, dry_run=True)
    assert (apart.groups, apart.slices) == (4, 10)
    (done,) = table.services.cluster(options={**COPY, **MIXED})
    assert (done.groups, done.files_written) == (2, 2)
    assert sum(copied) == 50
    assert state(table) == before
    check_files(table)


@pytest.mark.parametrize(("entries", "files_read"), [("8", 0), ("60000", 8)])
def test_keys_are_read_for_a_bloom_filter_that_is_not_full(
    entries: str, files_read: int, copied: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bloom_columns, "_LEAST_ENTRIES", 8)
    sizes = {"hoodie.index.bloom.num_entries": entries, "hoodie.bloom.index.filter.dynamic.max.entries": entries}
    read: list[str] = []

    def count(storage: Storage, path: str, group: int) -> pa.ChunkedArray:
        read.append(path)
        return read_keys(storage, path, group)

    monkeypatch.setattr(splicing_writer, "read_keys", count)
    table = make()
    before = state(table)
    table.services.cluster(options={**COPY, **sizes})
    assert len(copied) == 8
    assert len(set(read)) == len(read) == files_read
    assert state(table) == before
    ranges = [_key_range(table, path) for path in base_files(table)]
    assert sorted(ranges) == [("0", "98"), ("1", "99")]
    table.upsert(rides(0, 200, tip=3.0), {**QUIET, "hoodie.index.type": "BLOOM"})
    assert [row["tip"] for row in state(table)] == [3.0] * 200


def _key_range(table: HudiTable, path: str) -> tuple[str, str]:
    with table.storage.open_input(path) as file:
        entries = pq.ParquetFile(file).metadata.metadata
    return entries[b"hoodie_min_record_key"].decode(), entries[b"hoodie_max_record_key"].decode()


@pytest.mark.parametrize(("name", "is_copied"), OF_APACHE_HUDI)
def test_files_of_apache_hudi_are_copied(name: str, is_copied: bool, tmp_path: Path, copied: list[int]) -> None:
    table = HudiTable.open(unpack(f"apache_hudi/{name}", tmp_path))
    before = _rows(table)
    (done,) = table.services.cluster(options=COPY)
    assert done.rows == len(before)
    assert sum(copied) == (done.rows if is_copied else 0)
    assert _rows(table) == before
    check_files(table)
    assert table.inspect.health().to_pylist() == []


def _rows(table: HudiTable) -> list[str]:
    rows = table.to_arrow(meta_columns=True).drop_columns("_hoodie_file_name").to_pylist()
    return sorted(map(repr, rows))


def test_a_damaged_page_is_not_copied() -> None:
    storage = MemoryStorage()
    table = make_table(storage)
    table.bulk_insert(ROWS)
    table.insert(ROWS[:1], {"hoodie.merge.allow.duplicate.on.inserts": "true", **QUIET})
    before = table.history().num_rows
    path = next(path for path in (name.lstrip("/") for name in base_files(table)) if len(storage.read(path)) > 20_000)
    with pytest.raises(CorruptTableError, match="damaged page"):
        with_flipped_bit(storage, path, in_pages(storage, path, "value")).services.cluster(options=COPY)
    assert table.history().num_rows == before


def test_a_footer_of_other_rows_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_slice, "row_count", None)  # rows are not counted beforehand
    storage = MemoryStorage()
    table = make_table(storage)
    table.bulk_insert(ROWS)
    table.insert(ROWS[:1], {"hoodie.merge.allow.duplicate.on.inserts": "true", **QUIET})
    path = base_files(table)[0].lstrip("/")
    data = storage.read(path)
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer, _ = read_struct(data[begin:], path)
    whole = write_struct({**footer, 3: (I64, 7)})
    storage.replace(path, data[:begin] + whole + len(whole).to_bytes(4, "little") + data[-4:])
    with pytest.raises(CorruptTableError, match="rows by footers and log headers"):
        table.services.cluster(options=COPY)


@pytest.mark.parametrize("options", [{**COPY, **SORT}, {**RUN_COPY, **SORT}])
def test_sort_columns_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(OptionError, match="joins files as they are"):
        make().services.cluster(options=options)


def test_files_end_at_their_size(copied: list[int]) -> None:
    table = make()
    size = max(row["base_bytes"] for row in table.inspect.slices().to_pylist())
    before: list[Any] = state(table)
    (done,) = table.services.cluster(options={**COPY, f"{PREFIX}target.file.max.bytes": str(2 * size)})
    assert done.files_written == 4
    assert sum(copied) == 200
    assert state(table) == before
