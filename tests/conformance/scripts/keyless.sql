-- Tables without a primary key.
CREATE TABLE events (who STRING, what STRING, n INT) USING hudi;
--> ok

INSERT INTO events VALUES ('ann', 'in', 1), ('ann', 'in', 1), ('bob', 'out', 2);
--> ok

SELECT who, what, n FROM events;
--> who string, what string, n int
--> ann | in | 1
--> ann | in | 1
--> bob | out | 2

SELECT count(DISTINCT _hoodie_record_key) AS keys FROM events;
--> keys bigint
--> 3

UPDATE events SET n = n + 10 WHERE who = 'bob';
--> ok

DELETE FROM events WHERE what = 'in' AND n = 1;
--> ok

SELECT who, what, n FROM events;
--> who string, what string, n int
--> bob | out | 12

MERGE INTO events t USING (SELECT 'bob' AS who, 'back' AS what, 5 AS n UNION ALL SELECT 'cid', 'in', 7) s ON t.who = s.who
  WHEN MATCHED THEN UPDATE SET what = s.what WHEN NOT MATCHED THEN INSERT *;
--> ok

SELECT who, what, n FROM events;
--> who string, what string, n int
--> bob | back | 12
--> cid | in | 7

-- Another column than the first decides.
MERGE INTO events t USING (SELECT 7 AS n) s ON t.n = s.n WHEN MATCHED THEN DELETE;
--> ok

-- [after_delete]
SELECT who, what, n FROM events;
--> who string, what string, n int
--> bob | back | 12
--> cid | in | 7

INSERT OVERWRITE events SELECT 'dee', 'over', 9;
--> ok

SELECT who, what, n FROM events;
--> who string, what string, n int
--> dee | over | 9

CREATE TABLE parted (who STRING, n INT, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (type = 'mor');
--> ok

INSERT INTO parted VALUES ('ann', 1, 'mon'), ('bob', 2, 'tue'), ('ann', 1, 'mon');
--> ok

UPDATE parted SET n = 20 WHERE day = 'tue';
--> ok

DELETE FROM parted WHERE who = 'ann';
--> ok

SELECT who, n, day, _hoodie_partition_path FROM parted;
--> who string, n int, day string, _hoodie_partition_path string
--> bob | 20 | tue | day=tue

MERGE INTO parted t USING (SELECT 'bob' AS who, 21 AS n, 'tue' AS day UNION ALL SELECT 'eve', 5, 'wed') s ON t.who = s.who AND t.day = s.day
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

SELECT who, n, day FROM parted;
--> who string, n int, day string
--> bob | 21 | tue
--> eve | 5 | wed

SELECT count(*) AS n FROM hudi_table_changes('parted', 'latest_state', 'earliest');
--> n bigint
--> 2
