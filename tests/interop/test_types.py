"""Every type goes through both sides unchanged, in either order, and through a rewrite by the other side."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, every_type

KIND = Kind("types", partition_by=("part",))
# Hudi stores tinyint and smallint as int.
STORED = {"int8": pa.int32(), "int16": pa.int32()}


def assert_types(table: pa.Table) -> None:
    for name in every_type().column_names:
        assert plain(table.schema.field(name).type) == plain(STORED.get(name, every_type().schema.field(name).type)), name


def plain(kind: pa.DataType) -> str:
    """A type without names of list elements and without what is nullable."""
    text = str(kind).replace("element: ", "item: ").replace(" not null", "")
    return text.replace("list<array: ", "list<item: ")


def test_pyhudi_writes_and_apache_hudi_reads_and_rewrites(reference: ReferenceHudi, tmp_path: Path) -> None:
    rows = every_type()
    KIND.create(tmp_path / "t", rows.schema).insert(rows)
    read = reference.read(tmp_path / "t")
    assert data(read) == data(rows)
    assert_types(read)
    # Row `a` alone: `c`, of its partition, is carried over by Hudi's own reader and writer.
    KIND.reference_writes(reference, tmp_path / "t", "upsert", rows.slice(0, 1))
    assert data(reference.read(tmp_path / "t")) == data(rows)
    assert data(HudiTable.open(tmp_path / "t").to_arrow()) == data(rows)


def test_apache_hudi_writes_and_pyhudi_reads_and_rewrites(reference: ReferenceHudi, tmp_path: Path) -> None:
    rows = every_type()
    KIND.reference_writes(reference, tmp_path / "t", "upsert", rows)
    read = HudiTable.open(tmp_path / "t").to_arrow()
    assert data(read) == data(rows)
    assert_types(read)
    HudiTable.open(tmp_path / "t").upsert(rows.slice(0, 1))
    assert data(reference.read(tmp_path / "t")) == data(rows)
    KIND.reference_writes(reference, tmp_path / "t", "upsert", rows.slice(2, 1))
    assert data(HudiTable.open(tmp_path / "t").to_arrow()) == data(rows)


def test_every_type_made_by_sql_is_continued_by_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    columns = (
        "id STRING, i8 TINYINT, i16 SMALLINT, dec DECIMAL(20,3), vc VARCHAR(5), ch CHAR(5), bin BINARY, dt DATE, "
        "ts TIMESTAMP, ntz TIMESTAMP_NTZ, arr ARRAY<STRING>, m MAP<STRING,INT>, st STRUCT<x:INT,y:ARRAY<DOUBLE>>"
    )
    values = (
        "'a', 1, 2, 3.25, 'vc', 'ch', X'00ff', DATE'2026-01-02', TIMESTAMP'2026-01-02 03:04:05.678901', "
        "TIMESTAMP_NTZ'2026-01-02 03:04:05', array('a'), map('k',1), named_struct('x',1,'y',array(1.5D))"
    )
    reference.sql(f"CREATE TABLE sql_types ({columns}) USING hudi TBLPROPERTIES (primaryKey='id') LOCATION '{path}'")
    reference.sql(f"INSERT INTO sql_types VALUES ({values})", "INSERT INTO sql_types (id) VALUES ('b')")
    before = reference.read(path)
    table = HudiTable.open(path)
    rows = table.to_arrow()
    assert data(rows) == data(before)
    table.upsert(rows.slice(0, 1))
    assert data(reference.read(path)) == data(before)


@pytest.mark.parametrize("maker", ["pyhudi", "Apache Hudi"])
def test_days_and_times_before_1582_and_1900_mean_the_same_to_both(maker: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    times = [dt.datetime(1200, 2, 29, 1, 2, 3, 4, tzinfo=dt.UTC), dt.datetime(1850, 6, 1, tzinfo=dt.UTC)]
    days = [dt.date(1500, 3, 1), dt.date(1, 1, 1)]
    columns = {"id": ["a", "b"], "day": pa.array(days), "time": pa.array(times, pa.timestamp("us", "UTC"))}
    rows = pa.table(columns)
    kind = Kind("old", partition_by=())
    if maker == "pyhudi":
        kind.create(tmp_path / "t", rows.schema).insert(rows)
    else:
        kind.reference_writes(reference, tmp_path / "t", "upsert", rows)
    assert data(HudiTable.open(tmp_path / "t").to_arrow()) == data(rows)
    assert data(reference.read(tmp_path / "t")) == data(rows)


def test_null_elements_of_a_list_written_by_pyhudi_are_read_by_apache_hudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    # Apache Hudi itself cannot write them: its lists have no place for a null.
    rows = pa.table({"id": ["a", "b"], "list": pa.array([[1, None], [None]], pa.list_(pa.int64()))})
    Kind("nulls", partition_by=()).create(tmp_path / "t", rows.schema).insert(rows)
    assert data(reference.read(tmp_path / "t")) == data(rows)


def test_a_column_added_by_one_side_is_read_by_the_other(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind("added", partition_by=())
    first = pa.table({"id": ["a", "b"], "n": [1, 2]})
    kind.create(tmp_path / "t", first.schema).insert(first)
    kind.reference_writes(reference, tmp_path / "t", "upsert", pa.table({"id": ["b"], "n": [3], "by_hudi": ["x"]}))
    wider = pa.table({"id": ["c"], "n": [4], "by_hudi": ["y"], "by_pyhudi": [1.5]})
    HudiTable.open(tmp_path / "t").upsert(wider)
    expected = [
        {"id": "a", "n": 1, "by_hudi": None, "by_pyhudi": None},
        {"id": "b", "n": 3, "by_hudi": "x", "by_pyhudi": None},
        {"id": "c", "n": 4, "by_hudi": "y", "by_pyhudi": 1.5},
    ]
    assert data(reference.read(tmp_path / "t")) == expected
    assert data(HudiTable.open(tmp_path / "t").to_arrow()) == expected
