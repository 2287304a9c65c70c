"""CALL of the procedures that repair a table, and that revert runs which died."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import HudiError, UsageError
from tests.spark.sql.test_call import dicts

pytestmark = pytest.mark.spark

METAFILE = ".hoodie_partition_metadata"


@pytest.fixture
def trips(sql):
    """A partitioned table with two rows of one key."""
    sql("CREATE TABLE trips (id INT, name STRING, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id')")
    for name in ("ann", "amy"):
        sql.table("trips").insert([{"id": 1, "name": name, "city": "oslo"}], options={"hoodie.parquet.small.file.limit": "0"})
    return sql


def test_duplicates_are_removed(trips, tmp_path):
    call = f"CALL repair_deduplicate('trips', 'city=oslo', '{tmp_path / 'fixed'}'"
    assert trips(f"{call})") == [(f"Deduplicated files placed in: {tmp_path / 'fixed'}.",)]
    assert pq.ParquetDataset(tmp_path / "fixed").read().column("name").to_pylist() == ["amy"]
    assert sorted(trips("SELECT name FROM trips")) == [("amy",), ("ann",)]
    with pytest.raises(UsageError, match="not empty"):
        trips(f"{call}, dry_run => false)")
    with pytest.raises(HudiError, match="insert_type"):
        trips(f"CALL repair_deduplicate('trips', 'city=oslo', '{tmp_path / 'x'}', dedupe_type => 'all')")
    assert trips(f"CALL repair_deduplicate('trips', 'city=oslo', '{tmp_path / 'y'}', false)") == [
        ("Deduplicated files placed in: city=oslo.",)
    ]
    assert trips("SELECT name FROM trips") == [("amy",)]


def test_metafiles_are_added_and_migrated(trips):
    storage = trips.table("trips").storage
    storage.delete(f"city=oslo/{METAFILE}")
    assert trips("CALL repair_add_partition_meta('trips')") == [("city=oslo", "No", "None")]
    assert trips("CALL repair_add_partition_meta('trips', false)") == [("city=oslo", "No", "Repaired")]
    assert trips("CALL repair_migrate_partition_meta('trips')") == [("city=oslo", "true", "false", "MIGRATE")]
    assert trips("CALL repair_migrate_partition_meta('trips', false)") == [("city=oslo", "true", "false", "MIGRATED")]
    assert trips("CALL repair_migrate_partition_meta('trips')") == [("city=oslo", "false", "true", "NONE")]
    trips("INSERT INTO trips VALUES (2, 'bob', 'oslo')")
    assert storage.stat(f"city=oslo/{METAFILE}") is None
    assert len(trips("SELECT * FROM trips")) == 3


def test_files_leave_the_plan_of_a_clustering(trips):
    trips.table("trips").insert([{"id": 2, "name": "bob", "city": "oslo"}], options={"hoodie.parquet.small.file.limit": "0"})
    options = "hoodie.clustering.plan.strategy.single.group.clustering.enabled=true"
    planned = trips(f"CALL run_clustering(table => 'trips', op => 'schedule', options => '{options}')")
    assert planned == trips("CALL show_clustering(table => 'trips')")
    instant = trips.table("trips").history().to_pylist()[-1]["requested"]
    name = next(row["base_file"] for row in trips.table("trips").inspect.slices().to_pylist())
    call = f"CALL repair_clustering_plan(table => 'trips', instant => '{instant}'"
    assert trips(f"{call})") == []
    assert trips(f"{call}, invalid_parquet_files => '{name}')") == [(instant, name, "WOULD_REMOVE_FROM_PLAN", False, "USER_REQUESTED")]
    for wrong, says in (
        ("op => 'prune'", "it can be delete"),
        ("op => 'delete'", "needs invalid_parquet_files"),
        ("need_delete => true", "not served"),
    ):
        with pytest.raises(HudiError, match=says):
            trips(f"{call}, {wrong})")
    (row,) = trips(f"{call}, op => 'delete', invalid_parquet_files => '{name}', dry_run => false)")
    assert row == (instant, name, "REMOVED_FROM_PLAN", False, "USER_REQUESTED")
    assert len(trips("SELECT * FROM trips")) == 3


def test_what_became_of_a_file_is_shown(trips):
    table = trips.table("trips")
    name = next(one.name for one in table.storage.list("city=oslo") if one.name.endswith(".parquet"))
    (row,) = dicts(trips, f"CALL show_file_status(table => 'trips', partition => 'city=oslo', file => '{name}')")
    assert (row["status"], row["timeline"]) == ("exist", "active")
    assert row["full_path"].endswith(name)
    assert trips("CALL show_file_status(table => 'trips', partition => 'city=oslo', file => 'x')") == [("unknown", "", "", "", "")]
    with pytest.raises(UsageError, match="partitions"):
        trips("CALL show_file_status(table => 'trips', file => 'x')")


def test_runs_that_died_are_rolled_back(sql):
    sql("CREATE TABLE m (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor')")
    sql("INSERT INTO m VALUES (1, 1, 1)")
    sql("UPDATE m SET v = 2 WHERE id = 1")
    option = "options => 'hoodie.compact.inline.max.delta.commits=1'"
    ((planned, _, _),) = sql(f"CALL run_compaction(op => 'schedule', table => 'm', {option})")
    storage = sql.table("m").storage
    inflight = f".hoodie/timeline/{planned}.compaction.inflight"
    storage.create(inflight, b"")
    assert sql("CALL cleanup_stale_inflight_commits('m')") == []
    stale = "CALL cleanup_stale_inflight_commits(table => 'm', allowed_inflight_interval_minutes => 0"
    assert sql(f"{stale}, dry_run => true)") == [(planned, "compaction", None)]
    assert sql(f"{stale})") == [(planned, "compaction", True)]
    storage.create(inflight, b"")
    assert sql(f"CALL run_rollback_inflight_tableservice(table => 'm', pending_instant => '{planned}')")[0][0] == planned
    assert storage.stat(inflight) is None
    sql(f"CALL run_rollback_inflight_tableservice(table => 'm', pending_instant => '{planned}', delete_request_instant_file => true)")
    assert sql("CALL show_compaction('m')") == []
    with pytest.raises(UsageError, match="no pending"):
        sql(f"CALL run_rollback_inflight_tableservice(table => 'm', pending_instant => '{planned}')")
    assert sql("SELECT id, v FROM m") == [(1, 2)]


def test_a_folder_of_parquet_files_becomes_a_table(sql, tmp_path):
    (tmp_path / "src").mkdir()
    pq.write_table(pa.table({"k": ["a", "b"], "at": [86400, 172800], "v": [1.5, 2.5]}), tmp_path / "src" / "1.parquet")
    fields = [{"name": name, "type": kind} for name, kind in (("k", "string"), ("at", "long"), ("v", "double"))]
    (tmp_path / "s.avsc").write_text(json.dumps({"type": "record", "name": "r", "fields": fields}))
    call = (
        f"CALL hdfs_parquet_import(table => 't', table_type => 'COPY_ON_WRITE', src_path => '{tmp_path / 'src'}', row_key => 'k',"
        f" schema_file_path => '{tmp_path / 's.avsc'}', target_path => '{tmp_path}/"
    )
    assert sql(f"{call}t', partition_key => 'at')") == [(0,)]
    rows = sql.session.read.format("hudi").load(f"{tmp_path}/t").select("k", "v", "_hoodie_partition_path").collect()
    assert sorted(map(tuple, rows)) == [("a", 1.5, "1970/01/02"), ("b", 2.5, "1970/01/03")]
    with pytest.raises(UsageError, match="no column 'att'"):
        sql(f"{call}u', partition_key => 'att')")
    with pytest.raises(HudiError, match="insert, upsert"):
        sql(f"{call}u', partition_key => 'at', command => 'append')")
    assert not (tmp_path / "u").exists()
