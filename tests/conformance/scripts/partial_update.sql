-- Partial updates: MERGE with some columns on both table types; payloads that fill gaps.
CREATE TABLE cow (id INT, name STRING, price DOUBLE, ts BIGINT, note STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'cow');
--> ok

INSERT INTO cow VALUES (1, 'a', 10, 100, 'n1'), (2, 'b', 20, 100, 'n2');
--> ok

MERGE INTO cow t USING (SELECT 1 AS id, 12.5D AS price, 200L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = s.price, ts = s.ts;
--> ok

SELECT id, name, price, ts, note FROM cow;
--> id int, name string, price double, ts bigint, note string
--> 1 | a | 12.5 | 200 | n1
--> 2 | b | 20.0 | 100 | n2

CREATE TABLE mor (id INT, name STRING, price DOUBLE, ts BIGINT, note STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO mor VALUES (1, 'a', 10, 100, 'n1'), (2, 'b', 20, 100, 'n2'), (3, 'c', 30, 100, 'n3');
--> ok

MERGE INTO mor t USING (SELECT 1 AS id, 12.5D AS price, 200L AS ts UNION ALL SELECT 3, 31.5, 300) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = s.price, ts = s.ts;
--> ok

SELECT id, name, price, ts, note FROM mor;
--> id int, name string, price double, ts bigint, note string
--> 1 | a | 12.5 | 200 | n1
--> 2 | b | 20.0 | 100 | n2
--> 3 | c | 31.5 | 300 | n3

MERGE INTO mor t USING (SELECT 1 AS id, 'a2' AS name, 400L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name, ts = s.ts;
--> ok

MERGE INTO mor t USING (SELECT 3 AS id, 400L AS ts) s ON t.id = s.id WHEN MATCHED THEN DELETE;
--> ok

SELECT id, name, price, ts, note FROM mor;
--> id int, name string, price double, ts bigint, note string
--> 1 | a2 | 12.5 | 400 | n1
--> 2 | b | 20.0 | 100 | n2

-- A partial update with an insert beside it.
MERGE INTO mor t USING (SELECT 2 AS id, 'b2' AS name, 500L AS ts UNION ALL SELECT 9, 'i', 500) s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET name = s.name, ts = s.ts WHEN NOT MATCHED THEN INSERT (id, name, ts) VALUES (s.id, s.name, s.ts);
--> ok

SELECT id, name, price, ts, note FROM mor;
--> id int, name string, price double, ts bigint, note string
--> 1 | a2 | 12.5 | 400 | n1
--> 2 | b2 | 20.0 | 500 | n2
--> 9 | i | NULL | 500 | NULL

-- [late_partial]
MERGE INTO mor t USING (SELECT 2 AS id, 'late' AS name, 50L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name, ts = s.ts;
--> ok

-- [after_late_partial]
SELECT id, name, price, ts, note FROM mor WHERE id = 2;
--> id int, name string, price double, ts bigint, note string
--> 2 | b2 | 20.0 | 500 | n2

UPDATE mor SET note = 'updated', ts = 600 WHERE id = 1;
--> ok

SELECT id, name, price, ts, note FROM mor WHERE id = 1;
--> id int, name string, price double, ts bigint, note string
--> 1 | a2 | 12.5 | 600 | updated

-- [schedule]
CALL run_compaction(op => 'schedule', table => 'mor');
--> timestamp string, operation_size int, state string

-- [run]
CALL run_compaction(op => 'run', table => 'mor');
--> timestamp string, operation_size int, state string

SELECT id, name, price, ts, note FROM mor WHERE id <> 2;
--> id int, name string, price double, ts bigint, note string
--> 1 | a2 | 12.5 | 600 | updated
--> 9 | i | NULL | 500 | NULL

-- [without_ordering_field]
CREATE TABLE simple (id INT, name STRING, price DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor');
--> ok

INSERT INTO simple VALUES (1, 'a', 10);
--> ok

-- [partial_without_ordering_field]
MERGE INTO simple t USING (SELECT 1 AS id, 12.5D AS price) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = s.price;
--> ok

-- [after_partial_without_ordering_field]
SELECT id, name, price FROM simple;
--> id int, name string, price double
--> 1 | a | 12.5

-- Null means: keep what is there.
CREATE TABLE filled (id INT, name STRING, price DOUBLE, ts BIGINT) USING hudi
  TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'cow', hoodie.datasource.write.payload.class = 'org.apache.hudi.common.model.PartialUpdateAvroPayload');
--> ok

INSERT INTO filled VALUES (1, 'a', 10, 100), (2, 'b', 20, 100);
--> ok

SET hoodie.spark.sql.insert.into.operation = upsert;
--> ok

INSERT INTO filled VALUES (1, NULL, 11, 200), (2, 'b2', NULL, 50);
--> ok

SELECT id, name, price, ts FROM filled;
--> id int, name string, price double, ts bigint
--> 1 | a | 11.0 | 200
--> 2 | b | 20.0 | 100
