"""Statistics of files that were written before their columns got the names and types of today: true, and taken for true by `health`."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import AddColumn, DropColumn, RenameColumn, RetypeColumn
from tests.unit.metadata_table.replays import metadata_table

OPTIONS = {"hoodie.schema.on.read.enable": "true", "hoodie.parquet.small.file.limit": "0"}
SCHEMA = pa.schema({"id": pa.string(), "p": pa.string(), "i": pa.int32(), "j": pa.int32(), "at": pa.struct({"x": pa.int32()})})
CHANGES = {
    "added": ([AddColumn(("n",), pa.int32())], {"n": 3}),
    "renamed": ([RenameColumn(("i",), "q")], {"q": 7}),
    "renamed within": ([RenameColumn(("at", "x"), "y")], {"at": {"y": 7}}),
    "widened": ([RetypeColumn(("i",), pa.int64())], {"i": 1 << 40}),
    "to text": ([RetypeColumn(("i",), pa.string())], {"i": "zz"}),
    "to real": ([RetypeColumn(("i",), pa.float64())], {"i": 1.5}),
    "dropped": ([DropColumn(("i",))], {}),
}
VERSIONS = pytest.mark.parametrize(
    ("version", "partition_by"), [(9, ["p"]), pytest.param(8, ["p"], marks=pytest.mark.slow), (9, [])], ids=["9", "8", "not partitioned"]
)


def table_at(path, version: int, partition_by: list[str]) -> HudiTable:
    options = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=partition_by, options=options)
    rows = [{"id": "a", "p": "x", "i": 1, "j": 10, "at": {"x": 5}}, {"id": "b", "p": "x", "i": 2, "j": 20, "at": None}]
    table.insert(rows, options=OPTIONS)
    return table


def insert(table: HudiTable, key: str, **more: Any) -> None:
    table.insert(pa.Table.from_pylist([{"id": key, "p": "x", **more}], schema=table.schema), options=OPTIONS)


def problems(table: HudiTable) -> list[tuple[str, ...]]:
    return [tuple(one.values()) for one in table.inspect.health().to_pylist()]


def recorded(table: HudiTable, column: str) -> list[ColumnStats]:
    return sorted(metadata_table(table.storage).column_stats([column]), key=lambda stats: stats.file_name.rsplit("_", 1)[-1])


@VERSIONS
@pytest.mark.parametrize("change", CHANGES)
def test_health_agrees_after_each_change_and_what_follows(tmp_path, version, partition_by, change) -> None:
    table = table_at(tmp_path / "t", version, partition_by)
    changes, values = CHANGES[change]
    alter_schema(table, changes, OPTIONS)  # type: ignore[arg-type]
    assert problems(table) == []
    for number in range(3):
        insert(table, f"c{number}", **values)  # type: ignore[arg-type]
        assert problems(table) == []
    table.services.index(rebuild=True)
    assert problems(table) == []


@pytest.mark.parametrize(("change", "column"), [("renamed", "q"), ("widened", "i")])
def test_a_compaction_planned_before_a_change_records_bounds_of_the_columns_that_it_writes(tmp_path, change, column) -> None:
    quiet = OPTIONS | {"hoodie.compact.inline": "false"}
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    alter_schema(table, [AddColumn(("n",), pa.int32())], quiet)
    for number in (1, 7):
        table.upsert(pa.Table.from_pylist([{"id": "a", "p": "x", "i": number}], schema=table.schema), options=quiet)
    assert table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"}) != ()
    alter_schema(table, CHANGES[change][0], quiet)  # type: ignore[arg-type]
    table.services.compact(mode="execute")
    assert problems(table) == []
    assert table.count(filter=f"{column} = 7") == 1
    assert HudiTable.open(tmp_path / "t").count(filter=f"{column} = 7") == 1


@VERSIONS
def test_a_renamed_column_has_its_bounds_in_older_files(tmp_path, version, partition_by) -> None:
    table = table_at(tmp_path / "t", version, partition_by)
    alter_schema(table, [RenameColumn(("i",), "q")], OPTIONS)
    insert(table, "c", q=7)
    for _ in range(2):
        assert [(one.minimum, one.maximum, one.null_count) for one in recorded(table, "q")] == [(1, 2, 0), (7, 7, 0)]
        if partition_by:
            assert [(one.minimum, one.maximum) for one in metadata_table(table.storage).partition_stats(["q"])] == [(1, 7)]
        table.services.index(rebuild=True)


REUSES = {
    "dropped and added": ([DropColumn(("i",))], [AddColumn(("i",), pa.int32())]),
    "another type": ([DropColumn(("i",))], [AddColumn(("i",), pa.string())]),
    "in one change": ([DropColumn(("i",)), AddColumn(("i",), pa.int32())], []),
    "exchanged": ([RenameColumn(("i",), "z"), RenameColumn(("j",), "i"), RenameColumn(("z",), "j")], []),
}


@VERSIONS
@pytest.mark.parametrize("writes_between", [True, False])
@pytest.mark.parametrize("name", REUSES)
def test_a_name_that_means_another_column_has_its_own_statistics(tmp_path, caplog, version, partition_by, name, writes_between) -> None:
    table = table_at(tmp_path / "t", version, partition_by)
    for number, change in enumerate(one for one in REUSES[name] if one):
        alter_schema(table, change, OPTIONS)  # type: ignore[arg-type]
        if writes_between:
            insert(table, f"c{number}")
    insert(table, "d")
    assert problems(table) == []
    assert [record.getMessage() for record in caplog.records if "other statistics of column 'i'" in record.getMessage()]
    first = recorded(table, "i")[0]
    assert (first.minimum, first.null_count) == ((10, 0) if name == "exchanged" else (None, 2))
    assert table.to_arrow(filter="i = 1").num_rows == 0 if name != "another type" else True


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_filter_holds_for_files_that_lack_all_columns_asked_for(tmp_path, table_type) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.string()}), name="t", keys=["id"], table_type=table_type)
    table.insert([{"id": "a"}, {"id": "b"}])
    table.insert(pa.table({"id": ["c"], "n": pa.array([5], pa.int64())}), options={"hoodie.parquet.small.file.limit": "0"})
    filters = {"n = 5": 1, "n IS NULL": 2, "n IS NOT NULL": 1, "n <> 5": 0, "NOT (n = 5)": 0, "n IN (5, 6)": 1, "n > 3 OR n < 1": 1}
    for (text, count), metadata in itertools.product(filters.items(), ["true", "false"]):
        options = {"hoodie.metadata.enable": metadata}
        assert table.to_arrow(columns=["n"], filter=text, options=options).num_rows == count, text
        assert table.to_arrow(columns=["id"], filter=text, options=options).num_rows == count, text
        assert table.count(text) == count, text
