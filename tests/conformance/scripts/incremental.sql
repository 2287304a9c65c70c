-- hudi_table_changes(..., 'latest_state', begin [, end]): begin is exclusive, end inclusive, both in completion time.
CREATE TABLE orders (id INT, state STRING, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO orders VALUES (1, 'new', 'mon'), (2, 'new', 'mon');
--> ok

INSERT INTO orders VALUES (3, 'new', 'tue');
--> ok

UPDATE orders SET state = 'paid' WHERE id = 1;
--> ok

DELETE FROM orders WHERE id = 2;
--> ok

-- let a = completed orders 1
-- let b = completed orders 2
-- let c = completed orders 3
-- let d = completed orders 4
SELECT id, state, day FROM hudi_table_changes('orders', 'latest_state', 'earliest');
--> id int, state string, day string
--> 1 | paid | mon
--> 3 | new | tue

SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '000');
--> id int, state string
--> 1 | paid
--> 3 | new

SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '{a}');
--> id int, state string
--> 1 | paid
--> 3 | new

SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '{a}', '{b}');
--> id int, state string
--> 3 | new

SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '{a}', '{c}');
--> id int, state string
--> 1 | paid
--> 3 | new

SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '{d}');
--> id int, state string

SELECT id, state FROM hudi_table_changes('{folder}/orders', 'latest_state', '{b}');
--> id int, state string
--> 1 | paid

SELECT c.id FROM hudi_table_changes('{database}.orders', 'latest_state', '{b}') c JOIN orders o ON c.id = o.id WHERE o.day = 'mon';
--> id int
--> 1

-- let requested = instant orders 3
SELECT id, state FROM hudi_table_changes('orders', 'latest_state', '{requested}');
--> id int, state string
--> 1 | paid

SELECT id FROM hudi_table_changes('orders', 'latest_state', '2020-01-01');
--> id int
--> 1
--> 3

SELECT id FROM hudi_table_changes('orders', 'latest_state', '2100-01-01');
--> id int

SELECT * FROM hudi_table_changes('orders', 'latest_state');
--> error Expect arguments (table_name or table_path, incremental_format, start_instant, [end_instant]) for function `hudi_table_changes`

SELECT * FROM hudi_table_changes('orders', 'all', 'earliest');
--> error 'hudi_table_changes' doesn't support `all`

SELECT * FROM hudi_table_changes('nowhere', 'latest_state', 'earliest');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_incremental`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and cat

SELECT * FROM hudi_table_changes('orders', 'cdc', 'earliest');
--> error It isn't a CDC hudi table on file:{folder}/orders

-- An insert_overwrite shows its rows, once.
INSERT OVERWRITE orders PARTITION (day = 'mon') SELECT 9, 'over';
--> ok

SELECT id, state, day FROM hudi_table_changes('orders', 'latest_state', '{d}');
--> id int, state string, day string
--> 9 | over | mon

SELECT id, state, day FROM hudi_table_changes('orders', 'latest_state', 'earliest');
--> id int, state string, day string
--> 3 | new | tue
--> 9 | over | mon

CREATE TABLE logs (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO logs VALUES (1, 'a', 1), (2, 'b', 1);
--> ok

UPDATE logs SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

UPDATE logs SET name = 'a3', ts = 3 WHERE id = 1;
--> ok

-- let a = completed logs 1
-- let b = completed logs 2
SELECT id, name FROM hudi_table_changes('logs', 'latest_state', '{a}');
--> id int, name string
--> 1 | a3

SELECT id, name FROM hudi_table_changes('logs', 'latest_state', '{a}', '{b}');
--> id int, name string
--> 1 | a2

SELECT id, name FROM hudi_table_changes('logs', 'latest_state', 'earliest', '{a}');
--> id int, name string
--> 1 | a
--> 2 | b
