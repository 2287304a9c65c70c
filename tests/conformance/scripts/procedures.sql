-- CALL: commits, timeline, files, copies, compaction, misuse.
CREATE TABLE trips (id INT, name STRING, ts BIGINT, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO trips VALUES (1, 'a', 1, 'oslo'), (2, 'b', 1, 'rome');
--> ok

UPDATE trips SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

-- mask total_bytes_written, state_transition_time
CALL show_commits(table => 'trips', limit => 10);
--> commit_time string, state_transition_time string, action string, total_bytes_written bigint, total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, total_records_written bigint, total_update_records_written bigint, total_errors bigint
--> <time 1> | * | commit | * | 2 | 0 | 2 | 2 | 0 | 0
--> <time 2> | * | commit | * | 0 | 1 | 1 | 1 | 1 | 0

-- mask total_bytes_written, state_transition_time
CALL show_commits('trips', 1);
--> commit_time string, state_transition_time string, action string, total_bytes_written bigint, total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, total_records_written bigint, total_update_records_written bigint, total_errors bigint
--> <time 1> | * | commit | * | 0 | 1 | 1 | 1 | 1 | 0

-- mask requested_time, inflight_time, completed_time
CALL show_timeline(table => 'trips');
--> instant_time string, action string, state string, requested_time string, inflight_time string, completed_time string, timeline_type string, rollback_info string
--> <time 1> | commit | COMPLETED | * | * | * | ACTIVE | NULL
--> <time 2> | commit | COMPLETED | * | * | * | ACTIVE | NULL

-- let last = instant trips -1
-- mask total_bytes_written
CALL show_commit_partitions(table => 'trips', instant_time => '{last}');
--> action string, partition_path string, total_files_added bigint, total_files_updated bigint, total_records_inserted bigint, total_records_updated bigint, total_bytes_written bigint, total_errors bigint
--> commit | city=oslo | 0 | 1 | 0 | 1 | * | 0

-- mask total_bytes_written, avg_record_size
CALL show_commit_write_stats(table => 'trips', instant_time => '{last}');
--> action string, total_bytes_written bigint, total_records_written bigint, avg_record_size bigint
--> commit | * | 1 | *

-- mask total_bytes_written, file_size
CALL show_commit_files(table => 'trips', instant_time => '{last}');
--> action string, partition_path string, file_id string, previous_commit string, total_records_updated bigint, total_records_written bigint, total_bytes_written bigint, total_errors bigint, file_size bigint
--> commit | city=oslo | <file> | <time 1> | 1 | 1 | * | 0 | *

-- mask metadata_value
CALL show_commit_extra_metadata(table => 'trips', instant_time => '{last}', metadata_key => 'schema');
--> instant_time string, action string, metadata_key string, metadata_value string
--> <time 1> | commit | schema | *

CALL show_commits_metadata(table => 'nowhere');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_procedures`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and cata

-- mask file_size, data_file_size
CALL show_fsview_all(table => 'trips');
--> partition string, file_id string, base_instant string, data_file string, data_file_size bigint, num_delta_files bigint, total_delta_file_size bigint, delta_files string
--> city=oslo | <file> | <time 1> | file:{folder}/trips/city=oslo/<file>_<time 1>.parquet | * | 0 | 0 | []
--> city=oslo | <file> | <time 2> | file:{folder}/trips/city=oslo/<file>_<time 2>.parquet | * | 0 | 0 | []
--> city=rome | <file> | <time 1> | file:{folder}/trips/city=rome/<file>_<time 1>.parquet | * | 0 | 0 | []

CALL copy_to_table(table => 'trips', new_table => 'trips_copy');
--> status int
--> 0

SELECT id, name, city FROM trips_copy;
--> id int, name string, city string
--> 1 | a2 | oslo
--> 2 | b | rome

CALL copy_to_temp_view(table => 'trips', view_name => 'trips_view');
--> status int
--> 0

SELECT id, name, city FROM trips_view;
--> id int, name string, city string
--> 1 | a2 | oslo
--> 2 | b | rome

DROP VIEW trips_view;
--> ok

CREATE TABLE logs (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO logs VALUES (1, 'a', 1), (2, 'b', 1);
--> ok

UPDATE logs SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

CALL show_compaction(table => 'logs');
--> timestamp string, operation_size int, state string

CALL run_compaction(op => 'schedule', table => 'logs', options => 'hoodie.compact.inline.max.delta.commits=1');
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | REQUESTED

CALL show_compaction(table => 'logs');
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | REQUESTED

CALL run_compaction(op => 'run', table => 'logs');
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | COMPLETED

CALL show_compaction(table => 'logs');
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | COMPLETED

SELECT id, name FROM hudi_query('logs', 'read_optimized');
--> id int, name string
--> 1 | a2
--> 2 | b

-- [unknown_argument]
-- mask total_bytes_written, state_transition_time
CALL show_commits(table => 'trips', limits => 10);
--> commit_time string, state_transition_time string, action string, total_bytes_written bigint, total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, total_records_written bigint, total_update_records_written bigint, total_errors bigint
--> <time 1> | * | commit | * | 2 | 0 | 2 | 2 | 0 | 0
--> <time 2> | * | commit | * | 0 | 1 | 1 | 1 | 1 | 0

CALL show_commits();
--> error java.lang.AssertionError: assertion failed: Argument: table is required

CALL show_commits(table => 'nowhere');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_procedures`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and cata

CALL no_such_procedure(table => 'trips');
--> error [PARSE_SYNTAX_ERROR] Syntax error at or near 'CALL'.(line 1, pos 0)

-- [bad_limit]
CALL show_commits(table => 'trips', limit => 'many');
--> error java.lang.ClassCastException: class org.apache.spark.unsafe.types.UTF8String cannot be cast to class java.lang.Integer (org.apache.spark.unsafe.types.UTF8

CALL show_commit_files(table => 'trips', instant_time => '20200101000000000');
--> error org.apache.hudi.exception.HoodieException: Commit <time 1> not found in Commits org.apache.hudi.common.table.timeline.versioning.v2.BaseTimelineV2: [<time

CALL run_compaction(op => 'nothing', table => 'logs');
--> error org.apache.hudi.exception.HoodieException: Invalid value (nothing)

CALL stats_wa(table => 'trips');
--> commit_time string, total_upserted bigint, total_written bigint, write_amplification_factor string
--> <time 1> | 0 | 2 | 0
--> <time 2> | 1 | 1 | 1.00
--> Total | 1 | 3 | 3.00
