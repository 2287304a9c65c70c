-- Record keys and partition paths: several fields, generators, types of key columns.
CREATE TABLE two_parts (a INT, b STRING, c DOUBLE, d STRING) USING hudi PARTITIONED BY (d) TBLPROPERTIES (primaryKey = 'a,b');
--> ok

INSERT INTO two_parts VALUES (1, 'x', 1, 'p'), (1, 'y', 2, 'q');
--> ok

SELECT _hoodie_record_key, _hoodie_partition_path, c FROM two_parts;
--> _hoodie_record_key string, _hoodie_partition_path string, c double
--> a:1,b:x | d=p | 1.0
--> a:1,b:y | d=q | 2.0

MERGE INTO two_parts t USING (SELECT 1 AS a, 'x' AS b, 9.5D AS c, 'p' AS d) s ON t.a = s.a AND t.b = s.b WHEN MATCHED THEN UPDATE SET *;
--> ok

SELECT _hoodie_record_key, c FROM two_parts;
--> _hoodie_record_key string, c double
--> a:1,b:x | 9.5
--> a:1,b:y | 2.0

CREATE TABLE dated (id STRING, at TIMESTAMP, amount DECIMAL(10, 2)) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> error Partition schema fields order does not match the table schema fields order, tableSchemaFields: WrappedArray(), partitionFields: ArrayBuffer(day).

CREATE TABLE keyed_by_time (at TIMESTAMP, on_day DATE, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'at,on_day');
--> ok

INSERT INTO keyed_by_time VALUES (TIMESTAMP '2026-11-01 10:11:12.123456', DATE '2026-11-01', 'a');
--> ok

SELECT _hoodie_record_key, name FROM keyed_by_time;
--> _hoodie_record_key string, name string
--> at:1793527872123456,on_day:2026-11-01 | a

CREATE TABLE keyed_by_number (id DECIMAL(10, 2), big BIGINT, yes BOOLEAN) USING hudi TBLPROPERTIES (primaryKey = 'id,big,yes');
--> ok

INSERT INTO keyed_by_number VALUES (1.5, 10000000000, true);
--> ok

SELECT _hoodie_record_key FROM keyed_by_number;
--> _hoodie_record_key string
--> id:1.50,big:10000000000,yes:true

CREATE TABLE by_date (id INT, day DATE) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO by_date VALUES (1, DATE '2026-11-01'), (2, NULL);
--> ok

SELECT id, day, _hoodie_partition_path FROM by_date;
--> id int, day date, _hoodie_partition_path string
--> 1 | 2026-11-01 | day=2026-11-01
--> 2 | NULL | day=__HIVE_DEFAULT_PARTITION__

SELECT id FROM by_date WHERE day = DATE '2026-11-01';
--> id int
--> 1

SHOW PARTITIONS by_date;
--> partition string
--> day=2026-11-01
--> day=__HIVE_DEFAULT_PARTITION__

CREATE TABLE by_flag (id INT, yes BOOLEAN, number BIGINT) USING hudi PARTITIONED BY (yes, number) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO by_flag VALUES (1, true, 5), (2, false, 6);
--> ok

SELECT id, yes, number, _hoodie_partition_path FROM by_flag WHERE yes;
--> id int, yes boolean, number bigint, _hoodie_partition_path string
--> 1 | true | 5 | yes=true/number=5

CREATE TABLE with_generator (id INT, name STRING, ts BIGINT) USING hudi PARTITIONED BY (ts) TBLPROPERTIES (primaryKey = 'id',
  hoodie.table.keygenerator.class = 'org.apache.hudi.keygen.TimestampBasedKeyGenerator', hoodie.keygen.timebased.timestamp.type = 'SCALAR',
  hoodie.keygen.timebased.timestamp.scalar.time.unit = 'seconds', hoodie.keygen.timebased.output.dateformat = 'yyyy-MM-dd');
--> ok

INSERT INTO with_generator VALUES (1, 'a', 1700000000), (2, 'b', 1700100000);
--> ok

SELECT id, name, _hoodie_partition_path FROM with_generator;
--> id int, name string, _hoodie_partition_path string
--> 1 | a | ts=2023-11-14
--> 2 | b | ts=2023-11-16

SHOW PARTITIONS with_generator;
--> partition string
--> ts=2023-11-14
--> ts=2023-11-16

-- A row stays in its partition: the key alone does not find it in another.
CREATE TABLE moving (id INT, name STRING, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> ok

SET hoodie.spark.sql.insert.into.operation = upsert;
--> ok

INSERT INTO moving VALUES (1, 'a', 'mon');
--> ok

INSERT INTO moving VALUES (1, 'b', 'tue');
--> ok

SELECT id, name, day FROM moving;
--> id int, name string, day string
--> 1 | a | mon
--> 1 | b | tue

CREATE TABLE moved (id INT, name STRING, day STRING) USING hudi PARTITIONED BY (day)
  TBLPROPERTIES (primaryKey = 'id', hoodie.index.type = 'GLOBAL_SIMPLE');
--> ok

INSERT INTO moved VALUES (1, 'a', 'mon');
--> ok

INSERT INTO moved VALUES (1, 'b', 'tue');
--> ok

SELECT id, name, day FROM moved;
--> id int, name string, day string
--> 1 | b | tue

CREATE TABLE bucketed (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', hoodie.index.type = 'BUCKET', hoodie.bucket.index.num.buckets = '2');
--> ok

INSERT INTO bucketed VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
--> ok

INSERT INTO bucketed VALUES (1, 'a2');
--> ok

SELECT id, name FROM bucketed;
--> id int, name string
--> 1 | a2
--> 2 | b
--> 3 | c
--> 4 | d

SELECT id, name FROM bucketed WHERE id = 1;
--> id int, name string
--> 1 | a2

SELECT count(DISTINCT substring(_hoodie_file_name, 1, 8)) AS buckets FROM bucketed;
--> buckets bigint
--> 2
