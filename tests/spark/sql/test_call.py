"""CALL: procedures by name, their arguments, and answers under Hudi's column names."""

from __future__ import annotations

import pytest

from pyhudi.errors import ConflictError, OptionError, TableNotFound, UsageError
from pyhudi.sql.call.registry import PROCEDURES
from pyhudi.table.repair.rollback_services import RollbackServices

pytestmark = pytest.mark.spark


@pytest.fixture
def trips(sql):
    """A merge-on-read table with three delta commits."""
    sql(
        "CREATE TABLE trips (id INT, name STRING, ts BIGINT, city STRING) USING hudi PARTITIONED BY (city)"
        " TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor')"
    )
    sql("INSERT INTO trips VALUES (1, 'ann', 10, 'oslo'), (2, 'bob', 20, 'rome')")
    sql("UPDATE trips SET name = 'amy' WHERE id = 1")
    sql("DELETE FROM trips WHERE id = 2")
    return sql


def dicts(sql, text, args=None):
    frame = sql.session.sql(text, args) if args else sql.session.sql(text)
    return [row.asDict() for row in frame.collect()]


def test_procedures_tell_of_a_table_what_it_is(trips):
    commits = dicts(trips, "CALL show_commits(table => 'trips')")
    assert [row["total_records_written"] for row in commits] == [0, 1, 2]
    assert [row["action"] for row in commits] == ["deltacommit"] * 3
    path = trips.session.table("trips").inputFiles()[0].partition("/city=")[0]
    assert dicts(trips, f"CALL show_commits(table => 'hudi.`{path}`')") == commits
    first = commits[-1]["commit_time"]
    files = dicts(trips, "CALL show_commit_files('trips', 10, :instant)", {"instant": first})
    assert {row["partition_path"] for row in files} == {"city=oslo", "city=rome"}
    assert dicts(trips, f"CALL show_commit_partitions(table => 'trips', instant_time => '{first}')")[0]["total_files_added"] == 1
    assert dicts(trips, f"CALL show_commit_write_stats(table => 'trips', instant_time => '{first}')")[0]["total_records_written"] == 2
    assert [row["state"] for row in dicts(trips, "CALL show_timeline(table => 'trips', limit => 1)")] == ["COMPLETED"]
    assert dicts(trips, "CALL show_timeline(table => 'trips', filter => \"action = 'clean'\")") == []
    slices = dicts(trips, "CALL show_fsview_latest(table => 'trips', partition_path => 'city=oslo')")
    assert [(row["num_delta_files"], row["delta_size_compaction_scheduled"]) for row in slices] == [(1, 0)]
    assert len(dicts(trips, "CALL show_fsview_latest(table => 'trips', path_regex => 'city=o.*')")) == len(slices)
    with pytest.raises(UsageError, match=r"path_regex => '\*' is no regular expression \(nothing to repeat"):
        dicts(trips, "CALL show_fsview_latest(table => 'trips', path_regex => '*')")
    assert dicts(trips, "CALL stats_wa('trips')")[-1]["total_written"] == 3
    assert dicts(trips, "CALL stats_file_sizes(table => 'trips')")[-1]["num_files"] == 4
    blocks = dicts(trips, "CALL show_logfile_metadata(table => 'trips', log_file_path_pattern => 'city=*')")
    assert sorted(row["block_type"] for row in blocks) == ["DELETE_BLOCK", "PARQUET_DATA_BLOCK"]
    (record,) = dicts(trips, "CALL show_logfile_records(table => 'trips', log_file_path_pattern => 'city=*')")
    assert '"amy"' in record["records"]
    assert dicts(trips, "CALL show_table_properties(table => 'trips', limit => 99, filter => \"key = 'hoodie.table.name'\")") == [
        {"key": "hoodie.table.name", "value": "trips"}
    ]


def test_run_compaction_plans_and_runs(trips):
    option = "options => 'hoodie.compact.inline.max.delta.commits=1'"
    assert [row["state"] for row in dicts(trips, f"CALL run_compaction(op => 'schedule', table => 'trips', {option})")] == ["REQUESTED"]
    assert [row["state"] for row in dicts(trips, "CALL show_compaction(table => 'trips')")] == ["REQUESTED"]
    assert [row["state"] for row in dicts(trips, "CALL run_compaction(op => 'run', table => 'trips')")] == ["COMPLETED"]
    assert trips("SELECT id, name FROM trips") == [(1, "amy")]


def test_archived_commits_are_shown_and_read(trips):
    first = dicts(trips, "CALL show_commits(table => 'trips')")[-1]["commit_time"]
    settings = {"hoodie.metadata.compact.max.delta.commits": "1"}  # archival waits for a compaction of the metadata table
    trips.table("trips").upsert([{"id": 3, "name": "eve", "ts": 30, "city": "oslo"}], options=settings)
    trips.session.conf.set("hoodie.compact.inline.max.delta.commits", "1")  # and keeps what the trigger of compaction counts
    assert trips("CALL archive_commits(table => 'trips', min_commits => 1, max_commits => 2, retain_commits => 0)") == [(0,)]
    trips.session.conf.unset("hoodie.compact.inline.max.delta.commits")
    trips("SET hoodie.keep.min.commits=0")  # holds where the call gives no number, and is refused as by writes
    with pytest.raises(OptionError, match=r"hoodie\.keep\.min\.commits"):
        trips("CALL archive_commits(table => 'trips')")
    trips("RESET hoodie.keep.min.commits")
    assert first in {row["commit_time"] for row in dicts(trips, "CALL show_archived_commits(table => 'trips', start_ts => '0')")}
    assert trips(f"SELECT id FROM trips TIMESTAMP AS OF '{first}' ORDER BY id") == [(1,), (2,)]
    assert trips("SELECT id, name FROM trips ORDER BY id") == [(1, "amy"), (3, "eve")]


def test_copies_and_dropped_partitions(trips):
    trips("CALL copy_to_temp_view(table => 'trips', view_name => 'seen')")
    trips("CALL copy_to_table(table => 'trips', new_table => 'plain', columns => 'id,name')")
    trips("CALL drop_partition(table => 'trips', partition => 'city=oslo')")
    assert trips("SELECT id FROM trips") == []
    assert trips("SELECT id, name FROM seen") == [(1, "amy")]
    assert trips("SELECT * FROM plain") == [(1, "amy")]


def test_metadata_table_is_made_checked_and_deleted(trips):
    if not trips.table("trips").config.metadata_partitions:
        trips("CALL create_metadata_table(table => 'trips')")
    assert trips("CALL validate_metadata_table_files(table => 'trips')") == []
    assert trips("CALL show_metadata_table_partitions(table => 'trips')") == [("city=oslo",), ("city=rome",)]
    assert [row[1] for row in trips("SELECT key, type FROM hudi_metadata('trips') WHERE type = 1")] == [1]
    overlap = trips("CALL show_metadata_column_stats_overlap(table => 'trips', partition => 'city=o', targetColumns => 'ts')")
    assert overlap == [("city=oslo", "ts", 1.0, 1, 1, 1, 1, 1, 1, 1)]
    trips("CALL init_metadata_table(table => 'trips')")
    assert trips("CALL validate_metadata_table_files('trips')") == []
    trips("CALL delete_metadata_table(table => 'trips')")
    assert trips.table("trips").config.metadata_partitions == ()
    with pytest.raises(UsageError, match="no metadata table"):
        trips("CALL show_metadata_table_files(table => 'trips')")


def test_table_functions_list_instants_and_slices(trips):
    assert trips("SELECT DISTINCT Action, State FROM hudi_query_timeline('trips')") == [("deltacommit", "COMPLETED")]
    slices = trips("SELECT v.Partition_Path, v.Log_File_Count FROM hudi_filesystem_view('trips') v ORDER BY 1")
    assert slices == [("city=oslo", 1), ("city=rome", 1)]
    assert trips("SELECT count(*) FROM hudi_filesystem_view('trips', 'city=oslo')") == [(1,)]


@pytest.mark.parametrize(
    ("statement", "error", "says"),
    [
        ("CALL show_commits()", UsageError, "needs the argument table"),
        ("CALL show_commits(tabel => 't')", UsageError, "Did you mean 'table'"),
        ("CALL show_commits('t', 1, 2)", UsageError, "takes 2"),
        ("CALL show_commits('t', 'many')", UsageError, "limit takes a value of type int"),
        ("CALL show_commits(table => 'no_such_table')", TableNotFound, "no_such_table"),
        ("CALL show_commits('/some/place')", UsageError, r"is a path. Give table => 'hudi.`/some/place`'."),
        ("CALL show_comits(table => 't')", UsageError, "Did you mean 'show_commits'"),
        ("CALL partition_bucket_index_manager(table => 't')", UsageError, "give overwrite"),
    ],
)
def test_wrong_call_names_what_is_wrong(sql, statement, error, says):
    with pytest.raises(error, match=says):
        sql(statement)


def test_audit_of_locks(trips):
    assert trips("CALL set_audit_lock(table => 'trips', state => 'ENABLED')") == [
        ("trips", "enabled", "Lock audit logging successfully enabled")
    ]
    ((name, enabled, config, folder),) = trips("CALL show_audit_lock_status(table => 'trips')")
    assert (name, enabled) == ("trips", True)
    assert config.endswith("/.hoodie/.locks/audit_enabled.json")
    assert folder.endswith("/.hoodie/.locks/audit")
    nothing = ("trips", "PASSED", 0, 0, "No audit folder found - nothing to validate")
    assert trips("CALL validate_audit_lock(table => 'trips')") == [nothing]
    cleaned = "CALL cleanup_audit_lock(table => 'trips', dry_run => true, age_days => 30)"
    assert trips(cleaned) == [("trips", 0, True, 30, "No audit folder found - nothing to cleanup")]
    path = config.removesuffix("/.hoodie/.locks/audit_enabled.json")
    assert trips(f"CALL set_audit_lock(path => '{path}', state => 'disabled')")[0][:2] == (path, "disabled")
    assert trips("CALL show_audit_lock_status(table => 'trips')")[0][1] is False
    for call, says in {
        "set_audit_lock(table => 'trips', state => 'on')": "it can be 'enabled' or 'disabled'",
        "set_audit_lock(table => 'trips')": "state",
        "cleanup_audit_lock(table => 'trips', age_days => 0)": "1 or more",
        "validate_audit_lock()": "table => 'name'",
    }.items():
        with pytest.raises(UsageError, match=says):
            trips(f"CALL {call}")


def test_help_lists_all_procedures(sql):
    ((text,),) = sql("CALL help()")
    assert all(f"\t{name}\t" in text for name in PROCEDURES)
    ((one,),) = sql("CALL system.help(cmd => 'show_commits')")
    assert "total_bytes_written" in one


@pytest.mark.parametrize("version", [6, 9])
def test_archived_commits_and_comparisons_are_told_as_apache_hudi_tells_them(sql, fixture_table, tmp_path, version):
    """Its own tables; the answers are those of Apache Hudi 1.2.0."""
    path, other = fixture_table(f"apache_hudi/cleaned_and_archived_v{version}"), fixture_table("apache_hudi/with_metadata_table_v9")
    sql(f"CREATE TABLE t USING hudi LOCATION '{path}'")
    rows = dicts(sql, "CALL show_archived_commits(table => 't')")
    assert [*rows[0]] == [
        *("commit_time", "state_transition_time", "total_bytes_written", "total_files_added", "total_files_updated"),
        *("total_partitions_written", "total_records_written", "total_update_records_written", "total_errors"),
    ]
    expected = {6: ("20261121120619711", "20261121120621333", 1305788), 9: ("20261121110659735", "20261121110700447", 1305802)}
    assert (len(rows), tuple(rows[0].values())) == (6, (*expected[version], 0, 3, 3, 7, 6, 0))
    name = f"cleaned_and_archived_v{version}"
    behind = "behind by 2 commits. Commits to catch up - [20261121120459189, 20261121120509162]"
    ahead = "ahead by 2 commits. Commits to catch up - [20261121120622310, 20261121120623947]"
    details = {6: ahead, 9: behind}
    assert sql(f"CALL commits_compare(table => 't', path => '{other}')") == [(f"Source {name} is {details[version]}",)]
    same = sql(f"CALL commits_compare(table => 't', path => '{path}')")
    assert same == [(f"Source {name} is ahead by 0 commits. Commits to catch up - []",)]
    extra = dicts(sql, "CALL show_commit_extra_metadata(table => 't')")
    assert [(row["action"], row["metadata_key"]) for row in extra] == [("commit", "schema")]
    assert sql("CALL show_commit_extra_metadata(table => 't', metadata_key => 'nothing')") == []
    exported = sql(f"CALL export_instants(table => 't', local_folder => '{tmp_path}')")
    assert exported == [(f"Exported {({6: 4, 9: 5})[version]} Instants to {tmp_path}",)]


def test_savepoints_and_restores(trips):
    assert trips("CALL create_savepoint(table => 'trips', comments => 'before')") == [(True,)]
    (saved,) = trips("CALL show_savepoints(table => 'trips')")
    trips("INSERT INTO trips VALUES (7, 'zoe', 70, 'oslo')")
    trips("INSERT INTO trips VALUES (8, 'zac', 80, 'oslo')")
    assert trips("SELECT id FROM trips ORDER BY id") == [(1,), (7,), (8,)]
    assert trips("CALL rollback_to_savepoint(table => 'trips')") == [(True,)]
    assert trips("SELECT id FROM trips") == [(1,)]
    assert {row["state"] for row in dicts(trips, "CALL show_restores(table => 'trips')")} == {"COMPLETED"}
    with pytest.raises(UsageError, match="has a savepoint; delete that first"):
        trips(f"CALL rollback_to_instant(table => 'trips', instant_time => '{saved[0]}')")
    assert trips(f"CALL delete_savepoint(table => 'trips', instant_time => '{saved[0]}')") == [(True,)]
    with pytest.raises(UsageError, match="the table has no savepoint"):
        trips("CALL rollback_to_savepoint(table => 'trips')")
    assert trips(f"CALL rollback_to_instant(table => 'trips', instant_time => '{saved[0]}')") == [(True,)]
    assert trips("SELECT id FROM trips ORDER BY id") == [(1,), (2,)]
    (first, *_) = reversed([row["commit_time"] for row in dicts(trips, "CALL show_commits(table => 'trips')")])
    call = f"CALL restore_to_instant(table => 'trips', instant_time => '{first}', audit_post_restore => true)"
    (restored,) = dicts(trips, call)
    assert (restored["restore_result"], restored["instants_rolled_back"], restored["audit_result"]) == (True, 1, "PASSED")
    (audited,) = dicts(
        trips, f"CALL restore_to_instant(table => 'trips', audit_only => true, start_restore_time => '{restored['start_restore_time']}')"
    )
    assert audited["audit_result"] == "PASSED"


def test_partitions_are_kept_by_their_lifetime(trips):
    assert trips("CALL run_ttl(table => 'trips', retain_days => 30)") == []
    with pytest.raises(UsageError, match="say after how many days"):
        trips("CALL run_ttl(table => 'trips')")
    with pytest.raises(UsageError, match="KEEP_BY_CREATION_TIME"):
        trips("CALL run_ttl(table => 'trips', retain_days => 30, ttl_policy => 'KEEP_BY_LUCK')")


def test_numbers_of_buckets_are_changed_and_shown(sql, tmp_path):
    options = "primaryKey = 'id', 'hoodie.index.type' = 'BUCKET', 'hoodie.bucket.index.num.buckets' = '2'"
    sql(f"CREATE TABLE buckets (id INT, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES ({options}) LOCATION '{tmp_path / 'b'}'")
    sql("INSERT INTO buckets SELECT id, IF(id < 30, 'mon', 'tue') FROM range(60)")
    call = "CALL partition_bucket_index_manager(table => 'buckets', {})"
    assert sql(call.format("overwrite => 'mon,5', bucket_number => 2")) == [("SUCCESS", "DRY_RUN_OVERWRITE", "day=mon => 5")]
    assert sql(call.format("show_config => true")) == [("SUCCESS", "SHOW_CONFIG", "")]
    details = "Expression: mon,5, Bucket Number: 2, Dry Run: false"
    assert sql(call.format("overwrite => 'mon,5', bucket_number => 2, dry_run => false")) == [("SUCCESS", "OVERWRITE", details)]
    files = "SELECT day, count(DISTINCT _hoodie_file_name), count(*) FROM buckets GROUP BY day ORDER BY day"
    assert sql(files) == [("mon", 5, 30), ("tue", 2, 30)]
    ((_, operation, details),) = sql(call.format("add => 'tue,3', dry_run => false"))
    assert (operation, details) == ("OVERWRITE", "Expression: tue,3;mon,5, Bucket Number: 2, Dry Run: false")
    listed = sql(call.format("show_config => true"))[0][2]
    instant = listed.rpartition("instant=")[2].rstrip(")")
    assert listed.count("PartitionBucketIndexHashingConfig(expressions=") == 2
    assert sql(call.format(f"rollback => '{instant}'")) == [("SUCCESS", "ROLLBACK", f"true to rollback {instant}")]
    assert sql(files) == [("mon", 5, 30), ("tue", 2, 30)]
    with pytest.raises(UsageError, match="is no rescaling"):
        sql(call.format(f"rollback => '{instant}'"))


@pytest.mark.parametrize("before", [1, 2])
def test_a_rollback_that_another_writer_overtakes_says_what_was_rolled_back(trips, before, monkeypatch):
    """`before` is the number of the rollback before which somebody else commits."""
    trips("INSERT INTO trips VALUES (70, 'zoe', 1, 'oslo')")
    trips("INSERT INTO trips VALUES (71, 'zac', 1, 'oslo')")
    second, first = [row["commit_time"] for row in dicts(trips, "CALL show_commits(table => 'trips')")][:2]
    rollback, rolled_back, new = RollbackServices.rollback, [], []

    def overtaken(services, instant, **named):
        rolled_back.append(instant)
        if len(rolled_back) == before:
            new.append(trips.table("trips").upsert(trips.table("trips").to_arrow().slice(0, 1)).instant)
        return rollback(services, instant, **named)

    monkeypatch.setattr(RollbackServices, "rollback", overtaken)
    done = "nothing" if before == 1 else second
    with pytest.raises(ConflictError, match="was written to table") as refused:
        trips(f"CALL rollback_to_instant(table => 'trips', instant_time => '{first}')")
    assert f" {new[0]} was written" in str(refused.value)
    assert f"Rolled back before that: {done}." in str(refused.value)
