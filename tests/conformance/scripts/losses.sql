-- Statements after which Apache Hudi has lost or doubled rows, or fails: met by random programs.
CREATE TABLE parted (id INT, v INT, ts BIGINT, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO parted VALUES (1, 1, 5, 'oslo'), (2, 2, 5, 'rome');
--> ok

MERGE INTO parted t USING (SELECT 1 AS id, 9 AS v, 7L AS ts, 'rome' AS city) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

-- [merge_from_other_partition]
SELECT id, v, ts, city FROM parted;
--> id int, v int, ts bigint, city string
--> 1 | 1 | 5 | oslo
--> 1 | 9 | 7 | rome
--> 2 | 2 | 5 | rome

-- Time travel to before a clean by file versions.
CREATE TABLE cleaned (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO cleaned VALUES (1, 1, 1), (2, 2, 1);
--> ok

UPDATE cleaned SET v = 10, ts = 2 WHERE id = 1;
--> ok

UPDATE cleaned SET v = 20, ts = 3 WHERE id = 1;
--> ok

-- mask start_clean_time, time_taken_in_millis
CALL run_clean(table => 'cleaned', clean_policy => 'KEEP_LATEST_FILE_VERSIONS', file_versions_retained => 1);
--> start_clean_time string, time_taken_in_millis bigint, total_files_deleted int, earliest_commit_to_retain string, bootstrap_part_metadata string, version int
--> * | * | 2 |  | {} | 2

-- [travel_before_clean]
-- let second = completed cleaned 2
SELECT id, v FROM cleaned TIMESTAMP AS OF '{second}';
--> id int, v int

-- let third = completed cleaned 3
SELECT id, v FROM cleaned TIMESTAMP AS OF '{third}';
--> id int, v int
--> 1 | 20
--> 2 | 2

-- A clean to one version after a clustering of a merge-on-read table.
CREATE TABLE clustered (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO clustered VALUES (1, 1, 1), (2, 2, 1);
--> ok

UPDATE clustered SET v = 10, ts = 2 WHERE id = 1;
--> ok

INSERT INTO clustered VALUES (3, 3, 1);
--> ok

SELECT id, v FROM clustered;
--> id int, v int
--> 1 | 10
--> 2 | 2
--> 3 | 3

CALL run_clustering(table => 'clustered');
--> timestamp string, input_group_size int, state string, involved_partitions string
--> <time 1> | 1 | COMPLETED | *

-- mask start_clean_time, time_taken_in_millis
CALL run_clean(table => 'clustered', clean_policy => 'KEEP_LATEST_FILE_VERSIONS', file_versions_retained => 1);
--> start_clean_time string, time_taken_in_millis bigint, total_files_deleted int, earliest_commit_to_retain string, bootstrap_part_metadata string, version int
--> * | * | 3 |  | {} | 2

-- [clean_after_clustering]
SELECT id, v FROM clustered;
--> error org.apache.spark.SparkException: Exception thrown in awaitResult:

REFRESH TABLE clustered;
--> ok

-- [clean_after_clustering_refreshed]
SELECT id, v FROM clustered;
--> id int, v int
--> 1 | 10
--> 2 | 2
--> 3 | 3

-- A table of buckets under a second name whose properties do not say so.
CREATE TABLE buckets (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', hoodie.index.type = 'BUCKET', hoodie.bucket.index.num.buckets = '2');
--> ok

INSERT INTO buckets VALUES (1, 1, 1), (2, 2, 1);
--> ok

CREATE TABLE again (id INT, v INT, ts BIGINT) USING hudi LOCATION '{folder}/buckets';
--> ok

-- [insert_by_second_name]
INSERT INTO again VALUES (1, 7, 3), (3, 3, 1);
--> ok

INSERT INTO buckets VALUES (1, 8, 4), (4, 4, 1);
--> ok

-- [rows_of_buckets]
SELECT id, v FROM buckets;
--> id int, v int
--> 1 | 1
--> 1 | 7
--> 1 | 8
--> 2 | 2
--> 3 | 3
--> 4 | 4

-- Filters by column statistics, over files with updates in logs.
SET hoodie.metadata.enable = true;
--> ok

CREATE TABLE filtered (id INT, name STRING, v INT, ts BIGINT, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO filtered VALUES (1, 'ann', 1, 5, 'x'), (2, 'bob', NULL, 5, 'x'), (3, 'cid', 3, 5, 'y');
--> ok

UPDATE filtered SET name = 'cy', ts = 6 WHERE id = 1;
--> ok

-- [like_or_null]
SELECT id, name, v FROM filtered WHERE v IS NULL OR name LIKE 'c%';
--> id int, name string, v int
--> 1 | cy | 1
--> 2 | bob | NULL

-- [like]
SELECT id, name, v FROM filtered WHERE name LIKE 'c%';
--> id int, name string, v int

SELECT id, name, v FROM filtered WHERE name >= 'c' AND name < 'd';
--> id int, name string, v int
--> 1 | cy | 1
--> 3 | cid | 3

CREATE TABLE indexed (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', hoodie.metadata.global.record.level.index.enable = 'true');
--> ok

INSERT INTO indexed VALUES (1, 'ann'), (2, 'bob');
--> ok

-- [index_without_lock_provider]
CREATE INDEX idx_name ON indexed (name);
--> error org.apache.hudi.exception.HoodieException: Failed to create write client while performing index operation

SELECT id FROM indexed WHERE name = 'ann';
--> id int
--> 1

-- An UPDATE after a clustering, in a session that has read the table before.
SET hoodie.index.type = RECORD_INDEX;
--> ok

SET hoodie.metadata.record.index.enable = true;
--> ok

CREATE TABLE by_records (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', hoodie.metadata.record.index.enable = 'true');
--> ok

INSERT INTO by_records VALUES (1, 1, 5), (2, 2, 5), (3, 3, 5);
--> ok

UPDATE by_records SET v = 50, ts = 6 WHERE id = 2;
--> ok

SELECT id, v FROM by_records;
--> id int, v int
--> 1 | 1
--> 2 | 50
--> 3 | 3

CALL run_clustering(table => 'by_records', order => 'v');
--> timestamp string, input_group_size int, state string, involved_partitions string
--> <time 1> | 1 | COMPLETED | *

UPDATE by_records SET v = 100, ts = 7 WHERE id = 1;
--> ok

-- [update_after_clustering]
SELECT id, v FROM by_records;
--> id int, v int
--> 1 | 1
--> 2 | 50
--> 3 | 3

REFRESH TABLE by_records;
--> ok

-- [update_after_clustering_refreshed]
SELECT id, v FROM by_records;
--> id int, v int
--> 1 | 1
--> 2 | 50
--> 3 | 3
