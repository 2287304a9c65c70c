-- SET against table properties; kinds of keys and paths.
CREATE TABLE propertied (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', hoodie.spark.sql.insert.into.operation = 'upsert');
--> ok

INSERT INTO propertied VALUES (1, 'a');
--> ok

INSERT INTO propertied VALUES (1, 'b');
--> ok

SELECT id, name FROM propertied;
--> id int, name string
--> 1 | b

-- The session's SET goes before the table's property.
SET hoodie.spark.sql.insert.into.operation = insert;
--> ok

INSERT INTO propertied VALUES (1, 'c');
--> ok

SELECT id, name FROM propertied;
--> id int, name string
--> 1 | b
--> 1 | c

CREATE TABLE two_keys (a INT, b STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'a,b');
--> ok

INSERT INTO two_keys VALUES (1, 'x', 1), (1, 'y', 2);
--> ok

UPDATE two_keys SET n = 5 WHERE b = 'y';
--> ok

SELECT a, b, n, _hoodie_record_key FROM two_keys;
--> a int, b string, n int, _hoodie_record_key string
--> 1 | x | 1 | a:1,b:x
--> 1 | y | 5 | a:1,b:y

CREATE TABLE plain_paths (id INT, day STRING) USING hudi PARTITIONED BY (day)
  TBLPROPERTIES (primaryKey = 'id', hoodie.datasource.write.hive_style_partitioning = 'false');
--> ok

INSERT INTO plain_paths VALUES (1, 'mon');
--> ok

SELECT id, day, _hoodie_partition_path FROM plain_paths;
--> id int, day string, _hoodie_partition_path string
--> 1 | mon | mon

SHOW PARTITIONS plain_paths;
--> partition string
--> mon

CREATE TABLE encoded (id INT, day STRING) USING hudi PARTITIONED BY (day)
  TBLPROPERTIES (primaryKey = 'id', hoodie.datasource.write.partitionpath.urlencode = 'true');
--> ok

INSERT INTO encoded VALUES (1, '2026/11/01'), (2, 'a b');
--> ok

SELECT id, day, _hoodie_partition_path FROM encoded;
--> id int, day string, _hoodie_partition_path string
--> 1 | 2026/11/01 | day=2026%2F11%2F01
--> 2 | a b | day=a b

SHOW PARTITIONS encoded;
--> partition string
--> day=2026%2F11%2F01
--> day=a b

CREATE TABLE virtual (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', hoodie.populate.meta.fields = 'false');
--> ok

INSERT INTO virtual VALUES (1, 'a'), (2, 'b');
--> ok

SELECT id, name FROM virtual;
--> id int, name string
--> 1 | a
--> 2 | b

CREATE TABLE special (id INT, `a b` STRING, `order` INT) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> error org.apache.avro.SchemaParseException: Illegal character in: a b

CREATE TABLE nine (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO nine VALUES (1);
--> ok

SET hoodie.write.table.version = 8;
--> ok

-- [insert_under_lower_version]
INSERT INTO nine VALUES (2);
--> ok

RESET hoodie.write.table.version;
--> ok

-- [after_lower_version]
SELECT id FROM nine;
--> id int
--> 1
--> 2

-- [operation_delete]
SET hoodie.datasource.write.operation = delete;
--> ok

-- [insert_under_operation_delete]
CREATE TABLE not_deleted (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO not_deleted VALUES (1, 'a'), (2, 'b');
--> ok

INSERT INTO not_deleted VALUES (1, 'a');
--> ok

-- [after_operation_delete]
SELECT id, name FROM not_deleted;
--> id int, name string

RESET hoodie.datasource.write.operation;
--> ok

-- The operation of a DataFrame's write, set for statements.
CREATE TABLE operated (id INT, name STRING, part STRING) USING hudi PARTITIONED BY (part) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO operated VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y');
--> ok

SET hoodie.datasource.write.operation = upsert;
--> ok

SET hoodie.spark.sql.insert.into.operation = insert;
--> ok

SET hoodie.sql.insert.mode = strict;
--> ok

INSERT INTO operated VALUES (1, 'a2', 'x');
--> ok

SELECT id, name, part FROM operated;
--> id int, name string, part string
--> 1 | a2 | x
--> 2 | b | x
--> 3 | c | y

CREATE TABLE operated_as USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts') AS SELECT 1 AS id, 'a' AS name, 2 AS ts UNION ALL SELECT 1, 'b', 1;
--> ok

SELECT id, name, ts FROM operated_as;
--> id int, name string, ts int
--> 1 | a | 2

RESET hoodie.spark.sql.insert.into.operation;
--> ok

RESET hoodie.sql.insert.mode;
--> ok

SET hoodie.datasource.write.operation = insert_overwrite;
--> ok

INSERT INTO operated VALUES (4, 'd', 'x');
--> ok

SELECT id, name, part FROM operated;
--> id int, name string, part string
--> 3 | c | y
--> 4 | d | x

INSERT OVERWRITE TABLE operated VALUES (5, 'e', 'x');
--> ok

SELECT id, name, part FROM operated;
--> id int, name string, part string
--> 3 | c | y
--> 5 | e | x

SET hoodie.datasource.write.operation = insert_overwrite_table;
--> ok

INSERT INTO operated VALUES (6, 'f', 'z');
--> ok

SELECT id, name, part FROM operated;
--> id int, name string, part string
--> 6 | f | z

SET hoodie.datasource.write.operation = upsurt;
--> ok

INSERT INTO operated VALUES (7, 'g', 'z');
--> error org.apache.hudi.exception.HoodieException: Invalid value of Type.

RESET hoodie.datasource.write.operation;
--> ok

SET hoodie.spark.sql.insert.into.operation = upsert;
--> ok

CREATE TABLE filled_by_upsert USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts') AS SELECT 1 AS id, 'a' AS name, 2 AS ts UNION ALL SELECT 1, 'b', 1;
--> ok

SELECT id, name, ts FROM filled_by_upsert;
--> id int, name string, ts int
--> 1 | a | 2
