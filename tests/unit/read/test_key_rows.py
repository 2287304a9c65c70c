"""Rows of large files by their record keys: filters on keys, and the rewrites that follow them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.base_file import stored_groups
from pyhudi.kernels.base_file.base_file import FOOTER_MAX_KEY, FOOTER_MIN_KEY
from pyhudi.kernels.base_file.stored_groups import StoredGroups
from pyhudi.kernels.merge import touched_groups
from pyhudi.kernels.tasks.splicing_writer import SplicingFileWriter
from pyhudi.read.execute import Selection, read_table
from pyhudi.read.skipping import key_rows
from pyhudi.read.skipping.key_rows import keys_in_column, rows_meant
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot, open_snapshot
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.storage.local_storage import LocalStorage

ROWS = 4_000
#: Row groups of a few hundred rows, and a bloom filter that does not begin again in another size.
OPTIONS = {"hoodie.parquet.block.size": "60000", "hoodie.index.bloom.num_entries": "500"}


@pytest.fixture(autouse=True)
def _small_files_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_groups, "COPIED_FILE_BYTES", 0)
    monkeypatch.setattr(key_rows, "_FILE_BYTES", 0)


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each row group that is copied, whether its keys were read."""
    made, copy = list[bool](), SplicingFileWriter.copy_group

    def note(self: SplicingFileWriter, number: int, keys: pa.ChunkedArray | None) -> None:
        made.append(keys is not None)
        copy(self, number, keys)

    monkeypatch.setattr(SplicingFileWriter, "copy_group", note)
    return made


def key_of(number: int) -> str:
    return f"k{number * 7_919 % 100_003:06d}"


def rows_of(numbers: list[int], version: int) -> pa.Table:
    return pa.table(
        {
            "key": [key_of(number) for number in numbers],
            "v": [version] * len(numbers),
            "text": [f"{number} {version}" for number in numbers],
        }
    )


def table_of(folder: Path, table_type: str = "COPY_ON_WRITE") -> HudiTable:
    first = rows_of([*range(ROWS)], 0)
    table = HudiTable.create(str(folder), first.schema, name="t", keys=["key"], table_type=table_type)
    table.insert(first, options=OPTIONS)
    return table


def newest_file(table: HudiTable) -> pq.FileMetaData:
    (path,) = set(table.to_arrow(columns=["_hoodie_file_name"]).column(0).to_pylist())
    return pq.read_metadata(Path(table.storage.uri.removeprefix("file://")) / path)


def test_upsert_of_keys_that_were_looked_up_reads_no_key_of_the_row_groups_that_it_copies(tmp_path: Path, copied: list[bool]) -> None:
    table = table_of(tmp_path)
    table.upsert(rows_of([5, 6, ROWS + 1], 1), options=OPTIONS)
    assert copied
    assert not any(copied)
    expected = {key_of(number): 1 if number in (5, 6, ROWS + 1) else 0 for number in [*range(ROWS), ROWS + 1]}
    assert dict(zip(*table.to_arrow(columns=["key", "v"]).to_pydict().values(), strict=True)) == expected


@pytest.mark.parametrize("knows", [True, False], ids=["known rows", "read keys"])
def test_rows_and_key_range_after_any_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows: bool) -> None:
    if not knows:
        monkeypatch.setattr(touched_groups, "recall", lambda *_: None)
    table, choices = table_of(tmp_path), random.Random(7)
    model = dict.fromkeys(map(key_of, range(ROWS)), 0)
    for version in range(1, 6):
        numbers = choices.sample(range(ROWS + 50), 4)
        table.upsert(rows_of(numbers, version), options=OPTIONS)
        model |= dict.fromkeys(map(key_of, numbers), version)
        # The least and the greatest key leave the file, by which its range becomes narrower.
        deleted_keys = [min(model), max(model), choices.choice(sorted(model))]
        table.delete(where=pc.field("key").isin(deleted_keys), options=OPTIONS)
        model = {key: value for key, value in model.items() if key not in deleted_keys}
        read = table.to_arrow(columns=["key", "v"])
        assert read.num_rows == len(model)
        assert dict(zip(*read.to_pydict().values(), strict=True)) == model
        entries = newest_file(table).metadata
        assert (entries[FOOTER_MIN_KEY.encode()].decode(), entries[FOOTER_MAX_KEY.encode()].decode()) == (min(model), max(model))


def test_filters_on_keys_give_the_rows_that_other_filters_give(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    for numbers in ([3], [1, 17, ROWS + 5], [*range(0, ROWS, 9)]):
        expected_keys = {key_of(number) for number in numbers if number < ROWS}
        for column in ("key", "_hoodie_record_key"):
            condition = pc.field(column).isin([key_of(number) for number in numbers])
            assert {*table.to_arrow(filter=condition).column("key").to_pylist()} == expected_keys
            assert table.to_arrow(columns=["text"], filter=condition & (pc.field("v") > 0)).num_rows == 0
            either = condition | (pc.field("text") == "8 0")
            assert {*table.to_arrow(filter=either).column("key").to_pylist()} == expected_keys | {key_of(8)}


def test_filters_on_keys_give_the_merged_rows_of_log_files(tmp_path: Path) -> None:
    table = table_of(tmp_path, "MERGE_ON_READ")
    table.upsert(rows_of([3, 17], 1), options=OPTIONS)
    table.delete(where=pc.field("key") == key_of(40), options=OPTIONS)
    table.upsert(rows_of([60], 2), options=OPTIONS)
    condition = pc.field("key").isin([key_of(number) for number in (3, 17, 40, 50, 60, ROWS + 5)])
    expected = {key_of(3): 1, key_of(17): 1, key_of(50): 0, key_of(60): 2}
    for _ in range(2):
        read = table.to_arrow(columns=["key", "v"], filter=condition)
        assert dict(zip(*read.to_pydict().values(), strict=True)) == expected
        assert read.num_rows == len(expected)
    assert table.to_arrow(filter=condition & (pc.field("v") == 0)).column("key").to_pylist() == [key_of(50)]


def test_a_key_column_that_is_not_the_record_key_of_a_file_is_read_itself(tmp_path: Path) -> None:
    name = BaseFileName("g-0", "0-0-0", "20260101000000000")
    rows = pa.table({"_hoodie_record_key": ["key:a", "key:b"], "key": ["a", "b"]})
    pq.write_table(rows, tmp_path / str(name))
    file = BaseFile("", name, (tmp_path / str(name)).stat().st_size)
    storage = LocalStorage(str(tmp_path))
    assert rows_meant(storage, file, pa.array(["a"]), "key") is None
    assert rows_meant(storage, file, pa.array(["key:b"]), "_hoodie_record_key").tolist() == [1]  # type: ignore[union-attr]


def test_row_groups_of_appended_rows_are_copied_without_their_keys(
    tmp_path: Path, copied: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(tmp_path)
    monkeypatch.setattr(StoredGroups, "keys", None)
    table.insert(rows_of([ROWS + 1], 1), options={**OPTIONS, "hoodie.parquet.small.file.limit": str(100 << 20)})
    assert copied
    assert not any(copied)
    assert table.count() == ROWS + 1


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("column", ["key", "_hoodie_record_key"])
def test_rows_of_any_number_of_known_keys_are_those_of_the_condition(tmp_path: Path, table_type: str, column: str) -> None:
    table = table_of(tmp_path, table_type)
    table.upsert(rows_of([3, 17], 1), options=OPTIONS)
    table.delete(where=pc.field("key") == key_of(40), options=OPTIONS)
    snapshot = open_snapshot(table.storage, SnapshotQuery(), table.config)
    for numbers in ([3, 40, ROWS + 5], [*range(0, ROWS, 3)]):
        values = pa.array([key_of(number) for number in numbers], pa.string())
        known = keys_in_column(column, values, snapshot.schema, snapshot.config)
        assert known is not None
        assert known[1] == column
        selection = Selection(snapshot, ("key", "v", "text"), pc.field(column).isin(values), known_keys=known)
        expected = read_table(replace(selection, known_keys=None)).sort_by("key")
        assert read_table(selection).sort_by("key").equals(expected)
        assert expected.num_rows == len({*numbers} - {40, ROWS + 5})
        for columns in (("key", "_hoodie_record_key", "v", "text"), ("_hoodie_record_key",), ("v", "_hoodie_record_key")):
            whole = replace(selection, columns=columns, known_keys=None)
            by_keys = replace(selection, columns=columns, tests_known_rows=False)
            assert read_table(by_keys).sort_by("_hoodie_record_key").equals(read_table(whole).sort_by("_hoodie_record_key"))


def test_rows_of_known_keys_are_tested_where_a_snapshot_has_a_condition_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(tmp_path)
    monkeypatch.setattr(Snapshot, "condition", pc.field("text") == "3 0")
    snapshot = open_snapshot(table.storage, SnapshotQuery(), table.config)
    values = pa.array([key_of(number) for number in (3, 4)], pa.string())
    known = keys_in_column("key", values, snapshot.schema, snapshot.config)
    condition = pc.field("key").isin(values) & snapshot.condition
    selection = Selection(snapshot, ("key",), condition, known_keys=known, tests_known_rows=False)
    assert read_table(selection).column("key").to_pylist() == [key_of(3)]


def test_values_of_other_columns_are_no_keys(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    schema = table.schema
    assert keys_in_column("text", pa.array(["a"]), schema, table.config) is None
    assert keys_in_column("v", pa.array([1]), schema, table.config) is None
    assert keys_in_column("key", pa.array(["", "a"]), schema, table.config) is None
