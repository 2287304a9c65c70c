-- Statements in the form of Hudi's pages about SQL DDL, SQL DML, writing data and SQL queries, block by block; the rest is in other scripts.
SET hoodie.metadata.enable = true;
--> ok

SET hoodie.write.lock.provider = org.apache.hudi.client.transaction.lock.InProcessLockProvider;
--> ok

-- block: tables of each kind
CREATE TABLE IF NOT EXISTS plain_table (id INT, name STRING, price DOUBLE) USING hudi;
--> ok

CREATE TABLE IF NOT EXISTS partitioned (id BIGINT, name STRING, dt STRING, hh STRING) USING hudi TBLPROPERTIES (type = 'cow') PARTITIONED BY (dt);
--> ok

CREATE TABLE IF NOT EXISTS keyed (id INT, name STRING, price DOUBLE, ts BIGINT) USING hudi TBLPROPERTIES (type = 'cow', primaryKey = 'id', preCombineField = 'ts');
--> ok

CREATE TABLE IF NOT EXISTS two_keys (id INT, name STRING, price DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id,name');
--> ok

INSERT INTO two_keys VALUES (1, 'a', 1.0);
--> ok

SELECT _hoodie_record_key FROM two_keys;
--> _hoodie_record_key string
--> id:1,name:a

-- block: merge modes
CREATE TABLE IF NOT EXISTS by_event_time (id INT, name STRING, ts LONG, price DOUBLE) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', precombineField = 'ts', recordMergeMode = 'EVENT_TIME_ORDERING') LOCATION '{folder}/by_event_time/';
--> ok

INSERT INTO by_event_time VALUES (1, 'a1', 1000, 10.0);
--> ok

INSERT INTO by_event_time VALUES (1, 'a1', 900, 20.0);
--> ok

SELECT id, name, ts, price FROM by_event_time;
--> id int, name string, ts bigint, price double
--> 1 | a1 | 1000 | 10.0
--> 1 | a1 | 900 | 20.0

-- [custom_mode]
CREATE TABLE IF NOT EXISTS custom (id INT, name STRING, ts LONG, price DOUBLE) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', precombineField = 'ts', recordMergeMode = 'CUSTOM', 'hoodie.datasource.write.payload.class' = 'org.apache.hudi.common.model.PartialUpdateAvroPayload') LOCATION '{folder}/custom/';
--> ok

-- block: an external table, and copies of Parquet files
CREATE TABLE external USING hudi LOCATION '{folder}/by_event_time/';
--> ok

SELECT id, ts FROM external;
--> id int, ts bigint
--> 1 | 1000
--> 1 | 900

CREATE TABLE files USING parquet LOCATION '{folder}/files' AS SELECT 1 AS id, 'a' AS name, 10 AS ts, '2021-01-01' AS dt;
--> ok

CREATE TABLE copied USING hudi TBLPROPERTIES (type = 'cow', preCombineField = 'ts') PARTITIONED BY (dt) AS SELECT * FROM files;
--> ok

CREATE TABLE copied_whole USING hudi TBLPROPERTIES (type = 'cow', preCombineField = 'ts') AS SELECT * FROM files;
--> ok

CREATE TABLE keyed_copy USING hudi TBLPROPERTIES (type = 'cow', primaryKey = 'id') PARTITIONED BY (dt) AS SELECT 1 AS id, 'a1' AS name, 10 AS price, 1000 AS dt;
--> ok

CREATE TABLE elsewhere USING hudi LOCATION '{folder}/elsewhere/' TBLPROPERTIES (type = 'cow') AS SELECT * FROM files;
--> ok

SELECT id, name, ts, dt FROM elsewhere;
--> id int, name string, ts int, dt string
--> 1 | a | 10 | 2021-01-01

-- block: an index of several partition fields, and what it finds
CREATE TABLE located (ts BIGINT, id STRING, rider STRING, driver STRING, fare DOUBLE, city STRING, state STRING) USING hudi OPTIONS (primaryKey = 'id', hoodie.metadata.record.index.enable = 'true', hoodie.metadata.index.partition.stats.enable = 'true', hoodie.metadata.index.column.stats.enable = 'true', hoodie.metadata.index.column.stats.column.list = 'rider', hoodie.write.record.merge.mode = "COMMIT_TIME_ORDERING") PARTITIONED BY (city, state) LOCATION '{folder}/located';
--> ok

INSERT INTO located VALUES (1695159649, 'trip1', 'rider-A', 'driver-K', 19.10, 'san_francisco', 'california');
--> ok

INSERT INTO located VALUES (1695332066, 'trip3', 'rider-E', 'driver-O', 93.50, 'austin', 'texas'), (1695516137, 'trip4', 'rider-F', 'driver-P', 34.15, 'houston', 'texas');
--> ok

SELECT id FROM located WHERE city = 'austin';
--> id string
--> trip3

SELECT id FROM located WHERE state = 'texas';
--> id string
--> trip3
--> trip4

SELECT id, rider, city, state FROM located WHERE rider > 'rider-D';
--> id string, rider string, city string, state string
--> trip3 | rider-E | austin | texas
--> trip4 | rider-F | houston | texas

SELECT id, rider, driver FROM located WHERE id = 'trip1';
--> id string, rider string, driver string
--> trip1 | rider-A | driver-K

CREATE INDEX driver_idx ON located (driver);
--> ok

SELECT id, driver FROM located WHERE driver IN ('driver-K', 'driver-P');
--> id string, driver string
--> trip1 | driver-K
--> trip4 | driver-P

CREATE INDEX idx_bloom_rider ON located USING bloom_filters(rider) OPTIONS (expr = 'lower');
--> ok

SELECT id FROM located WHERE lower(rider) = 'rider-e';
--> id string
--> trip3

-- block: settings, properties, ALTER TABLE
SET hoodie.delete.shuffle.parallelism = 100;
--> ok

RESET hoodie.delete.shuffle.parallelism;
--> ok

CREATE TABLE IF NOT EXISTS tuned (id BIGINT, name STRING, price DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'cow', hoodie.cleaner.fileversions.retained = '20', hoodie.keep.max.commits = '40');
--> ok

ALTER TABLE tuned RENAME TO tuned_again;
--> ok

ALTER TABLE tuned_again ADD COLUMNS (remark STRING);
--> ok

ALTER TABLE tuned_again SET TBLPROPERTIES ("note" = "don't drop this table");
--> ok

ALTER TABLE tuned_again UNSET TBLPROPERTIES IF EXISTS (hoodie.keep.max.commits);
--> ok

ALTER TABLE tuned_again UNSET TBLPROPERTIES IF EXISTS ('note');
--> ok

ALTER TABLE tuned_again SET SERDEPROPERTIES ('key1' = 'value1');
--> ok

INSERT INTO tuned_again VALUES (1, 'a', 1.0, 'x');
--> ok

SELECT id, name, price, remark FROM tuned_again;
--> id bigint, name string, price double, remark string
--> 1 | a | 1.0 | x

-- [partition_dropped_with_bloom_index]
ALTER TABLE located DROP PARTITION (city = 'austin', state = 'texas');
--> error org.apache.hudi.exception.HoodieMetadataException: Failed to get expression index updates for partition expr_index_idx_bloom_rider

-- [rows_after_dropped_partition]
SELECT id FROM located;
--> id string
--> trip1
--> trip3
--> trip4

-- block, writing data: static and dynamic partitions
CREATE TABLE one_part (id INT, name STRING, dt STRING) USING hudi PARTITIONED BY (dt);
--> ok

CREATE TABLE two_parts (id INT, name STRING, dt STRING, hh STRING) USING hudi PARTITIONED BY (dt, hh);
--> ok

INSERT INTO one_part PARTITION (dt = '2021-01-02') SELECT 1, 'a1';
--> ok

INSERT INTO one_part SELECT 1, 'a1', '2021-01-03';
--> ok

INSERT INTO two_parts SELECT 1 AS id, 'a1', '2021-01-03' AS dt, '19' AS hh;
--> ok

INSERT OVERWRITE one_part PARTITION (dt = '2021-01-02') SELECT 2, 'a2';
--> ok

INSERT OVERWRITE TABLE two_parts SELECT 2 AS id, 'a2', '2021-01-03' AS dt, '19' AS hh;
--> ok

SELECT id, name, dt FROM one_part;
--> id int, name string, dt string
--> 1 | a1 | 2021-01-03
--> 2 | a2 | 2021-01-02

SELECT id, name, dt, hh FROM two_parts;
--> id int, name string, dt string, hh string
--> 2 | a2 | 2021-01-03 | 19

-- block, queries: indexes by settings, and looking at the metadata table
CREATE TABLE looked_at (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING) USING HUDI OPTIONS (primaryKey = 'uuid', hoodie.write.record.merge.mode = "COMMIT_TIME_ORDERING") PARTITIONED BY (city);
--> ok

SET hoodie.metadata.index.partition.stats.enable = true;
--> ok

SET hoodie.metadata.index.column.stats.enable = true;
--> ok

INSERT INTO looked_at VALUES (1695159649, 'u1', 'rider-A', 'driver-K', 19.10, 'san_francisco'), (1695516137, 'u2', 'rider-F', 'driver-P', 34.15, 'sao_paulo');
--> ok

CREATE INDEX idx_column_ts ON looked_at USING column_stats(ts) OPTIONS (expr = 'from_unixtime', format = 'yyyy-MM-dd');
--> ok

CREATE INDEX record_index ON looked_at (uuid);
--> ok

CREATE INDEX idx_rider ON looked_at (rider);
--> ok

SELECT key FROM hudi_metadata('looked_at') WHERE type = 7;
--> key string
--> rider-A$u1
--> rider-F$u2

SELECT DISTINCT ColumnStatsMetadata.minValue.member6.value AS least, ColumnStatsMetadata.maxValue.member6.value AS greatest FROM hudi_metadata('looked_at') WHERE type = 3 AND ColumnStatsMetadata.columnName = 'ts' AND ColumnStatsMetadata.minValue.member6 IS NOT NULL;
--> least string, greatest string
--> 2023-09-19 | 2023-09-19
--> 2023-09-24 | 2023-09-24

SELECT ColumnStatsMetadata.columnName AS name, ColumnStatsMetadata.minValue.member6.value AS least, ColumnStatsMetadata.maxValue.member6.value AS greatest FROM hudi_metadata('looked_at') WHERE type = 6 AND ColumnStatsMetadata.columnName = 'rider';
--> name string, least string, greatest string
--> rider | rider-A | rider-A
--> rider | rider-F | rider-F

SELECT ColumnStatsMetadata.minValue.member4.value AS least, ColumnStatsMetadata.valueType.typeOrdinal AS type FROM hudi_metadata('looked_at') WHERE type = 6 AND ColumnStatsMetadata.columnName = 'fare';
--> least double, type int
--> 19.1 | 6
--> 34.15 | 6

SELECT uuid FROM looked_at WHERE rider >= 'rider-F';
--> uuid string
--> u2

-- [drop_column_stats]
DROP INDEX column_stats ON looked_at;
--> ok

-- [drop_partition_stats]
DROP INDEX partition_stats ON looked_at;
--> ok

RESET hoodie.metadata.index.partition.stats.enable;
--> ok

RESET hoodie.metadata.index.column.stats.enable;
--> ok

SET hoodie.metadata.column.stats.enable = true;
--> ok

SELECT uuid FROM looked_at WHERE fare > 1.0 AND fare < 20.0;
--> uuid string
--> u1

SET hoodie.enable.data.skipping = true;
--> ok

DELETE FROM looked_at WHERE uuid = 'u1';
--> ok

SELECT uuid FROM looked_at;
--> uuid string
--> u2

RESET hoodie.metadata.column.stats.enable;
--> ok

RESET hoodie.enable.data.skipping;
--> ok
