-- Tables of versions 6 and 8.
SET hoodie.write.table.version = 8;
--> ok

SET hoodie.write.auto.upgrade = false;
--> ok

CREATE TABLE eight (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor', hoodie.write.table.version = '8');
--> ok

INSERT INTO eight VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1);
--> ok

UPDATE eight SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

MERGE INTO eight t USING (SELECT 2 AS id, 'b2' AS name, 3L AS ts UNION ALL SELECT 4, 'd', 3) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

DELETE FROM eight WHERE id = 3;
--> ok

SELECT id, name, ts FROM eight;
--> id int, name string, ts bigint
--> 1 | a2 | 2
--> 2 | b2 | 3
--> 4 | d | 3

SELECT id, name FROM hudi_query('eight', 'read_optimized');
--> id int, name string
--> 1 | a
--> 2 | b
--> 3 | c
--> 4 | d

-- let first = instant eight 1
SELECT id, name FROM eight TIMESTAMP AS OF '{first}';
--> id int, name string
--> 1 | a
--> 2 | b
--> 3 | c

-- let a = completed eight 1
SELECT id, name FROM hudi_table_changes('eight', 'latest_state', '{a}');
--> id int, name string
--> 1 | a2
--> 2 | b2
--> 4 | d

SET hoodie.write.table.version = 6;
--> ok

CREATE TABLE six (id INT, name STRING, ts BIGINT, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', hoodie.write.table.version = '6');
--> ok

INSERT INTO six VALUES (1, 'a', 1, 'mon'), (2, 'b', 1, 'tue'), (3, 'c', 1, 'tue');
--> ok

UPDATE six SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

MERGE INTO six t USING (SELECT 2 AS id, 'b2' AS name, 3L AS ts, 'tue' AS day UNION ALL SELECT 4, 'd', 3, 'wed') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

DELETE FROM six WHERE id = 3;
--> ok

SELECT id, name, ts, day FROM six;
--> id int, name string, ts bigint, day string
--> 1 | a2 | 2 | mon
--> 2 | b2 | 3 | tue
--> 4 | d | 3 | wed

SELECT id, name FROM hudi_table_changes('six', 'latest_state', 'earliest');
--> id int, name string
--> 1 | a2
--> 2 | b2
--> 4 | d

INSERT OVERWRITE six PARTITION (day = 'tue') SELECT 9, 'i', 9;
--> ok

SELECT id, name, day FROM six;
--> id int, name string, day string
--> 1 | a2 | mon
--> 4 | d | wed
--> 9 | i | tue

CREATE TABLE six_mor (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor', hoodie.write.table.version = '6');
--> ok

INSERT INTO six_mor VALUES (1, 'a', 1), (2, 'b', 1);
--> ok

UPDATE six_mor SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

DELETE FROM six_mor WHERE id = 2;
--> ok

SELECT id, name, ts FROM six_mor;
--> id int, name string, ts bigint
--> 1 | a2 | 2

SELECT id, name FROM hudi_query('six_mor', 'read_optimized');
--> id int, name string
--> 1 | a
--> 2 | b
