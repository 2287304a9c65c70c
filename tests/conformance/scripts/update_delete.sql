-- UPDATE and DELETE by any predicate.
CREATE TABLE people (id INT, name STRING, age INT, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO people VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'oslo'), (3, 'cid', 53, 'rome'), (4, NULL, NULL, 'rome');
--> ok

UPDATE people SET age = age + 1;
--> ok

UPDATE people SET name = upper(name), age = 0 WHERE city = 'oslo' AND age > 40;
--> ok

UPDATE people p SET p.name = 'dee' WHERE p.name IS NULL;
--> ok

SELECT id, name, age, city FROM people;
--> id int, name string, age int, city string
--> 1 | ann | 32 | oslo
--> 2 | BOB | 0 | oslo
--> 3 | cid | 54 | rome
--> 4 | dee | NULL | rome

UPDATE people SET age = 99 WHERE id = 77;
--> ok

UPDATE people SET name = concat(name, CAST(age AS STRING)) WHERE id IN (SELECT id FROM people WHERE age > 50);
--> ok

SELECT id, name, age, city FROM people;
--> id int, name string, age int, city string
--> 1 | ann | 32 | oslo
--> 2 | BOB | 0 | oslo
--> 3 | cid54 | 54 | rome
--> 4 | dee | NULL | rome

-- [key]
UPDATE people SET id = 9 WHERE id = 1;
--> error Detected disallowed assignment clause in UPDATE statement for record key field `id` for table `spark_catalog.conformance_update_delete.people`. Please rem

-- [partition]
UPDATE people SET city = 'bern' WHERE id = 1;
--> error Detected disallowed assignment clause in UPDATE statement for partition field `city` for table `spark_catalog.conformance_update_delete.people`. Please re

UPDATE people SET nowhere = 1;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`age`, `nam

UPDATE people SET age = 'many' WHERE nowhere = 1;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`age`, `nam

UPDATE people SET age = 'many' WHERE id = 1;
--> error [CAST_INVALID_INPUT] The value 'many' of the type "STRING" cannot be cast to "INT" because it is malformed. Correct the value as per the syntax, or change

UPDATE nowhere SET age = 1;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

DELETE FROM people WHERE name LIKE 'A%' OR age = 0;
--> ok

SELECT id, name FROM people;
--> id int, name string
--> 1 | ann
--> 3 | cid54
--> 4 | dee

DELETE FROM people WHERE id = 77;
--> ok

DELETE FROM people WHERE nowhere = 1;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`age`, `nam

DELETE FROM nowhere WHERE id = 1;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

DELETE FROM people p WHERE p.id IN (SELECT 3);
--> ok

SELECT id, name, age, city FROM people;
--> id int, name string, age int, city string
--> 1 | ann | 32 | oslo
--> 4 | dee | NULL | rome

DELETE FROM people;
--> ok

SELECT count(*) AS n FROM people;
--> n bigint
--> 0

INSERT INTO people VALUES (1, 'ann again', 32, 'oslo');
--> ok

SELECT id, name, age, city FROM people;
--> id int, name string, age int, city string
--> 1 | ann again | 32 | oslo

CREATE TABLE late (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO late VALUES (1, 'a', 100);
--> ok

-- A lower ordering value is late.
UPDATE late SET name = 'b', ts = 50 WHERE id = 1;
--> ok

SELECT id, name, ts FROM late;
--> id int, name string, ts bigint
--> 1 | a | 100

UPDATE late SET name = 'c' WHERE ts = 100;
--> ok

SELECT id, name, ts FROM late;
--> id int, name string, ts bigint
--> 1 | c | 100

CREATE TABLE logs (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO logs VALUES (1, 'a', 100), (2, 'b', 100), (3, 'c', 100);
--> ok

UPDATE logs SET name = 'bb', ts = 150 WHERE id = 2;
--> ok

DELETE FROM logs WHERE id = 1;
--> ok

SELECT id, name, ts FROM logs;
--> id int, name string, ts bigint
--> 2 | bb | 150
--> 3 | c | 100

-- Read optimized: the base files alone.
SELECT id, name FROM hudi_query('logs', 'read_optimized');
--> id int, name string
--> 1 | a
--> 2 | b
--> 3 | c

-- [by_path]
UPDATE hudi.`{folder}/logs` SET name = 'cc' WHERE id = 3;
--> error [UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY] Unsupported data source type for direct query on files: hudi; line 1 pos 7

-- [delete_by_path]
DELETE FROM hudi.`{folder}/logs` WHERE id = 2;
--> error [UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY] Unsupported data source type for direct query on files: hudi; line 1 pos 12

-- [insert_by_path]
INSERT INTO hudi.`{folder}/logs` VALUES (4, 'd', 100);
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `hudi`.`{folder}/logs` cannot be found. Verify the spelling and correctness of the schema and catalog.

-- [merge_by_path]
MERGE INTO hudi.`{folder}/logs` t USING (SELECT 4 AS id, 'dd' AS name, 200L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *;
--> error [UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY] Unsupported data source type for direct query on files: hudi; line 1 pos 11

-- [after_by_path]
SELECT id, name FROM logs;
--> id int, name string
--> 2 | bb
--> 3 | c
