-- MERGE INTO: which clause applies, late rows, and records of other partitions.
CREATE TABLE clauses (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO clauses VALUES (1, 1, 5), (2, 2, 5), (3, 3, 5);
--> ok

MERGE INTO clauses t USING (SELECT 1 AS id, 9 AS v, 7L AS ts UNION ALL SELECT 3, 8, 7) s ON t.id = s.id
  WHEN MATCHED AND s.v = 9 THEN DELETE WHEN MATCHED THEN UPDATE SET *;
--> ok

-- [first_clause]
SELECT id, v, ts FROM clauses;
--> id int, v int, ts bigint
--> 1 | 9 | 7
--> 2 | 2 | 5
--> 3 | 8 | 7

-- A delete by a late row of a copy-on-write table.
MERGE INTO clauses t USING (SELECT 2 AS id, 9 AS v, 3L AS ts) s ON t.id = s.id WHEN MATCHED THEN DELETE;
--> ok

-- [after_late_delete]
SELECT id FROM clauses WHERE id = 2;
--> id int

CREATE TABLE clauses_mor (id INT, v INT, ts BIGINT) USING hudi TBLPROPERTIES (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO clauses_mor VALUES (1, 1, 5), (2, 2, 5);
--> ok

MERGE INTO clauses_mor t USING (SELECT 1 AS id, 9 AS v, 3L AS ts UNION ALL SELECT 2, 9, 7) s ON t.id = s.id WHEN MATCHED THEN DELETE;
--> ok

-- [after_late_delete_mor]
SELECT id, v, ts FROM clauses_mor;
--> id int, v int, ts bigint
--> 1 | 1 | 5

CREATE TABLE insert_only (id INT, v INT) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO insert_only VALUES (1, 1), (2, 2);
--> ok

MERGE INTO insert_only t USING (SELECT 1 AS id, 9 AS v UNION ALL SELECT 4, 9) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *;
--> ok

-- [insert_only]
SELECT id, v FROM insert_only;
--> id int, v int
--> 1 | 1
--> 1 | 9
--> 2 | 2
--> 4 | 9

CREATE TABLE parted (id INT, v INT, p STRING) USING hudi PARTITIONED BY (p) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO parted VALUES (1, 1, 'x'), (2, 2, 'x');
--> ok

MERGE INTO parted t USING (SELECT 1 AS id, 9 AS v, 'y' AS p) s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *;
--> ok

-- [other_partition]
SELECT id, v, p FROM parted;
--> id int, v int, p string
--> 1 | 1 | x
--> 1 | 9 | y
--> 2 | 2 | x
