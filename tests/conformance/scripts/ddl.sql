-- CREATE TABLE in its forms, what tables show of themselves, TRUNCATE and DROP.
CREATE TABLE plain (id INT, name STRING COMMENT 'of a person', amount DECIMAL(10, 2)) USING hudi COMMENT 'people';
--> ok

INSERT INTO plain VALUES (1, 'ann', 1.5), (2, 'bob', 2.25);
--> ok

SELECT id, name, amount FROM plain;
--> id int, name string, amount decimal(10,2)
--> 1 | ann | 1.50
--> 2 | bob | 2.25

DESCRIBE plain;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | of a person
--> amount | decimal(10,2) | NULL

CREATE TABLE plain (id INT) USING hudi;
--> error Table spark_catalog.conformance_ddl.plain already exists.

CREATE TABLE IF NOT EXISTS plain (other STRING) USING hudi;
--> ok

SELECT name FROM plain WHERE id = 2;
--> name string
--> bob

-- Partition columns go to the end of the schema.
CREATE TABLE moved (day STRING, id INT, name STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> ok

DESCRIBE moved;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | NULL
--> day | string | NULL
--> # Partition Information |  |
--> # col_name | data_type | comment
--> day | string | NULL

INSERT INTO moved SELECT 1, 'ann', '2026-11-01';
--> ok

SELECT * FROM (SELECT id, name, day, _hoodie_record_key, _hoodie_partition_path FROM moved);
--> id int, name string, day string, _hoodie_record_key string, _hoodie_partition_path string
--> 1 | ann | 2026-11-01 | 1 | day=2026-11-01

CREATE TABLE keyed (id INT, name STRING, ts BIGINT) USING hudi OPTIONS (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

-- [time_zone]
CALL show_table_properties(table => 'keyed', limit => 100);
--> key string, value string
--> hoodie.archivelog.folder | archived
--> hoodie.database.name | conformance_ddl
--> hoodie.datasource.write.drop.partition.columns | false
--> hoodie.datasource.write.hive_style_partitioning | true
--> hoodie.datasource.write.partitionpath.urlencode | false
--> hoodie.record.merge.mode | EVENT_TIME_ORDERING
--> hoodie.table.checksum | 1394173845
--> hoodie.table.create.schema | {"type":"record","name":"keyed_record","namespace":"hoodie.keyed","fields":[{"name":"id","type":["null","int"],"default":null},{"name":"name","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null}]}
--> hoodie.table.format | native
--> hoodie.table.initial.version | 9
--> hoodie.table.keygenerator.type | NON_PARTITION
--> hoodie.table.name | keyed
--> hoodie.table.ordering.fields | ts
--> hoodie.table.recordkey.fields | id
--> hoodie.table.type | MERGE_ON_READ
--> hoodie.table.version | 9
--> hoodie.timeline.history.path | history
--> hoodie.timeline.layout.version | 2
--> hoodie.timeline.path | timeline

CREATE TABLE external_one (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'cow') LOCATION '{folder}/outside';
--> ok

INSERT INTO external_one VALUES (1, 'ann');
--> ok

DROP TABLE external_one;
--> ok

-- The data of an external table stay, and bring their schema.
CREATE TABLE again USING hudi LOCATION '{folder}/outside';
--> ok

SELECT id, name, _hoodie_record_key FROM again;
--> id int, name string, _hoodie_record_key string
--> 1 | ann | 1

DESCRIBE again;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | NULL

-- [other_columns_on_existing_path]
CREATE TABLE other_columns (x STRING) USING hudi LOCATION '{folder}/outside';
--> ok

-- [other_key_on_existing_path]
CREATE TABLE other_key (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'name') LOCATION '{folder}/outside';
--> error org.apache.hudi.exception.HoodieException: Config conflict(key	current value	existing value):

CREATE TABLE copied LIKE again USING hudi;
--> ok

DESCRIBE copied;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | NULL

CREATE TABLE complex_types (id INT, s STRUCT<a: INT, b: STRING>, l ARRAY<INT>, m MAP<STRING, INT>, d DATE, t TIMESTAMP, b BINARY, f FLOAT, o BOOLEAN)
  USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO complex_types SELECT 1, named_struct('a', 1, 'b', 'x'), array(1, 2), map('k', 1), DATE '2026-11-01', TIMESTAMP '2026-11-01 10:11:12.123456', X'00ff', CAST(1.5 AS FLOAT), true;
--> ok

SELECT id, s, l, m, d, t, b, f, o FROM complex_types;
--> id int, s struct<a: int, b: string>, l array<int>, m map<string, int>, d date, t timestamp, b binary, f float, o boolean
--> 1 | {a: 1, b: x} | [1, 2] | [[k, 1]] | 2026-11-01 | 2026-11-01 10:11:12.123456 | 00ff | 1.5 | true

SELECT s.b, l[1], m['k'] FROM complex_types WHERE s.a = 1;
--> b string, l[1] int, m[k] int
--> x | 2 | 1

SHOW TBLPROPERTIES moved ('primaryKey');
--> key string, value string
--> primaryKey | id

TRUNCATE TABLE plain;
--> ok

SELECT count(*) AS n FROM plain;
--> n bigint
--> 0

INSERT INTO plain VALUES (3, 'cid', 3);
--> ok

SELECT id FROM plain;
--> id int
--> 3

DROP TABLE plain;
--> ok

SELECT * FROM plain;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `plain` cannot be found. Verify the spelling and correctness of the schema and catalog.

DROP TABLE plain;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `spark_catalog`.`conformance_ddl`.`plain` cannot be found. Verify the spelling and correctness of the schema a

DROP TABLE IF EXISTS plain;
--> ok

-- [unknown_key]
CREATE TABLE bad_key (id INT) USING hudi TBLPROPERTIES (primaryKey = 'uid');
--> error Can't find primaryKey `uid` in root

CREATE TABLE bad_order (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> error Can't find ordering fields `ts` in root

CREATE TABLE bad_type (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'heap');
--> error 'type' must be 'cow' or 'mor'

CREATE TABLE bad_partition (id INT) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> error Partition schema fields order does not match the table schema fields order, tableSchemaFields: WrappedArray(), partitionFields: ArrayBuffer(day).

-- [replaced_table]
CREATE OR REPLACE TABLE again (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> error [UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table `spark_catalog`.`conformance_ddl`.`again` does not support REPLACE TABLE. Please

-- [replaced_new_table]
CREATE OR REPLACE TABLE brand_new (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> error [UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table `spark_catalog`.`conformance_ddl`.`brand_new` does not support REPLACE TABLE. Pl

-- [replaced_again]
REPLACE TABLE again (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> error [UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table `spark_catalog`.`conformance_ddl`.`again` does not support REPLACE TABLE. Please

-- [rows_of_replaced_table]
SELECT id, name FROM again;
--> id int, name string
--> 1 | ann
