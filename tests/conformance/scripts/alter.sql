-- ALTER TABLE: columns without and with schema on read, names, properties, partitions.
CREATE TABLE growing (id INT, name STRING, amount INT) USING hudi TBLPROPERTIES (primaryKey = 'id');
--> ok

INSERT INTO growing VALUES (1, 'ann', 10);
--> ok

ALTER TABLE growing ADD COLUMNS (note STRING COMMENT 'free text', score DOUBLE);
--> ok

SELECT id, name, amount, note, score FROM growing;
--> id int, name string, amount int, note string, score double
--> 1 | ann | 10 | NULL | NULL

INSERT INTO growing VALUES (2, 'bob', 20, 'second', 2.5);
--> ok

SELECT id, name, amount, note, score FROM growing;
--> id int, name string, amount int, note string, score double
--> 1 | ann | 10 | NULL | NULL
--> 2 | bob | 20 | second | 2.5

DESCRIBE growing;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | NULL
--> amount | int | NULL
--> note | string | free text
--> score | double | NULL

ALTER TABLE growing ADD COLUMNS (name STRING);
--> error Columns: [name] already exists in the table, table columns is: [id,name,amount,note,score]

ALTER TABLE growing ALTER COLUMN amount COMMENT 'in cents';
--> ok

DESCRIBE growing;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string | NULL
--> _hoodie_commit_seqno | string | NULL
--> _hoodie_record_key | string | NULL
--> _hoodie_partition_path | string | NULL
--> _hoodie_file_name | string | NULL
--> id | int | NULL
--> name | string | NULL
--> amount | int | in cents
--> note | string | free text
--> score | double | NULL

-- [retype_without_schema_on_read]
ALTER TABLE growing ALTER COLUMN amount TYPE BIGINT;
--> error ALTER TABLE CHANGE COLUMN is not supported for changing column 'amount' with type 'IntegerType' to 'amount' with type 'LongType'

ALTER TABLE growing ALTER COLUMN note TYPE INT;
--> error ALTER TABLE CHANGE COLUMN is not supported for changing column 'note' with type 'StringType' to 'note' with type 'IntegerType'

ALTER TABLE growing RENAME COLUMN note TO remark;
--> error [UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table `spark_catalog`.`conformance_alter`.`growing` does not support RENAME COLUMN. Pl

ALTER TABLE growing DROP COLUMN note;
--> error [UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table `spark_catalog`.`conformance_alter`.`growing` does not support DROP COLUMN. Plea

ALTER TABLE nowhere ADD COLUMNS (x INT);
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

SET hoodie.schema.on.read.enable = true;
--> ok

SET hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true;
--> ok

CREATE TABLE evolving (id INT, name STRING, amount INT, place STRUCT<city: STRING, zip: INT>, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts');
--> ok

INSERT INTO evolving VALUES (1, 'ann', 10, named_struct('city', 'oslo', 'zip', 100), 1);
--> ok

ALTER TABLE evolving RENAME COLUMN name TO who;
--> ok

SELECT id, who, amount, place FROM evolving;
--> id int, who string, amount int, place struct<city: string, zip: int>
--> 1 | ann | 10 | {city: oslo, zip: 100}

ALTER TABLE evolving ALTER COLUMN amount TYPE BIGINT;
--> ok

ALTER TABLE evolving ADD COLUMNS (extra STRING AFTER who);
--> ok

INSERT INTO evolving (id, who, extra, amount, place, ts) VALUES (2, 'bob', 'x', 5000000000, named_struct('city', 'rome', 'zip', 200), 1);
--> ok

SELECT id, who, extra, amount, place, ts FROM evolving;
--> id int, who string, extra string, amount bigint, place struct<city: string, zip: int>, ts bigint
--> 1 | ann | NULL | 10 | {city: oslo, zip: 100} | 1
--> 2 | bob | x | 5000000000 | {city: rome, zip: 200} | 1

ALTER TABLE evolving ADD COLUMNS (place.street STRING);
--> ok

-- [move_first]
ALTER TABLE evolving ALTER COLUMN who FIRST;
--> error org.apache.hudi.internal.schema.HoodieSchemaException: forbid adjust top-level columns position by using through first syntax

-- [after_move_first]
DESCRIBE evolving;
--> col_name string, data_type string, comment string
--> _hoodie_commit_time | string |
--> _hoodie_commit_seqno | string |
--> _hoodie_record_key | string |
--> _hoodie_partition_path | string |
--> _hoodie_file_name | string |
--> id | int | NULL
--> who | string | NULL
--> extra | string | NULL
--> amount | bigint | NULL
--> place | struct<city:string,zip:int,street:string> | NULL
--> ts | bigint | NULL

ALTER TABLE evolving DROP COLUMN extra;
--> ok

SELECT who, id, amount, place.city, place.street FROM evolving;
--> who string, id int, amount bigint, city string, street string
--> ann | 1 | 10 | oslo | NULL
--> bob | 2 | 5000000000 | rome | NULL

ALTER TABLE evolving ADD COLUMNS (extra INT);
--> ok

-- A column dropped and added again comes back empty.
SELECT id, extra FROM evolving;
--> id int, extra int
--> 1 | NULL
--> 2 | NULL

-- [update_of_a_column_added_again]
UPDATE evolving SET extra = 7, ts = 2 WHERE id = 1;
--> error org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in a stage

-- [after_update]
SELECT id, who, amount, extra FROM evolving;
--> id int, who string, amount bigint, extra int
--> 1 | ann | 10 | NULL
--> 2 | bob | 5000000000 | NULL

ALTER TABLE evolving DROP COLUMN id;
--> error cannot support apply changes for primaryKey/orderingFields/partitionKey

ALTER TABLE evolving DROP COLUMN nowhere;
--> error Missing field nowhere in table spark_catalog.conformance_alter.evolving with schema:

ALTER TABLE evolving RENAME COLUMN who TO ts;
--> error org.apache.hudi.exception.SchemaCompatibilityException: Cannot rename column 'who' to 'ts' because a column with name 'ts' already exists in the schema

ALTER TABLE evolving ALTER COLUMN who TYPE INT;
--> error org.apache.hudi.exception.SchemaCompatibilityException: Cannot update column 'who' from type 'string' to incompatible type 'int'.

SET hoodie.schema.on.read.enable = false;
--> ok

ALTER TABLE growing SET TBLPROPERTIES (hoodie.parquet.max.file.size = '60000000', comment = 'grows');
--> ok

SHOW TBLPROPERTIES growing ('hoodie.parquet.max.file.size');
--> key string, value string
--> hoodie.parquet.max.file.size | 60000000

ALTER TABLE growing UNSET TBLPROPERTIES (hoodie.parquet.max.file.size);
--> ok

-- [rename]
ALTER TABLE growing RENAME TO grown;
--> ok

-- [after_rename]
SELECT id, name FROM grown;
--> id int, name string
--> 1 | ann
--> 2 | bob

SELECT id FROM growing;
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `growing` cannot be found. Verify the spelling and correctness of the schema and catalog.
