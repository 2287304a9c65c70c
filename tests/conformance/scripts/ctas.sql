-- CREATE TABLE ... AS SELECT.
CREATE TABLE keyed USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id, 'ann' AS name UNION ALL SELECT 2, 'bob';
--> ok

SELECT id, name, _hoodie_record_key FROM keyed;
--> id int, name string, _hoodie_record_key string
--> 1 | ann | 1
--> 2 | bob | 2

-- Bulk insert does not look for duplicates.
CREATE TABLE twice USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id, 'ann' AS name UNION ALL SELECT 1, 'bob';
--> ok

SELECT id, name FROM twice;
--> id int, name string
--> 1 | ann
--> 1 | bob

CREATE TABLE parted USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id', type = 'mor', preCombineField = 'ts')
  AS SELECT 'mon' AS day, 1 AS id, 5L AS ts UNION ALL SELECT 'tue', 2, 6L;
--> ok

SELECT id, ts, day, _hoodie_partition_path FROM parted;
--> id int, ts bigint, day string, _hoodie_partition_path string
--> 1 | 5 | mon | day=mon
--> 2 | 6 | tue | day=tue

DESCRIBE parted;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> ts | bigint | NULL
--> day | string | NULL
--> # Partition Information |  |
--> # col_name | data_type | comment
--> day | string | NULL

CREATE TABLE keyless USING hudi AS SELECT id, id * 2 AS doubled FROM range(3);
--> ok

SELECT id, doubled FROM keyless;
--> id bigint, doubled bigint
--> 0 | 0
--> 1 | 2
--> 2 | 4

CREATE TABLE outside USING hudi LOCATION '{folder}/elsewhere' AS SELECT 1 AS id, CAST(1.5 AS DECIMAL(5, 2)) AS amount, CAST(NULL AS STRING) AS nothing;
--> ok

SELECT id, amount, nothing FROM outside;
--> id int, amount decimal(5,2), nothing string
--> 1 | 1.50 | NULL

CREATE TABLE keyed USING hudi AS SELECT 9 AS id;
--> error Table spark_catalog.conformance_ctas.keyed already exists. You need to drop it first.

CREATE TABLE IF NOT EXISTS keyed USING hudi AS SELECT 9 AS id;
--> ok

SELECT id, name FROM keyed;
--> id int, name string
--> 1 | ann
--> 2 | bob

CREATE TABLE from_other USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT p.id, k.name, p.day FROM parted p LEFT JOIN keyed k ON p.id = k.id;
--> ok

SELECT id, name, day FROM from_other;
--> id int, name string, day string
--> 1 | ann | mon
--> 2 | bob | tue

CREATE TABLE from_cte USING hudi AS WITH k AS (SELECT id, name FROM keyed WHERE id = 1) SELECT * FROM k;
--> ok

SELECT id, name FROM from_cte;
--> id int, name string
--> 1 | ann

-- [bad_key]
CREATE TABLE bad USING hudi TBLPROPERTIES (primaryKey = 'uid') AS SELECT 1 AS id;
--> error Can't find primaryKey `uid` in root

-- [bad_partition]
CREATE TABLE bad2 USING hudi PARTITIONED BY (day) AS SELECT 1 AS id;
--> error org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in a stage

CREATE TABLE bad3 USING hudi AS SELECT id FROM nowhere;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

-- [columns_twice]
CREATE TABLE bad4 USING hudi AS SELECT 1 AS id, 2 AS id;
--> error org.apache.avro.AvroRuntimeException: Duplicate field id in record hoodie.bad4.bad4_record: id type:INT pos:1 and id type:INT pos:0.

-- [void_column]
CREATE TABLE bad5 USING hudi AS SELECT 1 AS id, NULL AS nothing;
--> error org.apache.hudi.exception.HoodieNullSchemaTypeException: Field 'hoodie.bad5.bad5_record.nothing' has type null

SHOW TABLES LIKE 'bad*';
--> namespace string, tableName string, isTemporary boolean

-- Columns of a table made from a query take nulls, its keys do not.
INSERT INTO from_cte VALUES (2, NULL);
--> ok

SELECT id, name FROM from_cte;
--> id int, name string
--> 1 | ann
--> 2 | NULL

INSERT INTO keyed VALUES (NULL, 'nobody');
--> error org.apache.hudi.exception.HoodieUpsertException: Failed to upsert for commit time <time 1>
