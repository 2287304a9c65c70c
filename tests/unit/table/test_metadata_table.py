"""Every writer keeps the metadata table in step, every reader lists by it while it may be trusted, and says why when it may not."""

from __future__ import annotations

import gc
import logging
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import SCHEMA, make_table, ride

PARTITIONS = "hoodie.table.metadata.partitions"
OFF = {"hoodie.metadata.enable": "false"}


def parts_of(table: HudiTable) -> str:
    return load_properties(table.storage).get(PARTITIONS, "")


def metadata_table(table: HudiTable) -> MetadataTable:
    config = HudiTable(table.storage).config
    return MetadataTable.open(table.storage, config, load_timeline(table.storage, config))


def check(table: HudiTable) -> None:
    assert HudiTable(table.storage).inspect.health().to_pylist() == []


def values(table: HudiTable) -> list[int]:
    return sorted(HudiTable(table.storage).to_arrow(columns=["value"])["value"].to_pylist())


def left_behind(table: HudiTable, *rows: dict[str, Any]) -> None:
    """Write as somebody does who knows of no metadata table, and leave it as it was."""
    assert isinstance(table.storage, MemoryStorage)
    before = table.storage.copy()
    named = parts_of(table)
    store_properties(table.storage, {PARTITIONS: ""}, SystemClock().now())
    table.upsert(list(rows), options=OFF)
    store_properties(table.storage, {PARTITIONS: named}, SystemClock().now())
    assert table.storage.stat(f"{FOLDER}/.hoodie/hoodie.properties") == before.stat(f"{FOLDER}/.hoodie/hoodie.properties")


def test_every_kind_of_write_keeps_it_in_step() -> None:
    table = make_table(partition_by=["city"])
    table.insert([ride(1), ride(2)])
    assert parts_of(table) == "column_stats,files,partition_stats"
    for step in (
        lambda: table.upsert([ride(1, value=5)]),
        lambda: table.bulk_insert([ride(3)]),
        lambda: table.delete([ride(2)]),
        lambda: table.overwrite([ride(7)]),
        lambda: table.delete(where="id = 7"),
    ):
        step()
        check(table)


def test_reads_find_their_files_by_it() -> None:
    table = make_table()
    table.insert([ride(1)])
    recorded = RecordingStorage(table.storage)
    assert HudiTable(recorded).to_arrow().num_rows == 1
    listed = [call.path for call in recorded.calls if call.method == "list" and not call.path.startswith(".hoodie")]
    assert listed == []


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("damage", ["gone", "base files gone", "cut", "behind"])
def test_reader_lists_where_it_cannot_be_trusted_and_the_next_writer_builds_it_again(
    damage: str, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    table = make_table(options={"hoodie.write.table.version": version})
    table.insert([ride(1, value=1)])
    expected = [1]
    if damage == "gone":
        table.storage.delete_tree(FOLDER)
    elif damage == "behind":
        left_behind(table, ride(9, value=9))
        expected = [1, 9]
    else:
        for file in table.storage.list(f"{FOLDER}/files"):
            if damage == "base files gone" and file.name.endswith(".hfile"):
                table.storage.delete(file.path)
            elif damage == "cut" and ".log." in file.name:
                table.storage.replace(file.path, table.storage.read(file.path, max_bytes=1 << 20)[:-40])
    with caplog.at_level(logging.WARNING):
        assert values(table) == expected
    assert "the metadata table" in caplog.text
    assert "listed instead" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        table.upsert([ride(2, value=2)])
    assert "rebuilt" in caplog.text
    assert values(table) == sorted([*expected, 2])
    check(table)


def test_statistics_that_are_damaged_are_built_again_while_a_write_completes(caplog: pytest.LogCaptureFixture) -> None:
    table = make_table(partition_by=["city"])
    table.insert([ride(1, city="oslo"), ride(2, city="oslo")], options={"hoodie.parquet.max.file.size": "1"})
    table.insert([ride(3, city="oslo")], options={"hoodie.parquet.small.file.limit": "0"})
    for file in table.storage.list(f"{FOLDER}/column_stats"):
        if ".log." in file.name and not file.name.endswith("0-0-0"):
            table.storage.replace(file.path, b"rubbish")
    with caplog.at_level(logging.WARNING):
        table.insert([ride(4, city="oslo")], options={"hoodie.parquet.small.file.limit": "0"})
        table.insert([ride(5, city="oslo")], options={"hoodie.parquet.small.file.limit": "0"})
    check(table)


def test_switching_it_off_deletes_it_and_switching_it_on_builds_it() -> None:
    table = make_table(partition_by=["city"])
    table.insert([ride(1)])
    table.upsert([ride(2)], options=OFF)
    assert parts_of(table) == ""
    assert table.storage.list(FOLDER) == []
    table.upsert([ride(3)])
    assert parts_of(table) == "column_stats,files,partition_stats"
    check(table)


def test_statistics_that_are_switched_off_go_and_come_back() -> None:
    table = make_table()
    table.insert([ride(1)])
    table.upsert([ride(2)], options={"hoodie.metadata.index.column.stats.enable": "false"})
    assert parts_of(table) == "files"
    assert table.storage.list(f"{FOLDER}/column_stats") == []
    table.upsert([ride(3)], options={"hoodie.metadata.index.partition.stats.enable": "false"})
    assert parts_of(table) == "column_stats,files"
    check(table)


def test_options_say_which_columns_have_statistics() -> None:
    table = make_table()
    table.insert([ride(1)], options={"hoodie.metadata.index.column.stats.column.list": "value, _hoodie_record_key"})
    meta = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")
    assert metadata_table(table).definitions["column_stats"].source_fields == (*meta, "value")
    table.insert([ride(2)], options={"hoodie.metadata.index.column.stats.max.columns.to.index": "1"})
    assert metadata_table(table).definitions["column_stats"].source_fields == (*meta, "id")
    check(table)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("value, vaule", r"names 'vaule', which is no column of table rides\. Did you mean 'value'"),
        ("tags", "names 'tags' of type list<.*no statistics; leave it out"),
    ],
)
def test_statistics_of_columns_that_have_none_are_refused_before_anything_is_written(named: str, message: str) -> None:
    table = make_table(schema=SCHEMA.append(pa.field("tags", pa.list_(pa.int64()))))
    with pytest.raises(SchemaError, match=message):
        table.insert([{**ride(1), "tags": [1]}], options={"hoodie.metadata.index.column.stats.column.list": named})
    assert not table.history()
    for switch in ("hoodie.metadata.enable", "hoodie.metadata.index.column.stats.enable"):
        table.insert([{**ride(1), "tags": [1]}], options={"hoodie.metadata.index.column.stats.column.list": named, switch: "false"})


def test_column_that_is_added_has_statistics_in_all_files() -> None:
    table = make_table()
    table.insert([ride(1)])
    table.insert([{**ride(2), "note": "new"}])
    result = {(stats.minimum, stats.null_count, stats.value_count) for stats in metadata_table(table).column_stats(["note"])}
    assert result == {(None, 1, 1), ("new", 1, 2)}  # the file from before has nulls; Apache Hudi passes over files without a record
    check(table)


def test_log_files_and_their_compaction_are_recorded() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    by_hand = {"hoodie.compact.inline": "false"}
    table.insert([ride(1), ride(2)], options=by_hand)
    table.upsert([ride(1, value=7)], options=by_hand)
    check(table)
    table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    check(table)
    assert values(table) == sorted([7, ride(2)["value"]])


def test_table_of_version_6_has_one_in_its_own_layout_without_statistics_of_partitions() -> None:
    table = make_table(options={"hoodie.write.table.version": "6"})
    table.insert([ride(1)])
    table.upsert([ride(1, value=2)])
    assert parts_of(table) == "column_stats,files"
    names = {file.name for file in table.storage.list(".hoodie/metadata/.hoodie") if file.name.endswith(".deltacommit")}
    commits = [f"{row['requested']}.deltacommit" for row in table.history().to_pylist()]
    assert names == {"00000000000000010.deltacommit", "00000000000000011.deltacommit", *commits}
    logs = sorted(file.name for file in table.storage.list(".hoodie/metadata/files") if file.name.startswith(".files"))
    assert [name.split("_")[1] for name in logs] == [f"00000000000000010.log.{number}" for number in (1, 2, 3)]
    check(table)


def test_statistics_of_an_arrow_table_are_those_of_its_rows() -> None:
    rows = pa.Table.from_pylist([ride(number) for number in range(3)])
    table = make_table()
    table.insert(rows)
    assert [stats.value_count for stats in metadata_table(table).column_stats(["id"])] == [3]


def test_partition_that_somebody_was_building_is_built_again() -> None:
    table = make_table()
    table.insert([ride(1)])
    store_properties(table.storage, {PARTITIONS: "files", f"{PARTITIONS}.inflight": "column_stats"}, SystemClock().now())
    for file in table.storage.list(f"{FOLDER}/column_stats"):
        table.storage.delete(file.path)
    table.upsert([ride(2)])
    assert parts_of(table) == "column_stats,files"
    assert load_properties(table.storage).get(f"{PARTITIONS}.inflight", "") == ""
    check(table)


def test_planning_leaves_the_garbage_collector_on() -> None:
    table = make_table()
    table.insert([ride(1)])
    assert table.to_arrow().num_rows == 1
    assert gc.isenabled()
