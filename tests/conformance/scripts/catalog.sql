-- Several databases, names, SHOW and DESCRIBE.
CREATE DATABASE {database}_b LOCATION '{folder}/b';
--> ok

CREATE TABLE {database}_b.other (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO {database}_b.other VALUES (1, 'there');
--> ok

CREATE TABLE here USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT id, name FROM {database}_b.other;
--> ok

MERGE INTO here USING {database}_b.other o ON here.id = o.id WHEN MATCHED THEN UPDATE SET name = concat(o.name, '!');
--> ok

SELECT id, name FROM {database}.here;
--> id int, name string
--> 1 | there!

SELECT h.name, o.name FROM here h JOIN {database}_b.other o ON h.id = o.id;
--> name string, name string
--> there! | there

UPDATE spark_catalog.{database}_b.other SET name = 'changed' WHERE id = 1;
--> ok

SELECT name FROM spark_catalog.{database}_b.other;
--> name string
--> changed

SHOW TABLES;
--> namespace string, tableName string, isTemporary boolean
--> conformance_catalog | here | false

SHOW TABLES IN {database}_b;
--> namespace string, tableName string, isTemporary boolean
--> conformance_catalog_b | other | false

SHOW COLUMNS IN here;
--> col_name string
--> _hoodie_commit_time
--> _hoodie_commit_seqno
--> _hoodie_record_key
--> _hoodie_partition_path
--> _hoodie_file_name
--> id
--> name

CREATE TABLE Mixed_Case (Id INT, Name STRING, Day STRING) USING hudi PARTITIONED BY (Day) TBLPROPERTIES (primaryKey = 'Id');
--> ok

INSERT INTO mixed_case VALUES (1, 'a', 'mon');
--> ok

UPDATE MIXED_CASE SET NAME = 'b' WHERE ID = 1;
--> ok

SELECT ID, name, DAY FROM mixed_CASE;
--> ID int, name string, DAY string
--> 1 | b | mon

INSERT INTO mixed_case (NAME, day, ID) VALUES ('c', 'tue', 2);
--> ok

SELECT Id, Name, Day, _hoodie_partition_path FROM Mixed_Case;
--> Id int, Name string, Day string, _hoodie_partition_path string
--> 1 | b | mon | Day=mon
--> 2 | c | tue | Day=tue

MERGE INTO mixed_case T USING (SELECT 2 AS ID, 'c2' AS NAME, 'tue' AS DAY) S ON t.id = s.id WHEN MATCHED THEN UPDATE SET *;
--> ok

-- [after_merge_in_upper_case]
SELECT Id, Name FROM Mixed_Case;
--> Id int, Name string
--> 1 | b
--> 2 | c

DROP TABLE here;
--> ok

SHOW TABLES;
--> namespace string, tableName string, isTemporary boolean
--> conformance_catalog | mixed_case | false

USE {database}_b;
--> ok

SELECT name FROM other;
--> name string
--> changed

SELECT 1 FROM here;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `here` cannot be found. Verify the spelling and correctness of the schema and catalog.

USE {database};
--> ok

DROP DATABASE {database}_b;
--> error [SCHEMA_NOT_EMPTY] Cannot drop a schema `conformance_catalog_b` because it contains objects.

DROP DATABASE {database}_b CASCADE;
--> ok

SELECT * FROM {database}_b.other;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_catalog_b`.`other` cannot be found. Verify the spelling and correctness of the schema and catalog
