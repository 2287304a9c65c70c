-- RUN, SCHEDULE and SHOW COMPACTION, and reads beside a pending one.
SET hoodie.compact.inline = false;
--> ok

SET hoodie.compact.inline.max.delta.commits = 1;
--> ok

CREATE TABLE logs (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor');
--> ok

INSERT INTO logs VALUES (1, 'a', 1), (2, 'b', 1);
--> ok

UPDATE logs SET name = 'a2', ts = 2 WHERE id = 1;
--> ok

SCHEDULE COMPACTION ON logs;
--> ok

SHOW COMPACTION ON logs;
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | REQUESTED

-- What is written meanwhile goes to the next file slice.
UPDATE logs SET name = 'b2', ts = 2 WHERE id = 2;
--> ok

SELECT id, name FROM logs;
--> id int, name string
--> 1 | a2
--> 2 | b2

SELECT id, name FROM hudi_query('logs', 'read_optimized');
--> id int, name string
--> 1 | a
--> 2 | b

RUN COMPACTION ON logs;
--> ok

SHOW COMPACTION ON '{folder}/logs' LIMIT 1;
--> timestamp string, operation_size int, state string
--> <time 1> | 1 | COMPLETED

SELECT id, name FROM logs;
--> id int, name string
--> 1 | a2
--> 2 | b2

SELECT id, name FROM hudi_query('logs', 'read_optimized');
--> id int, name string
--> 1 | a2
--> 2 | b

SCHEDULE COMPACTION ON '{folder}/logs';
--> ok

RUN COMPACTION ON '{folder}/logs';
--> ok

SELECT id, name FROM hudi_query('logs', 'read_optimized');
--> id int, name string
--> 1 | a2
--> 2 | b2

SHOW COMPACTION ON nowhere;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

RUN COMPACTION ON nowhere;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

RUN COMPACTION OF logs;
--> error [PARSE_SYNTAX_ERROR] Syntax error at or near 'RUN'.(line 1, pos 0)

SHOW COMPACTION ON logs LIMIT many;
--> error [PARSE_SYNTAX_ERROR] Syntax error at or near 'ON': missing 'FUNCTIONS'.(line 1, pos 16)
