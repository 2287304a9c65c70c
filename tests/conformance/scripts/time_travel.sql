-- TIMESTAMP AS OF in its forms, on both table types.
CREATE TABLE prices (id INT, name STRING, price DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO prices VALUES (1, 'a', 10), (2, 'b', 20);
--> ok

UPDATE prices SET price = 11 WHERE id = 1;
--> ok

DELETE FROM prices WHERE id = 2;
--> ok

-- let first = instant prices 1
-- let second = instant prices 2
-- let third = instant prices 3
SELECT id, price FROM prices TIMESTAMP AS OF '{first}';
--> id int, price double
--> 1 | 10.0
--> 2 | 20.0

SELECT id, price FROM prices TIMESTAMP AS OF '{second}';
--> id int, price double
--> 1 | 11.0
--> 2 | 20.0

SELECT id, price FROM prices TIMESTAMP AS OF '{third}';
--> id int, price double
--> 1 | 11.0

SELECT id, price FROM prices FOR SYSTEM_TIME AS OF '{first}';
--> id int, price double
--> 1 | 10.0
--> 2 | 20.0

SELECT p.id, p.price - q.price AS change FROM prices TIMESTAMP AS OF '{second}' p JOIN prices TIMESTAMP AS OF '{first}' q ON p.id = q.id;
--> id int, change double
--> 1 | 1.0
--> 2 | 0.0

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '2020-01-01';
--> n bigint
--> 0

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '2020-01-01 10:00:00';
--> n bigint
--> 0

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '2020-01-01 10:00:00.123';
--> n bigint
--> 0

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '20200101100000';
--> n bigint
--> 0

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '2100-01-01';
--> n bigint
--> 1

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '2100-01-01 10:00:00';
--> n bigint
--> 1

SELECT count(*) AS n FROM prices TIMESTAMP AS OF '21000101100000';
--> n bigint
--> 1

-- [bad_time]
SELECT count(*) AS n FROM prices TIMESTAMP AS OF 'yesterday';
--> error Unsupported query instant time format: yesterday. Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-MM-d

-- [version_as_of]
SELECT id, price FROM prices VERSION AS OF '{first}';
--> error Version expression is not supported for time travel

SELECT id FROM nowhere TIMESTAMP AS OF '2020-01-01';
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

-- [expression]
SELECT count(*) AS n FROM prices TIMESTAMP AS OF current_timestamp() + INTERVAL 1 DAY;
--> error Unsupported query instant time format: cast(current_timestamp() + INTERVAL '1' DAY as timestamp). Supported time formats are: 'yyyyMMddHHmmss[SSS]', 'yyyy

CREATE TABLE logs (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO logs VALUES (1, 'a', 1), (2, 'b', 1);
--> ok

UPDATE logs SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

DELETE FROM logs WHERE id = 2;
--> ok

-- let first = instant logs 1
-- let second = instant logs 2
SELECT id, name FROM logs TIMESTAMP AS OF '{first}';
--> id int, name string
--> 1 | a
--> 2 | b

SELECT id, name FROM logs TIMESTAMP AS OF '{second}';
--> id int, name string
--> 1 | a2
--> 2 | b

SELECT id, name FROM logs;
--> id int, name string
--> 1 | a2

INSERT OVERWRITE prices SELECT 5, 'e', 50;
--> ok

-- let before = instant prices 3
SELECT id, price FROM prices TIMESTAMP AS OF '{before}';
--> id int, price double
--> 1 | 11.0

SELECT id, price FROM prices;
--> id int, price double
--> 5 | 50.0
