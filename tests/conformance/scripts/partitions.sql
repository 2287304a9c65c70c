-- Partitions: shown, pruned, dropped; values of the default partition.
CREATE TABLE visits (id INT, who STRING, city STRING, day DATE) USING hudi
  TBLPROPERTIES (primaryKey = 'id') PARTITIONED BY (city, day);
--> ok

INSERT INTO visits VALUES (1, 'ann', 'oslo', DATE '2026-11-01'), (2, 'bob', 'rome', DATE '2026-11-01');
--> ok

INSERT INTO visits PARTITION (city = 'oslo', day = '2026-11-02') SELECT 3, 'cid';
--> ok

SHOW PARTITIONS visits;
--> partition string
--> city=oslo/day=2026-11-01
--> city=oslo/day=2026-11-02
--> city=rome/day=2026-11-01

SHOW PARTITIONS visits PARTITION (city = 'oslo');
--> partition string
--> city=oslo/day=2026-11-01
--> city=oslo/day=2026-11-02

SELECT id, who, city, day, _hoodie_partition_path FROM visits WHERE city = 'oslo';
--> id int, who string, city string, day date, _hoodie_partition_path string
--> 1 | ann | oslo | 2026-11-01 | city=oslo/day=2026-11-01
--> 3 | cid | oslo | 2026-11-02 | city=oslo/day=2026-11-02

ALTER TABLE visits DROP PARTITION (city = 'oslo');
--> error All partition columns need to be specified for Hoodie's partition

ALTER TABLE visits DROP PARTITION (city = 'oslo', day = '2026-11-01');
--> ok

SELECT _hoodie_commit_time, id, city, day FROM visits;
--> _hoodie_commit_time string, id int, city string, day date
--> <time 1> | 2 | rome | 2026-11-01
--> <time 2> | 3 | oslo | 2026-11-02

INSERT INTO visits (id, who, city) VALUES (4, 'dee', 'bern');
--> ok

SELECT id, city, day, _hoodie_partition_path FROM visits WHERE id = 4;
--> id int, city string, day date, _hoodie_partition_path string
--> 4 | bern | NULL | city=bern/day=__HIVE_DEFAULT_PARTITION__

SELECT count(*) FROM nowhere;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

CREATE TABLE added (id INT, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id');
--> ok

ALTER TABLE added ADD PARTITION (day = 'mon');
--> ok

-- [after_add]
SHOW PARTITIONS added;
--> partition string
--> day=mon

MSCK REPAIR TABLE added;
--> ok

-- [after_repair]
SHOW PARTITIONS added;
--> partition string
--> day=mon

INSERT INTO added VALUES (1, 'tue');
--> ok

-- [after_insert]
SHOW PARTITIONS added;
--> partition string
--> day=mon
--> day=tue

-- [drop_unknown]
ALTER TABLE added DROP PARTITION (day = 'sun');
--> ok

-- [drop_twice]
ALTER TABLE added DROP IF EXISTS PARTITION (day = 'sun');
--> ok

TRUNCATE TABLE added PARTITION (day = 'tue');
--> ok

SELECT id FROM added;
--> id int

-- [after_truncate]
SHOW PARTITIONS added;
--> partition string
--> day=mon

CREATE TABLE numbered (id INT, year INT, month INT) USING hudi PARTITIONED BY (year, month) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO numbered VALUES (1, 2026, 1), (2, 2026, 11), (3, 2025, 1);
--> ok

SELECT id, year, month FROM numbered WHERE year = 2026 AND month > 5;
--> id int, year int, month int
--> 2 | 2026 | 11

SELECT id, _hoodie_partition_path FROM numbered WHERE month = 1;
--> id int, _hoodie_partition_path string
--> 1 | year=2026/month=1
--> 3 | year=2025/month=1

SELECT year, count(*) AS n FROM numbered GROUP BY year;
--> year int, n bigint
--> 2025 | 1
--> 2026 | 2
