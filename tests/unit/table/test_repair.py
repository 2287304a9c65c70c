"""Repairs: partition metafiles, properties, empty files of cleans, duplicate rows, runs that nobody goes on with."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pyhudi.errors import ConflictError, HudiError, OptionError, UnsupportedError, UsageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table, ride, rows_of

METAFILE = ".hoodie_partition_metadata"
SMALL = {"hoodie.parquet.small.file.limit": "0"}


def partitioned() -> HudiTable:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1), ride(2, "rome")])
    return table


def with_duplicates(**arguments: object) -> HudiTable:
    """A table with rows 1, 2 in one file, and 1 again (newer), 3 in another."""
    table = make_table(**arguments)  # type: ignore[arg-type]
    table.insert([ride(1, value=1), ride(2, value=2)], options=SMALL)
    table.insert([ride(1, value=10), ride(3, value=3)], options=SMALL)
    assert len(rows_of(table)) == 4
    return table


def test_missing_partition_metafiles_are_added() -> None:
    table = partitioned()
    table.storage.delete(f"oslo/{METAFILE}")
    planned = table.services.add_partition_metafiles(dry_run=True)
    assert [(one.path, one.has_text, one.action) for one in planned] == [("oslo", False, "add"), ("rome", True, "none")]
    assert table.storage.stat(f"oslo/{METAFILE}") is None
    assert [one.action for one in table.services.add_partition_metafiles()] == ["added", "none"]
    assert b"partitionDepth=1" in table.storage.read(f"oslo/{METAFILE}")


def test_partition_metafiles_are_migrated_and_stay_so_with_later_writes() -> None:
    table = partitioned()
    assert {one.action for one in table.services.migrate_partition_metafiles(dry_run=True)} == {"migrate"}
    assert "hoodie.partition.metafile.use.base.format" not in table.config.properties
    made_by = table.storage.read(f"oslo/{METAFILE}")
    assert {one.action for one in table.services.migrate_partition_metafiles()} == {"migrated"}
    assert {one.action for one in table.services.migrate_partition_metafiles()} == {"none"}
    assert table.config.properties["hoodie.partition.metafile.use.base.format"] == "true"
    with table.storage.open_input(f"oslo/{METAFILE}.parquet") as source:
        values = pq.read_metadata(source).metadata
    assert values[b"partitionDepth"] == b"1"
    assert b"commitTime=" + values[b"commitTime"] in made_by
    table.upsert([ride(1, value=7), ride(4, "bern")])
    assert table.storage.stat(f"oslo/{METAFILE}") is None
    assert [row["id"] for row in rows_of(table)] == [1, 2, 4]
    assert table.inspect.health().num_rows == 0


def test_properties_are_overwritten_even_when_the_old_ones_are_damaged() -> None:
    table = partitioned()
    good = table.storage.read(".hoodie/hoodie.properties")
    changes = table.services.overwrite_properties({**table.config.properties, "hoodie.note": "x"}, dry_run=True)
    assert [(one.name, one.old, one.new) for one in changes if one.name == "hoodie.note"] == [("hoodie.note", None, "x")]
    assert table.storage.read(".hoodie/hoodie.properties") == good
    table.storage.replace(".hoodie/hoodie.properties", b"hoodie.table.version=9\n")
    assert {one.old for one in table.services.overwrite_properties(good)} == {None}
    assert [row["id"] for row in rows_of(HudiTable(table.storage))] == [1, 2]


@pytest.mark.parametrize("new", [b"", b"a=b", b"hoodie.table.name=t\nhoodie.table.type=NONE\n"])
def test_what_is_no_tables_properties_is_refused(new: bytes) -> None:
    table = partitioned()
    before = table.storage.read(".hoodie/hoodie.properties")
    with pytest.raises(HudiError, match=r"hoodie\.table"):
        table.services.overwrite_properties(new)
    assert table.storage.read(".hoodie/hoodie.properties") == before


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("keep_index", [False, True])
def test_of_duplicates_the_newest_row_stays(tmp_path: Path, table_type: str, *, keep_index: bool) -> None:
    table = with_duplicates(table_type=table_type)
    if keep_index:
        table.services.index("record_index")
    planned = table.services.deduplicate(dry_run=True, output=str(tmp_path / "copies"))
    assert (planned.state, planned.keys, planned.surplus_rows, len(planned.files)) == ("planned", 1, 1, 2)
    assert sorted(pq.ParquetDataset(tmp_path / "copies").read().column("value").to_pylist()) == [2, 3, 10]
    assert len(rows_of(table)) == 4
    done = table.services.deduplicate()
    assert done.state == "completed"
    assert [(row["id"], row["value"]) for row in rows_of(table)] == [(1, 10), (2, 2), (3, 3)]
    assert table.services.deduplicate().state == "nothing to do"
    assert table.inspect.health().num_rows == 0
    table.upsert([ride(1, value=11), ride(2, value=12)])
    assert [(row["id"], row["value"]) for row in rows_of(table)] == [(1, 11), (2, 12), (3, 3)]


def test_several_rows_of_one_commit_need_a_rule_that_chooses() -> None:
    table = make_table()
    table.bulk_insert([ride(1, value=1), ride(1, value=2), ride(2)])
    with pytest.raises(UsageError, match="upsert_type"):
        table.services.deduplicate()
    assert table.services.deduplicate(rule="upsert_type").surplus_rows == 1
    assert [(row["id"], row["value"]) for row in rows_of(table)] == [(1, 2), (2, 0)]


def test_deduplication_in_the_wrong_place_is_refused(tmp_path: Path) -> None:
    table = with_duplicates()
    with pytest.raises(UsageError, match="no partition 'x'"):
        table.services.deduplicate("x")
    with pytest.raises(OptionError, match="insert_type"):
        table.services.deduplicate(rule="both")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match="not empty"):
        table.services.deduplicate(output=str(tmp_path / "full"), dry_run=True)
    virtual = make_table(options={"hoodie.populate.meta.fields": "false"})
    virtual.insert([ride(1)])
    with pytest.raises(UnsupportedError, match="meta columns"):
        virtual.services.deduplicate()


def test_duplicates_in_slices_of_a_pending_compaction_wait_for_it() -> None:
    table = with_duplicates(table_type="MERGE_ON_READ")
    table.upsert([ride(2, value=5)], options={"hoodie.metadata.enable": "false"})
    table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    with pytest.raises(ConflictError, match="pending compaction"):
        table.services.deduplicate(rule="upsert_type")


def test_a_failed_deduplication_leaves_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    table = with_duplicates()

    def fail(*_: object) -> None:
        raise UsageError("stopped")

    monkeypatch.setattr("pyhudi.service.deduplication.deduplication_service.run_deduplicate_task", fail)
    with pytest.raises(UsageError, match="stopped"):
        table.services.deduplicate()
    assert len(rows_of(table)) == 4
    assert table.inspect.health().num_rows == 0
    table.upsert([ride(9)])


def test_empty_files_of_cleans_are_removed() -> None:
    table = make_table()
    for value in range(4):
        table.upsert([ride(1, value=value)], options={"hoodie.clean.automatic": "false"})
    table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    folder = ".hoodie/timeline"
    (path,) = [one.path for one in table.storage.list(folder) if one.name.endswith(".clean")]
    table.storage.replace(path, b"")
    assert table.services.repair_clean_files(dry_run=True).files == (path,)
    assert table.storage.stat(path) is not None
    assert table.services.repair_clean_files().state == "completed"
    assert table.storage.stat(path) is None
    assert table.services.repair_clean_files().state == "nothing to do"


def test_a_dead_run_of_a_compaction_is_reverted_to_its_plan() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(1)])
    table.upsert([ride(1, value=1)])
    options = {"hoodie.compact.inline.max.delta.commits": "1"}
    planned = table.services.compact(mode="schedule", options=options)[0].instant
    assert planned is not None
    assert table.services.cleanup_stale(0) == ()  # a plan that nobody has begun is not stale
    table.storage.create(f".hoodie/timeline/{planned}.compaction.inflight", b"")
    assert table.services.cleanup_stale() == ()
    assert [one.rolled_back for one in table.services.cleanup_stale(0, dry_run=True)] == [None]
    assert [(one.instant, one.rolled_back) for one in table.services.cleanup_stale(0)] == [(planned, True)]
    assert table.storage.stat(f".hoodie/timeline/{planned}.compaction.inflight") is None
    assert table.services.compact(mode="execute")[0].state == "completed"
    with pytest.raises(UsageError, match="no pending"):
        table.services.revert(planned)
    with pytest.raises(UsageError, match="0 or more"):
        table.services.cleanup_stale(-1)


def test_writes_are_rolled_back_only_when_asked_for() -> None:
    storage = MemoryStorage()
    table = make_table(storage)
    table.upsert([ride(1)])
    for state in ("commit.requested", "inflight"):
        storage.create(f".hoodie/timeline/20200101000000000.{state}", b"")
    assert table.services.cleanup_stale(dry_run=True) == ()
    assert [one.instant for one in table.services.cleanup_stale(include_writes=True)] == ["20200101000000000"]
    assert rows_of(table)[0]["id"] == 1
    assert table.services.cleanup_stale(include_writes=True) == ()
