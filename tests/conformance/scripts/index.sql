-- CREATE, SHOW and DROP INDEX.
SET hoodie.metadata.enable = true;
--> ok

SET hoodie.write.lock.provider = org.apache.hudi.client.transaction.lock.InProcessLockProvider;
--> ok

CREATE TABLE rides (uuid STRING, rider STRING, city STRING, fare DOUBLE, ts BIGINT) USING hudi PARTITIONED BY (city)
  TBLPROPERTIES (primaryKey = 'uuid', preCombineField = 'ts', hoodie.metadata.global.record.level.index.enable = 'true');
--> ok

INSERT INTO rides (uuid, rider, fare, ts, city) VALUES ('r1', 'Ann', 10.5, 1700000000, 'oslo'), ('r2', 'Bob', 20.0, 1700100000, 'rome'), ('r3', 'Ann', 30.0, 1700200000, 'rome');
--> ok

CREATE INDEX idx_rider ON rides (rider);
--> ok

CREATE INDEX idx_day ON rides USING column_stats(ts) OPTIONS (expr = 'from_unixtime', format = 'yyyy-MM-dd');
--> ok

CREATE INDEX idx_lower ON rides USING bloom_filters(rider) OPTIONS (expr = 'lower');
--> ok

SHOW INDEXES FROM rides;
--> index_name string, index_type string, col_name string
--> column_stats | column_stats |
--> expr_index_idx_day | column_stats | ts
--> expr_index_idx_lower | bloom_filters | rider
--> partition_stats | partition_stats |
--> record_index | record_index |
--> secondary_index_idx_rider | secondary_index | rider

SELECT uuid, fare FROM rides WHERE rider = 'Ann';
--> uuid string, fare double
--> r1 | 10.5
--> r3 | 30.0

SELECT uuid FROM rides WHERE from_unixtime(ts, 'yyyy-MM-dd') = '2023-11-16';
--> uuid string
--> r2

SELECT uuid FROM rides WHERE lower(rider) = 'bob';
--> uuid string
--> r2

UPDATE rides SET rider = 'Cid', ts = ts + 1 WHERE uuid = 'r1';
--> ok

SELECT uuid FROM rides WHERE rider = 'Ann';
--> uuid string
--> r3

SELECT uuid FROM rides WHERE rider = 'Cid';
--> uuid string
--> r1

CREATE INDEX idx_rider ON rides (rider);
--> error org.apache.hudi.exception.HoodieMetadataIndexException: Index already exists: idx_rider

-- [if_not_exists]
CREATE INDEX IF NOT EXISTS idx_rider ON rides (rider);
--> error org.apache.hudi.exception.HoodieMetadataIndexException: Index already exists: idx_rider

CREATE INDEX idx_nowhere ON rides (nowhere);
--> error Missing field nowhere with schema:

CREATE INDEX idx_bad ON rides USING btree(rider);
--> error org.apache.hudi.exception.HoodieIndexException: btree is not supported

CREATE INDEX idx_bad ON rides USING column_stats(ts) OPTIONS (expr = 'sqrt_of');
--> error org.apache.hudi.exception.HoodieMetadataException: Failed to index partition [expr_index_idx_bad]

CREATE INDEX idx_none ON nowhere (rider);
--> error [TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. Verify the spelling and correctness of the schema and catalog.

DROP INDEX idx_rider ON rides;
--> ok

SHOW INDEXES IN rides;
--> index_name string, index_type string, col_name string
--> column_stats | column_stats |
--> expr_index_idx_day | column_stats | ts
--> expr_index_idx_lower | bloom_filters | rider
--> partition_stats | partition_stats |
--> record_index | record_index |

-- [after_drop]
SELECT uuid FROM rides WHERE rider = 'Ann';
--> uuid string

DROP INDEX idx_rider ON rides;
--> error org.apache.hudi.exception.HoodieIndexException: Index does not exist: idx_rider

DROP INDEX IF EXISTS idx_rider ON rides;
--> ok

DROP INDEX expr_index_idx_lower ON rides;
--> ok

DROP INDEX record_index ON rides;
--> ok

SHOW INDEXES FROM rides;
--> index_name string, index_type string, col_name string
--> column_stats | column_stats |
--> expr_index_idx_day | column_stats | ts
--> partition_stats | partition_stats |

SELECT uuid FROM rides WHERE uuid = 'r2';
--> uuid string
--> r2
