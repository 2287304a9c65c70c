-- Hudi tables anywhere in a query: views, subqueries, joins with other tables, names, paths, meta columns.
CREATE TABLE rides (id INT, rider STRING, fare DOUBLE, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO rides VALUES (1, 'ann', 10, 'oslo'), (2, 'bob', 20, 'rome'), (3, 'ann', 30, 'rome');
--> ok

CREATE TABLE cities USING parquet AS SELECT 'oslo' AS city, 'Norway' AS land;
--> ok

SELECT r.id, c.land FROM rides r LEFT JOIN cities c ON r.city = c.city;
--> id int, land string
--> 1 | Norway
--> 2 | NULL
--> 3 | NULL

CREATE VIEW dear AS SELECT id, fare FROM rides WHERE fare > 15;
--> ok

SELECT * FROM dear;
--> id int, fare double
--> 2 | 20.0
--> 3 | 30.0

INSERT INTO rides VALUES (4, 'cid', 40, 'bern');
--> ok

SELECT * FROM dear;
--> id int, fare double
--> 2 | 20.0
--> 3 | 30.0
--> 4 | 40.0

CREATE TEMPORARY VIEW counted AS SELECT count(*) AS n FROM dear;
--> ok

SELECT n FROM counted;
--> n bigint
--> 3

WITH r AS (SELECT * FROM rides WHERE city = 'rome') SELECT rider, sum(fare) AS fares FROM r GROUP BY rider;
--> rider string, fares double
--> ann | 30.0
--> bob | 20.0

SELECT id FROM rides WHERE fare = (SELECT max(fare) FROM rides);
--> id int
--> 4

SELECT id FROM rides WHERE id IN (SELECT id FROM dear) AND city <> 'bern';
--> id int
--> 2
--> 3

SELECT `r`.`Rider` FROM {database}.`RIDES` AS `r` WHERE `ID` = 1;
--> Rider string
--> ann

SELECT /* a hint? */ id -- the key
  FROM rides /* the table */ WHERE id = 1;
--> id int
--> 1

SELECT _hoodie_record_key, _hoodie_partition_path, _hoodie_commit_time FROM rides;
--> _hoodie_record_key string, _hoodie_partition_path string, _hoodie_commit_time string
--> 1 | city=oslo | <time 1>
--> 2 | city=rome | <time 1>
--> 3 | city=rome | <time 1>
--> 4 | city=bern | <time 2>

SELECT _hoodie_file_name LIKE '%.parquet' AS parquet FROM rides WHERE id = 1;
--> parquet boolean
--> true

-- [by_path]
SELECT id FROM hudi.`{folder}/rides` WHERE city = 'rome';
--> error [UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY] Unsupported data source type for direct query on files: hudi; line 1 pos 15

SELECT city, count(*) AS n FROM rides GROUP BY city HAVING count(*) > 1;
--> city string, n bigint
--> rome | 2

SELECT id, row_number() OVER (PARTITION BY city ORDER BY fare DESC) AS place FROM rides;
--> id int, place int
--> 1 | 1
--> 2 | 2
--> 3 | 1
--> 4 | 1

SELECT nowhere FROM rides;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`rider`, `f

SELECT id FROM rides WHERE nowhere = 1;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `nowhere` cannot be resolved. Did you mean one of the following? [`rider`, `f

SELECT a.id FROM rides a JOIN rides b ON a.rider = b.rider AND a.id < b.id;
--> id int
--> 1

INSERT INTO cities SELECT DISTINCT city, 'somewhere' FROM rides WHERE city <> 'oslo';
--> ok

SELECT city, land FROM cities;
--> city string, land string
--> bern | somewhere
--> oslo | Norway
--> rome | somewhere

DROP VIEW dear;
--> ok

SELECT n FROM counted;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `dear` cannot be found. Verify the spelling and correctness of the schema and catalog.

DROP VIEW counted;
--> ok
