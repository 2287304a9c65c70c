"""A metadata table that pyhudi writes says what listing and footers say, after every kind of action."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.column_types import bound_types, index_version_of, indexed_columns
from pyhudi.metadata_table.indexes.file_stats import file_stats, of_type, partition_stats
from pyhudi.metadata_table.lifecycle.prepare_metadata import prepare
from pyhudi.metadata_table.read.writer_table import FOLDER, open_writer_table
from pyhudi.metadata_table.services.metadata_compaction import compact_if_due
from pyhudi.metadata_table.services.metadata_rollback import roll_back
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.timeline.instant_details import read_commit
from tests.tables import unpack
from tests.unit.metadata_table.replays import contents, metadata_table, prepared, record, record_commit, replay, sources, timeline_of
from tests.unit.metadata_table.tables import listed

COPY_ON_WRITE = [
    "cow/v9_txns_simple_nometa",
    "cow/v9_txns_complex_nometa",
    "cow/v9_txns_nonpart_nometa",
    "cow/v8_simplekeygen_nonhivestyle",
    "apache_hudi/sql_operations_v9",
]
MERGE_ON_READ = ["mor/avro/v9_txns_simple_nometa", "mor/avro/v9_txns_nonpart_nometa", "apache_hudi/merge_on_read_v9"]


def table_of(name: str, folder: Path) -> Storage:
    return LocalStorage(str(unpack(name, folder)))


def check_files(storage: Storage) -> None:
    table = metadata_table(storage)
    result = table.files_of(table.partition_paths())
    by_listing = listed(storage, TableConfig(load_properties(storage)))
    assert {path: {file.name: file.size for file in files} for path, files in result.items()} == by_listing
    assert table.missing_instants == ()


def check_statistics(storage: Storage) -> None:
    config, timeline, table = TableConfig(load_properties(storage)), timeline_of(storage), metadata_table(storage)
    view = FileSystemView(storage, config, timeline)
    schema = avro_to_arrow(read_commit(storage, config, timeline.data_instants()[-1]).schema_json or "")
    index_version = index_version_of(config.version)
    types = bound_types(schema, indexed_columns(schema, index_version), index_version)
    for path in table.partition_paths():
        latest = [file_stats(storage, file.path, types) or {} for file in view.latest_base_files(path)]
        known = {(stats.file_name, stats.column): of_type(stats, types[stats.column]) for stats in table.column_stats(types, path)}
        for stats in latest:
            assert {column: known.get((one.file_name, column)) for column, one in stats.items()} == stats
        if config.partition_fields and latest:
            expected = [one for one in partition_stats(path, [stats for stats in latest if stats], types) if not one.is_deleted]
            recorded = [of_type(stats, types[stats.column]) for stats in table.partition_stats(types, path)]
            assert sorted(recorded, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("name", COPY_ON_WRITE)
def test_history_of_a_copy_on_write_table_is_recorded(tmp_path, name) -> None:
    storage = table_of(name, tmp_path)
    replay(storage)
    check_files(storage)
    check_statistics(storage)


@pytest.mark.parametrize("name", MERGE_ON_READ)
def test_history_of_a_merge_on_read_table_is_recorded(tmp_path, name) -> None:
    storage = table_of(name, tmp_path)
    replay(storage)
    check_files(storage)


@pytest.mark.parametrize("name", [*COPY_ON_WRITE, *MERGE_ON_READ])
def test_table_with_a_history_gets_a_metadata_table(tmp_path, name) -> None:
    storage = table_of(name, tmp_path)
    in_step = prepared(storage, timeline_of(storage))
    assert "files" in in_step.config.metadata_partitions
    assert set(in_step.config.metadata_partitions) == set(TableConfig(load_properties(storage)).metadata_partitions)
    check_files(storage)
    if name in COPY_ON_WRITE:
        check_statistics(storage)


def test_merge_on_read_table_has_no_partition_statistics(tmp_path) -> None:
    """Apache Hudi passes over partitions without statistics, once another partition has some."""
    storage = table_of("apache_hudi/merge_on_read_v9", tmp_path)
    prepared(storage, timeline_of(storage))
    assert metadata_table(storage).partitions == ("column_stats", "files")


def test_compaction_changes_no_record(tmp_path) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    replay(storage)
    before = contents(storage)
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    after = compact_if_due(mdt, max_delta_commits=1)
    assert after.timeline.completed()[-1].action is Action.COMMIT
    assert all(not slice_.logs for name in before for slice_ in after.slices(name))
    assert contents(storage) == before


def test_compaction_waits_for_enough_delta_commits(tmp_path) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    prepared(storage, timeline_of(storage))
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    assert compact_if_due(mdt, max_delta_commits=4) is mdt  # three partitions were built by a delta commit each


def test_rolled_back_commit_leaves_no_trace(tmp_path) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    *_, last = timeline_of(storage).data_instants()
    in_step = prepared(storage, timeline_of(storage).requested_by(str(int(last.requested) - 1)))
    before = contents(storage)
    record_commit(in_step, last.requested, read_commit(storage, in_step.config, last))
    assert contents(storage) != before
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    time = mdt.next_time()
    for _ in range(2):  # a rollback that is repeated finds nothing to do
        roll_back(mdt.reload(), last.requested, time)
    assert contents(storage) == before
    assert not any(last.requested in file.name for file in storage.list(f"{FOLDER}/files"))
    assert [one.action for one in mdt.reload().timeline.completed()][-1] is Action.ROLLBACK


def test_commit_that_the_table_has_not_completed_is_not_seen(tmp_path) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    *_, last = timeline_of(storage).data_instants()
    prepared(storage, timeline_of(storage).requested_by(str(int(last.requested) - 1)))
    before = contents(storage)
    record(storage, last)
    assert contents(storage) != before
    folder = TableConfig(load_properties(storage)).timeline_path
    (done,) = [file for file in storage.list(folder) if file.name.startswith(f"{last.requested}_")]
    storage.delete(done.path)
    assert contents(storage) == before


def test_metadata_table_that_misses_a_commit_is_built_again_with_a_warning(tmp_path, caplog) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    *_, last = timeline_of(storage).data_instants()
    prepared(storage, timeline_of(storage).requested_by(str(int(last.requested) - 1)))
    # The fixture's last commit is older than the metadata table, so a newer one must be feigned.
    later = f"29{last.requested[2:]}"
    data = storage.read(f".hoodie/timeline/{last.file_name(2)}")
    storage.create(f".hoodie/timeline/{later}_{later}.commit", data)
    assert metadata_table(storage).missing_instants == (later,)
    with caplog.at_level(logging.WARNING):
        prepared(storage, timeline_of(storage))
    assert later in caplog.text


@pytest.mark.parametrize("damage", ["missing", "properties"])
def test_damaged_metadata_table_is_built_again(tmp_path, caplog, damage) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    prepared(storage, timeline_of(storage))
    if damage == "missing":
        storage.delete_tree(FOLDER)
    else:
        storage.replace(f"{FOLDER}/.hoodie/hoodie.properties", b"rubbish")
    with caplog.at_level(logging.WARNING):
        prepared(storage, timeline_of(storage))
    assert "rebuilt" in caplog.text
    check_files(storage)


@pytest.mark.parametrize("key", ["hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"])
def test_table_with_an_index_that_is_not_written_is_refused_by_its_name(tmp_path, key) -> None:
    storage = table_of("cow/v9_txns_simple_nometa", tmp_path)
    store_properties(storage, {key: "vector_index_name"}, sources().clock.now())
    with pytest.raises(UnsupportedError, match="vector_index_name"):
        prepared(storage, timeline_of(storage))


def test_metadata_table_of_version_6_waits_for_what_is_pending(tmp_path, caplog) -> None:
    storage = table_of("cow/v6_nonpartitioned", tmp_path)
    config, timeline = TableConfig(load_properties(storage)), timeline_of(storage)
    storage.create(f"{config.timeline_path}/20991231000000000.compaction.requested", b"")
    with caplog.at_level(logging.WARNING):
        assert prepare(storage, config, timeline_of(storage), None, sources()) == (config, None)
    assert "is built when 20991231000000000 is complete" in caplog.text
    assert prepare(storage, config, timeline, None, sources())[0].metadata_partitions == ("column_stats", "files")


def test_cleaned_files_and_their_statistics_go(tmp_path) -> None:
    storage = table_of("apache_hudi/cleaned_and_archived_v9", tmp_path)
    timeline = timeline_of(storage)
    cleans = [instant for instant in timeline.completed() if instant.action is Action.CLEAN]
    assert cleans
    prepared(storage, timeline.requested_by(str(int(cleans[0].requested) - 1)))
    for instant in timeline.completed():
        if instant.requested >= cleans[0].requested and (instant.action.writes_data or instant.action is Action.CLEAN):
            record(storage, instant)
    check_files(storage)
    named = {stats.file_name for stats in metadata_table(storage).column_stats(["_hoodie_record_key"])}
    assert named <= {file for files in listed(storage, TableConfig(load_properties(storage))).values() for file in files}


def test_a_column_that_comes_has_statistics_in_files_written_before(tmp_path) -> None:
    """Apache Hudi would take files and partitions without a record for such without a matching row."""
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.string(), "p": pa.string()}), name="t", keys=["id"], partition_by=["p"])
    table.insert([{"id": "a", "p": "x"}, {"id": "b", "p": "y"}, {"id": "c", "p": "y"}])
    table.upsert([{"id": "a", "p": "x", "n": 7}])
    storage = LocalStorage(str(tmp_path / "t"))
    result = contents(storage)
    files = {(stats.null_count, stats.value_count, stats.minimum) for stats in result["column_stats"].values() if stats.column == "n"}
    assert files == {(1, 1, None), (2, 2, None), (0, 1, 7)}
    of_partitions = {
        stats.file_name: (stats.null_count, stats.maximum) for stats in result["partition_stats"].values() if stats.column == "n"
    }
    assert of_partitions == {"x": (0, 7), "y": (2, None)}
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def test_a_column_that_options_bring_into_the_index_has_statistics_of_all_files(tmp_path) -> None:
    schema, only = pa.schema({"id": pa.string(), "v": pa.int64(), "f": pa.float64()}), "hoodie.metadata.index.column.stats.column.list"
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"])
    options = {"hoodie.parquet.small.file.limit": "0"}
    table.insert([{"id": "a", "v": 1, "f": math.nan}], options={**options, only: "v"})
    table.insert([{"id": "b", "v": 2, "f": 2.0}], options={**options, only: "v,f"})
    values = contents(LocalStorage(str(tmp_path / "t")))["column_stats"].values()
    assert {(stats.minimum, stats.maximum) for stats in values if stats.column == "f"} == {(-math.inf, math.inf), (2.0, 2.0)}
