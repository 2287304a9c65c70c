-- INSERT INTO and INSERT OVERWRITE: columns, partitions, duplicates, operations.
CREATE TABLE people (id INT, name STRING, age BIGINT, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO people VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'rome');
--> ok

INSERT INTO people (city, id, name, age) VALUES ('oslo', 3, 'cid', 53);
--> ok

INSERT INTO people (id, city) VALUES (4, 'oslo');
--> ok

INSERT INTO people PARTITION (city = 'bern') SELECT 5, 'eve', 5;
--> ok

INSERT INTO people PARTITION (city) SELECT 6, 'fay', 6, 'bern';
--> ok

SELECT id, name, age, city FROM people;
--> id int, name string, age bigint, city string
--> 1 | ann | 31 | oslo
--> 2 | bob | 42 | rome
--> 3 | cid | 53 | oslo
--> 4 | NULL | NULL | oslo
--> 5 | eve | 5 | bern
--> 6 | fay | 6 | bern

-- Duplicates stay.
INSERT INTO people VALUES (1, 'ann again', 31, 'oslo');
--> ok

SELECT name FROM people WHERE id = 1;
--> name string
--> ann
--> ann again

SET hoodie.spark.sql.insert.into.operation = upsert;
--> ok

INSERT INTO people VALUES (2, 'bob again', 43, 'rome'), (7, 'gus', 7, 'rome');
--> ok

SELECT id, name, age FROM people WHERE city = 'rome';
--> id int, name string, age bigint
--> 2 | bob again | 43
--> 7 | gus | 7

SET hoodie.spark.sql.insert.into.operation = bulk_insert;
--> ok

INSERT INTO people VALUES (2, 'bob bulk', 44, 'rome');
--> ok

SELECT name FROM people WHERE id = 2;
--> name string
--> bob again
--> bob bulk

SET hoodie.spark.sql.insert.into.operation = insert;
--> ok

SET hoodie.datasource.insert.dup.policy = drop;
--> ok

INSERT INTO people VALUES (5, 'eve again', 55, 'bern'), (8, 'hal', 8, 'bern');
--> ok

SELECT id, name FROM people WHERE city = 'bern';
--> id int, name string
--> 5 | eve
--> 6 | fay
--> 8 | hal

SET hoodie.datasource.insert.dup.policy = fail;
--> ok

INSERT INTO people VALUES (5, 'eve again', 55, 'bern');
--> error org.apache.hudi.exception.HoodieUpsertException: Failed to upsert for commit time <time 1>

SET hoodie.datasource.insert.dup.policy = none;
--> ok

INSERT INTO people VALUES ('x', 'zoe', 1, 'oslo');
--> error [INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST] Cannot write incompatible data for the table `spark_catalog`.`conformance_insert`.`people`: Cannot safely

-- [too_few]
INSERT INTO people VALUES (9, 'ivy');
--> error [INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS] Cannot write to `spark_catalog`.`conformance_insert`.`people`, the reason is not enough data column

INSERT INTO people VALUES (9, 'ivy', 1, 'oslo', 'more');
--> error [INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS] Cannot write to `spark_catalog`.`conformance_insert`.`people`, the reason is too many data columns:

INSERT INTO people (id, nowhere) VALUES (9, 'ivy');
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`id`, `name

INSERT INTO people PARTITION (nowhere = 'x') SELECT 9, 'ivy', 1;
--> error [INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS] Cannot write to `spark_catalog`.`conformance_insert`.`people`, the reason is not enough data column

-- [null_key]
INSERT INTO people VALUES (CAST(NULL AS INT), 'nul', 1, 'oslo');
--> error org.apache.hudi.exception.HoodieUpsertException: Failed to upsert for commit time <time 1>

INSERT OVERWRITE people PARTITION (city = 'bern') SELECT 10, 'jon', 10;
--> ok

SELECT id, name, city FROM people WHERE city = 'bern';
--> id int, name string, city string
--> 10 | jon | bern

INSERT OVERWRITE people PARTITION (city) SELECT 11, 'kim', 11, 'bern';
--> ok

-- [overwrite_dynamic_partition]
SELECT id, name, city FROM people;
--> id int, name string, city string
--> 11 | kim | bern

INSERT OVERWRITE people SELECT 12, 'lea', 12, 'bern';
--> ok

SELECT id, name, city FROM people;
--> id int, name string, city string
--> 12 | lea | bern

INSERT OVERWRITE people SELECT id, name, age, city FROM people WHERE id = 99;
--> ok

SELECT count(*) AS n FROM people;
--> n bigint
--> 0

CREATE TABLE ordered (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

SET hoodie.spark.sql.insert.into.operation = upsert;
--> ok

INSERT INTO ordered VALUES (1, 'late', 5), (1, 'later', 9), (2, 'one', 1);
--> ok

SELECT id, name, ts FROM ordered;
--> id int, name string, ts bigint
--> 1 | later | 9
--> 2 | one | 1

INSERT INTO ordered VALUES (1, 'too late', 7), (2, 'two', 2);
--> ok

SELECT id, name, ts FROM ordered;
--> id int, name string, ts bigint
--> 1 | later | 9
--> 2 | two | 2

-- [strict]
SET hoodie.sql.insert.mode = strict;
--> ok

INSERT INTO ordered VALUES (1, 'known', 10);
--> ok
