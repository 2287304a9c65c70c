-- MERGE INTO with its clauses.
CREATE TABLE stock (id INT, name STRING, price DOUBLE, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO stock VALUES (1, 'a', 10, 100), (2, 'b', 20, 100), (3, 'c', 30, 100);
--> ok

MERGE INTO stock t USING (SELECT 1 AS id, 'a2' AS name, 11.0D AS price, 200L AS ts UNION ALL SELECT 4, 'd', 40, 200) s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

SELECT id, name, price, ts FROM stock;
--> id int, name string, price double, ts bigint
--> 1 | a2 | 11.0 | 200
--> 2 | b | 20.0 | 100
--> 3 | c | 30.0 | 100
--> 4 | d | 40.0 | 200

-- A late row loses.
MERGE INTO stock t USING (SELECT 1 AS id, 'old' AS name, 1.0D AS price, 50L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *;
--> ok

SELECT id, name, ts FROM stock WHERE id = 1;
--> id int, name string, ts bigint
--> 1 | a2 | 200

MERGE INTO stock t USING (SELECT 2 AS id, 'x' AS name, 0.0D AS price, 300L AS ts, 'D' AS flag UNION ALL SELECT 3, 'c3', 33, 300, 'U'
    UNION ALL SELECT 5, 'e', 50, 300, 'U' UNION ALL SELECT 6, 'f', 60, 300, 'D') s ON t.id = s.id
  WHEN MATCHED AND flag = 'D' THEN DELETE
  WHEN MATCHED AND flag = 'U' THEN UPDATE SET name = s.name, price = t.price + s.price, ts = s.ts
  WHEN NOT MATCHED AND flag = 'U' THEN INSERT (id, name, ts) VALUES (s.id, concat(s.name, '!'), s.ts);
--> ok

SELECT id, name, price, ts FROM stock;
--> id int, name string, price double, ts bigint
--> 1 | a2 | 11.0 | 200
--> 3 | c3 | 63.0 | 300
--> 4 | d | 40.0 | 200
--> 5 | e! | NULL | 300

-- [other_key_name]
MERGE INTO stock t USING (SELECT 1 AS sid, 'renamed' AS n, 400L AS s_ts) s ON t.id = s.sid WHEN MATCHED THEN UPDATE SET name = n, ts = s_ts;
--> error MERGE INTO field resolution error: Failed to resolve primary key `id` w/in the source-table output

-- [after_other_key_name]
SELECT id, name, price, ts FROM stock WHERE id = 1;
--> id int, name string, price double, ts bigint
--> 1 | a2 | 11.0 | 200

-- Of several source rows with one key the one with the greatest ordering value wins.
MERGE INTO stock t USING (SELECT 7 AS id, 'g1' AS name, 1.0D AS price, 1L AS ts UNION ALL SELECT 7, 'g3', 3, 3 UNION ALL SELECT 7, 'g2', 2, 2) s
  ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

SELECT id, name, price, ts FROM stock WHERE id = 7;
--> id int, name string, price double, ts bigint
--> 7 | g3 | 3.0 | 3

-- [self_merge]
MERGE INTO stock USING stock AS s ON stock.id = s.id WHEN MATCHED AND s.id > 5 THEN DELETE;
--> error Invalid MERGE INTO matching condition: `(spark_catalog.conformance_merge.stock.id = s.id)`: expected condition should be 'target.id = <source-column-expr>

-- [after_self_merge]
SELECT id FROM stock;
--> id int
--> 1
--> 3
--> 4
--> 5
--> 7

CREATE TABLE unordered (id INT, name STRING, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id', type = 'mor');
--> ok

INSERT INTO unordered VALUES (1, 'a', 'mon'), (2, 'b', 'tue');
--> ok

MERGE INTO unordered t USING (SELECT 1 AS id, 'a2' AS name, 'mon' AS day UNION ALL SELECT 3, 'c', 'wed') s ON t.id = s.id AND t.day = s.day
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
--> ok

SELECT id, name, day FROM unordered;
--> id int, name string, day string
--> 1 | a2 | mon
--> 2 | b | tue
--> 3 | c | wed

MERGE INTO unordered t USING (SELECT 2 AS id, 'tue' AS day) s ON t.id = s.id WHEN MATCHED THEN DELETE;
--> ok

-- [after_delete]
SELECT id, name, day FROM unordered;
--> id int, name string, day string
--> 1 | a2 | mon
--> 2 | b | tue
--> 3 | c | wed

-- [source_twice]
MERGE INTO unordered t USING (SELECT 1 AS id, 'x' AS name, 'mon' AS day UNION ALL SELECT 1, 'y', 'mon') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *;
--> ok

-- [not_matched_by_source]
MERGE INTO unordered t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> ok

-- [after_not_matched_by_source]
SELECT id FROM unordered;
--> id int
--> 1
--> 2
--> 3

-- [key_update]
MERGE INTO stock t USING (SELECT 1 AS id, 9L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 77, ts = s.ts;
--> ok

MERGE INTO stock t USING (SELECT 1 AS id, 'x' AS name) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET nowhere = s.name;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name nowhere cannot be resolved. Did you mean one of the following? [t._hoodie_com

MERGE INTO stock t USING (SELECT 1 AS id, 'x' AS name) s ON t.id = s.nowhere WHEN MATCHED THEN DELETE;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `s`.`nowhere` cannot be resolved. Did you mean one of the following? [`s`.`na

MERGE INTO stock t USING nowhere s ON t.id = s.id WHEN MATCHED THEN DELETE;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

-- [on_no_key]
MERGE INTO stock t USING (SELECT 'a2' AS name, 900L AS ts) s ON t.name = s.name WHEN MATCHED THEN UPDATE SET price = 5, ts = s.ts;
--> error MERGE INTO field resolution error: Failed to resolve primary key `id` w/in the source-table output

-- [insert_star_without_columns]
MERGE INTO stock t USING (SELECT 8 AS id, 1L AS ts) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *;
--> error [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name name cannot be resolved. Did you mean one of the following? [s.id, s.ts].; li

-- [type_of_key]
MERGE INTO stock t USING (SELECT '1' AS id, 'x' AS name, 1.0D AS price, 900L AS ts) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *;
--> error MERGE INTO field type mismatch error: Primary key data type mismatch between source table and target table. Target table uses IntegerType for column 'id',
