-- Statements in the form of the SQL tab of Hudi's quick start, releases 0.13 to 1.1, block by block.
SET hoodie.metadata.enable = true;
--> ok

SET hoodie.write.lock.provider = org.apache.hudi.client.transaction.lock.InProcessLockProvider;
--> ok

-- block: create and insert, with the operation set with and without quotes
CREATE TABLE trips (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI PARTITIONED BY (city);
--> ok

INSERT INTO trips VALUES (1695159649087, 'u1', 'rider-A', 'driver-K', 19.10, 'san_francisco'), (1695091554788, 'u2', 'rider-C', 'driver-M', 27.70, 'san_francisco'), (1695046462179, 'u3', 'rider-D', 'driver-L', 33.90, 'san_francisco'), (1695516137016, 'u4', 'rider-F', 'driver-P', 34.15, 'sao_paulo'), (1695115999911, 'u5', 'rider-J', 'driver-T', 17.85, 'chennai');
--> ok

SET hoodie.spark.sql.insert.into.operation = bulk_insert;
--> ok

INSERT INTO trips VALUES (1695376420876, 'u6', 'rider-G', 'driver-Q', 43.40, 'sao_paulo');
--> ok

-- [quoted_operation]
SET hoodie.spark.sql.insert.into.operation = 'bulk_insert';
--> ok

-- [insert_by_quoted_operation]
INSERT INTO trips VALUES (1695173887231, 'u7', 'rider-I', 'driver-S', 41.06, 'chennai');
--> error org.apache.hudi.exception.HoodieException: Invalid value of Type.

RESET hoodie.spark.sql.insert.into.operation;
--> ok

SELECT ts, fare, rider, driver, city FROM trips WHERE fare > 20.0 AND uuid <> 'u7';
--> ts bigint, fare double, rider string, driver string, city string
--> 1695046462179 | 33.9 | rider-D | driver-L | san_francisco
--> 1695091554788 | 27.7 | rider-C | driver-M | san_francisco
--> 1695376420876 | 43.4 | rider-G | driver-Q | sao_paulo
--> 1695516137016 | 34.15 | rider-F | driver-P | sao_paulo

-- block: update, merge and delete
UPDATE trips SET fare = 25.0 WHERE rider = 'rider-D';
--> ok

CREATE TABLE fare_adjustment (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI;
--> ok

INSERT INTO fare_adjustment VALUES (1695091554788, 'u2', 'rider-C', 'driver-M', -2.70, 'san_francisco'), (1695530237068, 'u8', 'rider-K', 'driver-U', 64.20, 'san_francisco'), (1695241330902, 'u9', 'rider-H', 'driver-R', 66.60, 'sao_paulo');
--> ok

MERGE INTO trips AS target USING fare_adjustment AS source ON target.uuid = source.uuid WHEN MATCHED THEN UPDATE SET target.fare = target.fare + source.fare WHEN NOT MATCHED THEN INSERT *;
--> ok

DELETE FROM trips WHERE uuid = 'u8';
--> ok

SELECT uuid, round(fare, 2) AS fare FROM trips WHERE uuid IN ('u2', 'u3', 'u8', 'u9');
--> uuid string, fare double
--> u2 | 25.0
--> u3 | 25.0
--> u9 | 66.6

-- block: time travel and incremental queries
SELECT uuid FROM trips TIMESTAMP AS OF '20220307091628793' WHERE rider = 'rider-A';
--> uuid string

SELECT uuid FROM trips TIMESTAMP AS OF '2022-03-07 09:16:28.100' WHERE rider = 'rider-A';
--> uuid string

SELECT uuid FROM trips TIMESTAMP AS OF '2022-03-08' WHERE rider = 'rider-A';
--> uuid string

SELECT uuid FROM hudi_table_changes('trips', 'latest_state', 'earliest') WHERE uuid <> 'u7';
--> uuid string
--> u1
--> u2
--> u3
--> u4
--> u5
--> u6
--> u9

-- [minutes_of_an_end]
SELECT uuid FROM hudi_table_changes('trips', 'latest_state', 'earliest', '202305160000');
--> error Unsupported query instant time format: 202305160000. Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-M

-- [minutes_of_both]
SELECT uuid FROM hudi_table_changes('trips', 'latest_state', '202305150000', '202305160000');
--> error Unsupported query instant time format: 202305150000. Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-M

SELECT uuid FROM hudi_table_changes('{folder}/trips', 'latest_state', 'earliest') WHERE uuid <> 'u7';
--> uuid string
--> u1
--> u2
--> u3
--> u4
--> u5
--> u6
--> u9

-- block: change data, by path
CREATE TABLE logged (ts BIGINT, uuid STRING, rider STRING, fare DOUBLE, city STRING) USING HUDI PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'uuid', 'hoodie.table.cdc.enabled' = 'true');
--> ok

INSERT INTO logged VALUES (1, 'u1', 'rider-A', 19.10, 'san_francisco'), (2, 'u2', 'rider-B', 27.70, 'sao_paulo');
--> ok

UPDATE logged SET fare = fare * 10 WHERE rider = 'rider-A';
--> ok

DELETE FROM logged WHERE uuid = 'u2';
--> ok

SELECT op, get_json_object(before, '$.fare') AS old, get_json_object(after, '$.fare') AS new FROM hudi_table_changes('{folder}/logged', 'cdc', 'earliest');
--> op string, old string, new string
--> d | 27.7 | NULL
--> i | NULL | 19.1
--> i | NULL | 27.7
--> u | 19.1 | 191.0

-- [minutes_of_change_data]
SELECT op FROM hudi_table_changes('{folder}/logged', 'cdc', 'earliest', '202305160000');
--> error Unsupported query instant time format: 202305160000. Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-M

-- [minutes_of_change_data_in_between]
SELECT op FROM hudi_table_changes('{folder}/logged', 'cdc', '202305150000', '202305160000');
--> error Unsupported query instant time format: 202305150000. Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-M

-- block: other tables: merge on read, with a key, with an ordering field
CREATE TABLE trips_mor (uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI TBLPROPERTIES (type = 'mor') PARTITIONED BY (city);
--> ok

INSERT INTO trips_mor VALUES ('u1', 'rider-A', 'driver-K', 19.10, 'oslo');
--> ok

UPDATE trips_mor SET fare = 25.0 WHERE rider = 'rider-A';
--> ok

SELECT uuid, fare FROM trips_mor;
--> uuid string, fare double
--> u1 | 25.0

CREATE TABLE trips_keyed (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI TBLPROPERTIES (primaryKey = 'uuid') PARTITIONED BY (city);
--> ok

CREATE TABLE trips_ordered (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI TBLPROPERTIES (preCombineField = 'ts') PARTITIONED BY (city);
--> ok

INSERT INTO trips_ordered VALUES (1, 'u1', 'rider-A', 'driver-K', 19.10, 'oslo'), (2, 'u1', 'rider-A', 'driver-K', 20.10, 'oslo');
--> ok

SELECT uuid, fare FROM trips_ordered;
--> uuid string, fare double
--> u1 | 19.1
--> u1 | 20.1

-- block: indexes
CREATE TABLE indexed (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI OPTIONS (primaryKey = 'uuid', hoodie.write.record.merge.mode = "COMMIT_TIME_ORDERING") PARTITIONED BY (city);
--> ok

INSERT INTO indexed VALUES (1695159649, 'u1', 'rider-A', 'driver-K', 19.10, 'san_francisco'), (1695332066, 'u2', 'rider-E', 'driver-O', 93.50, 'san_francisco'), (1695516137, 'u3', 'rider-F', 'driver-P', 34.15, 'sao_paulo'), (1695173887, 'u4', 'rider-I', 'driver-S', 41.06, 'chennai');
--> ok

CREATE INDEX idx_bloom_driver ON indexed USING bloom_filters(driver) OPTIONS (expr = 'identity');
--> ok

SHOW INDEXES FROM indexed;
--> index_name string, index_type string, col_name string
--> column_stats | column_stats |
--> expr_index_idx_bloom_driver | bloom_filters | driver
--> partition_stats | partition_stats |

SELECT uuid, rider FROM indexed WHERE driver = 'driver-S';
--> uuid string, rider string
--> u4 | rider-I

CREATE INDEX idx_column_ts ON indexed USING column_stats(ts) OPTIONS (expr = 'from_unixtime', format = 'yyyy-MM-dd');
--> ok

SELECT uuid FROM indexed WHERE from_unixtime(ts, 'yyyy-MM-dd') = '2023-09-24';
--> uuid string
--> u3

SET hoodie.metadata.record.index.enable = true;
--> ok

CREATE INDEX record_index ON indexed (uuid);
--> ok

CREATE INDEX idx_rider ON indexed (rider);
--> ok

SHOW INDEXES FROM indexed;
--> index_name string, index_type string, col_name string
--> column_stats | column_stats |
--> expr_index_idx_bloom_driver | bloom_filters | driver
--> expr_index_idx_column_ts | column_stats | ts
--> partition_stats | partition_stats |
--> record_index | record_index |
--> secondary_index_idx_rider | secondary_index | rider

SELECT uuid FROM indexed WHERE rider = 'rider-E';
--> uuid string
--> u2

UPDATE indexed SET rider = 'rider-B', driver = 'driver-N', ts = '1697516137' WHERE rider = 'rider-A';
--> ok

SELECT uuid, rider FROM indexed WHERE from_unixtime(ts, 'yyyy-MM-dd') = '2023-10-17';
--> uuid string, rider string
--> u1 | rider-B

SELECT uuid FROM indexed WHERE driver = 'driver-N';
--> uuid string
--> u1

SELECT uuid FROM indexed WHERE rider = 'rider-B';
--> uuid string
--> u1

DROP INDEX secondary_index_idx_rider ON indexed;
--> ok

DROP INDEX record_index ON indexed;
--> ok

DROP INDEX expr_index_idx_bloom_driver ON indexed;
--> ok

DROP INDEX expr_index_idx_column_ts ON indexed;
--> ok

SET hoodie.metadata.record.index.enable = false;
--> ok

RESET hoodie.metadata.record.index.enable;
--> ok

-- block, of 0.13: tables with and without an ordering field, CTAS, CTAS of Parquet files
CREATE TABLE cow_tbl (uuid INT, name STRING, price DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'uuid');
--> ok

CREATE TABLE mor_tbl (id INT, name STRING, price DOUBLE, ts BIGINT) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

CREATE TABLE pt_tbl (id BIGINT, name STRING, ts BIGINT, dt STRING, hh STRING) USING hudi TBLPROPERTIES (type = 'cow', primaryKey = 'id', preCombineField = 'ts') PARTITIONED BY (dt, hh) LOCATION '{folder}/pt';
--> ok

CREATE TABLE existing_tbl USING hudi LOCATION '{folder}/pt';
--> ok

CREATE TABLE ctas_cow USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id, 'a1' AS name, 10 AS price;
--> ok

CREATE TABLE ctas_pt USING hudi TBLPROPERTIES (type = 'cow', primaryKey = 'id', preCombineField = 'ts') PARTITIONED BY (dt) AS SELECT 1 AS id, 'a1' AS name, 10 AS price, 1000 AS ts, '2021-12-01' AS dt;
--> ok

SELECT id, name, price, ts, dt FROM ctas_pt;
--> id int, name string, price int, ts int, dt string
--> 1 | a1 | 10 | 1000 | 2021-12-01

CREATE TABLE plain USING parquet LOCATION '{folder}/plain' AS SELECT 1 AS id, 2 AS ts, '2021-12-01' AS datestr;
--> ok

CREATE TABLE plain_files USING parquet LOCATION '{folder}/plain/*.parquet';
--> ok

CREATE TABLE ctas_files USING hudi LOCATION '{folder}/ctas_files/' OPTIONS (type = 'cow', primaryKey = 'id', preCombineField = 'ts') PARTITIONED BY (datestr) AS SELECT * FROM plain_files;
--> ok

SELECT id, ts, datestr FROM ctas_files;
--> id int, ts int, datestr string
--> 1 | 2 | 2021-12-01

-- block, of 0.13: inserts
INSERT INTO cow_tbl SELECT 1, 'a1', 20;
--> ok

INSERT INTO mor_tbl SELECT 1, 'a1', 20, 1000;
--> ok

INSERT INTO pt_tbl PARTITION (dt, hh) SELECT 1 AS id, 'a1' AS name, 1000 AS ts, '2021-12-09' AS dt, '10' AS hh;
--> ok

INSERT INTO pt_tbl PARTITION (dt = '2021-12-09', hh = '11') SELECT 2, 'a2', 1000;
--> ok

INSERT INTO mor_tbl SELECT 1, 'a1_1', 20, 1001;
--> ok

SELECT id, name, price, ts FROM mor_tbl;
--> id int, name string, price double, ts bigint
--> 1 | a1 | 20.0 | 1000
--> 1 | a1_1 | 20.0 | 1001

SET hoodie.sql.bulk.insert.enable = true;
--> ok

SET hoodie.sql.insert.mode = non-strict;
--> ok

INSERT INTO mor_tbl SELECT 1, 'a1_2', 20, 1002;
--> ok

SELECT id, name, price, ts FROM mor_tbl;
--> id int, name string, price double, ts bigint
--> 1 | a1 | 20.0 | 1000
--> 1 | a1_1 | 20.0 | 1001
--> 1 | a1_2 | 20.0 | 1002

RESET hoodie.sql.bulk.insert.enable;
--> ok

RESET hoodie.sql.insert.mode;
--> ok

-- block, of 0.13: updates by other columns than the key, deletes, overwrites
UPDATE pt_tbl SET ts = 1001 WHERE name = 'a1';
--> ok

DELETE FROM cow_tbl WHERE uuid = 1;
--> ok

DELETE FROM pt_tbl WHERE name = 'a1';
--> ok

INSERT OVERWRITE cow_tbl SELECT 99, 'a99', 20.0;
--> ok

INSERT OVERWRITE mor_tbl SELECT 99, 'a99', 20.0, 900;
--> ok

SELECT id, name, price, ts FROM mor_tbl;
--> id int, name string, price double, ts bigint
--> 99 | a99 | 20.0 | 900

INSERT OVERWRITE TABLE pt_tbl SELECT 10, 'a10', 1100, '2021-12-09', '10';
--> ok

INSERT OVERWRITE pt_tbl PARTITION (dt = '2021-12-09', hh = '12') SELECT 13, 'a13', 1100;
--> ok

SELECT id, name, ts, dt, hh FROM pt_tbl;
--> id bigint, name string, ts bigint, dt string, hh string
--> 10 | a10 | 1100 | 2021-12-09 | 10
--> 13 | a13 | 1100 | 2021-12-09 | 12

-- block, of 0.13: ALTER TABLE, partitions, procedures
ALTER TABLE cow_tbl RENAME TO cow_tbl2;
--> ok

ALTER TABLE cow_tbl2 ADD COLUMNS (remark STRING);
--> ok

ALTER TABLE cow_tbl2 CHANGE COLUMN price price DOUBLE COMMENT 'in euros';
--> ok

ALTER TABLE cow_tbl2 SET TBLPROPERTIES (hoodie.keep.max.commits = '40');
--> ok

SELECT uuid, name, price, remark FROM cow_tbl2;
--> uuid int, name string, price double, remark string
--> 99 | a99 | 20.0 | NULL

SHOW PARTITIONS pt_tbl;
--> partition string
--> dt=2021-12-09/hh=10
--> dt=2021-12-09/hh=12

ALTER TABLE pt_tbl DROP PARTITION (dt = '2021-12-09', hh = '10');
--> ok

SELECT id FROM pt_tbl;
--> id bigint
--> 13

-- mask commit_time, total_bytes_written
CALL show_commits(table => 'ctas_pt', limit => 10);
--> commit_time string, state_transition_time string, action string, total_bytes_written bigint, total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, total_records_written bigint, total_update_records_written bigint, total_errors bigint
--> * | <time 1> | commit | * | 1 | 0 | 1 | 1 | 0 | 0

-- mask commit_time, total_bytes_written
CALL system.show_commits('ctas_pt', 10);
--> commit_time string, state_transition_time string, action string, total_bytes_written bigint, total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, total_records_written bigint, total_update_records_written bigint, total_errors bigint
--> * | <time 1> | commit | * | 1 | 0 | 1 | 1 | 0 | 0
