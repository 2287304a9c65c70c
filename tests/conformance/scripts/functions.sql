-- Table-valued functions that look at a table.
CREATE TABLE seen (id INT, name STRING, day STRING) USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id', type = 'mor');
--> ok

INSERT INTO seen VALUES (1, 'a', 'mon'), (2, 'b', 'tue');
--> ok

UPDATE seen SET name = 'a2' WHERE id = 1;
--> ok

SELECT id, name, day FROM hudi_query('seen', 'snapshot');
--> id int, name string, day string
--> 1 | a2 | mon
--> 2 | b | tue

SELECT id, name, day FROM hudi_query('seen', 'read_optimized');
--> id int, name string, day string
--> 1 | a | mon
--> 2 | b | tue

-- [query_by_path]
SELECT id, name FROM hudi_query('{folder}/seen', 'snapshot') WHERE day = 'mon';
--> error [PARSE_SYNTAX_ERROR] Syntax error at or near '/'.(line 1, pos 0)

-- [query_incremental]
SELECT * FROM hudi_query('seen', 'nonsense');
--> error 'hudi_query' doesn't currently support `nonsense`

SELECT * FROM hudi_query('seen');
--> error scala.MatchError: (ArrayBuffer(seen),ArrayBuffer()) (of class scala.Tuple2)

SELECT * FROM hudi_query('nowhere', 'snapshot');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_functions`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and catal

-- mask Total_Bytes_Written
SELECT * FROM hudi_query_timeline('seen');
--> Timestamp string, Action string, State string, Completion_Time string, File_Name string, Total_Bytes_Written bigint, Total_Files_Updated bigint, Total_Partitions_Written bigint, Total_Records_Written bigint, Total_Updated_Records_Written bigint, Total_Write_Errors bigint
--> <time 1> | deltacommit | COMPLETED | <time 2> | <time 1>_<time 2>.deltacommit | * | 0 | 2 | 2 | 0 | 0
--> <time 3> | deltacommit | COMPLETED | <time 4> | <time 3>_<time 4>.deltacommit | * | 1 | 1 | 1 | 1 | 0

-- [view_of_partition]
-- mask Base_File_Size, Log_File_Size, Log_File_Scheduled, Log_File_Unscheduled
SELECT * FROM hudi_filesystem_view('seen', 'day=mon');
--> File_ID string, Partition_Path string, Base_Instant_Time string, Base_File_Path string, Base_File_Size bigint, Log_File_Count bigint, Log_File_Size bigint, Log_File_Scheduled bigint, Log_File_Unscheduled bigint
--> <file> | day=mon | <time 1> | file:{folder}/seen/day=mon/<file>_<time 1>.parquet | * | 1 | * | * | *

-- [view_of_all]
SELECT Partition_Path, Log_File_Count FROM hudi_filesystem_view('seen');
--> Partition_Path string, Log_File_Count bigint

SELECT * FROM hudi_query_timeline('nowhere');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_functions`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and catal

SELECT * FROM hudi_filesystem_view('nowhere');
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `conformance_functions`.`nowhere` cannot be found. Verify the spelling and correctness of the schema and catal
