-- Change data: each row that was inserted, updated or deleted, with its images.
CREATE TABLE accounts (id INT, name STRING, amount DOUBLE, ts BIGINT) USING hudi
  TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', hoodie.table.cdc.enabled = 'true', hoodie.table.cdc.supplemental.logging.mode = 'DATA_BEFORE_AFTER');
--> ok

INSERT INTO accounts VALUES (1, 'ann', 10.5, 1), (2, 'bob', 20, 1);
--> ok

UPDATE accounts SET amount = 11, ts = 2 WHERE id = 1;
--> ok

DELETE FROM accounts WHERE id = 2;
--> ok

MERGE INTO accounts t USING (SELECT 1 AS id, 'anna' AS name, 12.0D AS amount, 3L AS ts UNION ALL SELECT 3, 'cid', 30, 3) s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

-- let a = completed accounts 1
-- let b = completed accounts 2
-- let c = completed accounts 3
SELECT op, get_json_object(before, '$.name') AS old_name, get_json_object(before, '$.amount') AS old_amount,
    get_json_object(after, '$.name') AS new_name, get_json_object(after, '$.amount') AS new_amount
  FROM hudi_table_changes('accounts', 'cdc', 'earliest');
--> op string, old_name string, old_amount string, new_name string, new_amount string
--> d | bob | 20.0 | NULL | NULL
--> i | NULL | NULL | ann | 10.5
--> i | NULL | NULL | bob | 20.0
--> i | NULL | NULL | cid | 30.0
--> u | ann | 10.5 | ann | 11.0
--> u | ann | 11.0 | anna | 12.0

SELECT op, get_json_object(before, '$.id') AS old_id, get_json_object(after, '$.id') AS new_id FROM hudi_table_changes('accounts', 'cdc', '{a}');
--> op string, old_id string, new_id string
--> d | 2 | NULL
--> i | NULL | 3
--> u | 1 | 1
--> u | 1 | 1

SELECT op, get_json_object(before, '$.id') AS old_id, get_json_object(after, '$.id') AS new_id FROM hudi_table_changes('accounts', 'cdc', '{b}', '{c}');
--> op string, old_id string, new_id string
--> d | 2 | NULL

-- let last = completed accounts -1
SELECT op FROM hudi_table_changes('accounts', 'cdc', '{last}');
--> op string

-- [images]
-- mask ts_ms
SELECT op, ts_ms, before, after FROM hudi_table_changes('accounts', 'cdc', '{b}', '{c}');
--> op string, ts_ms string, before string, after string
--> d | * | {"id": 2, "name": "bob", "amount": 20.0, "ts": 1} | null

CREATE TABLE keys_only (id INT, name STRING, ts BIGINT, day STRING) USING hudi PARTITIONED BY (day)
  TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor', hoodie.table.cdc.enabled = 'true', hoodie.table.cdc.supplemental.logging.mode = 'OP_KEY_ONLY');
--> ok

INSERT INTO keys_only VALUES (1, 'a', 1, 'mon'), (2, 'b', 1, 'tue');
--> ok

UPDATE keys_only SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

DELETE FROM keys_only WHERE id = 2;
--> ok

-- let a = completed keys_only 1
SELECT op, get_json_object(before, '$.name') AS old_name, get_json_object(after, '$.name') AS new_name FROM hudi_table_changes('keys_only', 'cdc', '{a}');
--> op string, old_name string, new_name string
--> d | b | NULL
--> u | a | a2

SELECT id, name FROM hudi_table_changes('keys_only', 'latest_state', '{a}');
--> id int, name string
--> 1 | a2

INSERT OVERWRITE keys_only PARTITION (day = 'mon') SELECT 5, 'e', 5;
--> ok

-- let c = completed keys_only 3
SELECT op, get_json_object(before, '$.name') AS old_name, get_json_object(after, '$.name') AS new_name FROM hudi_table_changes('keys_only', 'cdc', '{c}');
--> op string, old_name string, new_name string
--> d | a2 | NULL
--> i | NULL | e
