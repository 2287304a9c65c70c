"""Statements in the order and form of Apache Hudi's pages (quick start of 0.13, 0.15, 1.0 and 1.1 on SQL, SQL DDL, SQL DML), with answers.

What differs on purpose is in docs/differences.md. The Python tabs are in test_quick_start.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi.errors import UsageError

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = "ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING"
TRIPS = """(1695159649, 'u1', 'rider-A', 'driver-K', 19.10, 'san_francisco'),
(1695046462, 'u2', 'rider-D', 'driver-L', 33.90, 'san_francisco'),
(1695332066, 'u3', 'rider-E', 'driver-O', 93.50, 'san_francisco'), (1695516137, 'u4', 'rider-F', 'driver-P', 34.15, 'sao_paulo'),
(1695173887, 'u5', 'rider-I', 'driver-S', 41.06, 'chennai')"""


class Script:
    """Runs statements in a database of its own, whose tables it drops at the end."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def __call__(self, text: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.spark.sql(text).collect()]

    def all(self, text: str) -> None:
        for statement in text.split(";"):
            if statement.strip():
                self(statement)


@pytest.fixture
def script(spark: SparkSession, tmp_path: Path):
    spark.sql(f"CREATE DATABASE pages LOCATION '{tmp_path}/pages'")
    spark.sql("USE pages")
    yield Script(spark)
    spark.sql("USE default")
    spark.sql("DROP DATABASE pages CASCADE")


def test_quick_start_since_0_14(script: Script) -> None:
    script.all(f"""
        CREATE TABLE hudi_table ({COLUMNS}) USING HUDI PARTITIONED BY (city);
        INSERT INTO hudi_table VALUES {TRIPS};
        UPDATE hudi_table SET fare = 25.0 WHERE rider = 'rider-D';
        CREATE TABLE fare_adjustment ({COLUMNS}) USING HUDI;
        INSERT INTO fare_adjustment VALUES (1695332066, 'u3', 'rider-E', 'driver-O', -2.70, 'san_francisco'),
            (1695530237, 'u9', 'rider-K', 'driver-U', 64.20, 'san_francisco');
        MERGE INTO hudi_table AS target USING fare_adjustment AS source ON target.uuid = source.uuid
        WHEN MATCHED THEN UPDATE SET target.fare = target.fare + source.fare WHEN NOT MATCHED THEN INSERT *
    """)
    assert script("SELECT round(fare, 2) FROM hudi_table WHERE uuid IN ('u2', 'u3', 'u9') ORDER BY uuid") == [(25.0,), (90.8,), (64.2,)]
    script("""MERGE INTO hudi_table AS target USING fare_adjustment AS source ON target.uuid = source.uuid
        WHEN MATCHED THEN UPDATE SET fare = source.fare WHEN NOT MATCHED THEN INSERT *""")
    script("DELETE FROM hudi_table WHERE uuid = 'u9'")
    assert script("SELECT count(*), min(fare) FROM hudi_table") == [(5, -2.7)]
    for time in ("20220307091628793", "2022-03-07 09:16:28.100", "2022-03-08", "202203070916"):
        assert script(f"SELECT * FROM hudi_table TIMESTAMP AS OF '{time}'") == []
    changes = "SELECT count(*) FROM hudi_table_changes('{}', 'latest_state', {})"
    assert script(changes.format("pages.hudi_table", "'earliest'")) == [(5,)]
    assert script(changes.format("hudi_table", "'earliest', '202305160000'")) == [(0,)]
    assert script(changes.format("hudi_table", "'202305150000', '202305160000'")) == [(0,)]
    assert script(changes.format("hudi_table", "'202305150000'")) == [(5,)]


@pytest.mark.parametrize(
    "properties", ["type = 'mor'", "primaryKey = 'uuid'", "preCombineField = 'ts'", "hoodie.table.cdc.enabled = 'true'"]
)
def test_quick_start_on_tables_of_each_kind(script: Script, properties: str) -> None:
    script.all(f"""
        CREATE TABLE hudi_table ({COLUMNS}) USING HUDI TBLPROPERTIES ({properties}) PARTITIONED BY (city);
        INSERT INTO hudi_table VALUES {TRIPS};
        UPDATE hudi_table SET fare = 25.0 WHERE rider = 'rider-D';
        DELETE FROM hudi_table WHERE uuid = 'u5'
    """)
    assert script("SELECT count(*), min(fare) FROM hudi_table") == [(4, 19.1)]
    if "cdc" in properties:
        assert {row[0] for row in script("SELECT op FROM hudi_table_changes('hudi_table', 'cdc', 'earliest')")} == {"i", "u", "d"}


def test_indexes_of_the_quick_start(script: Script) -> None:
    script.all(f"""
        CREATE TABLE hudi_indexed_table ({COLUMNS}) USING HUDI
        OPTIONS (primaryKey = 'uuid', hoodie.write.record.merge.mode = "COMMIT_TIME_ORDERING") PARTITIONED BY (city);
        INSERT INTO hudi_indexed_table VALUES {TRIPS};
        SET hoodie.write.lock.provider = org.apache.hudi.client.transaction.lock.InProcessLockProvider;
        CREATE INDEX idx_bloom_driver ON hudi_indexed_table USING bloom_filters(driver) OPTIONS(expr='identity');
        CREATE INDEX idx_column_ts ON hudi_indexed_table USING column_stats(ts) OPTIONS(expr='from_unixtime', format = 'yyyy-MM-dd');
        SET hoodie.metadata.record.index.enable=true;
        CREATE INDEX record_index ON hudi_indexed_table (uuid);
        CREATE INDEX idx_rider ON hudi_indexed_table (rider)
    """)
    names = {row[0] for row in script("SHOW INDEXES FROM hudi_indexed_table")}
    assert {"expr_index_idx_bloom_driver", "expr_index_idx_column_ts", "record_index", "secondary_index_idx_rider"} <= names
    assert script("SELECT uuid FROM hudi_indexed_table WHERE driver = 'driver-S'") == [("u5",)]
    assert script("SELECT uuid FROM hudi_indexed_table WHERE rider = 'rider-E'") == [("u3",)]
    script("UPDATE hudi_indexed_table SET rider = 'rider-B', driver = 'driver-N', ts = '1697516137' WHERE rider = 'rider-A'")
    for condition in ("from_unixtime(ts, 'yyyy-MM-dd') = '2023-10-17'", "driver = 'driver-N'", "rider = 'rider-B'"):
        assert script(f"SELECT uuid FROM hudi_indexed_table WHERE {condition}") == [("u1",)]
    with pytest.raises(UsageError, match="drop that first"):
        script("DROP INDEX record_index on hudi_indexed_table")
    for name in ("secondary_index_idx_rider", "record_index", "expr_index_idx_bloom_driver", "expr_index_idx_column_ts"):
        script(f"DROP INDEX {name} on hudi_indexed_table")
    assert names - {row[0] for row in script("SHOW INDEXES FROM hudi_indexed_table")} >= {"record_index", "secondary_index_idx_rider"}
    for name in ("hoodie.metadata.record.index.enable", "hoodie.write.lock.provider"):
        script(f"RESET {name}")


def test_quick_start_of_0_13_and_the_page_about_dml(script: Script) -> None:
    script.all("""
        create table cow_tbl (uuid int, name string, price double) using hudi tblproperties (primaryKey = 'uuid');
        create table mor_tbl (id int, name string, price double, ts bigint) using hudi
            tblproperties (type = 'mor', primaryKey = 'id', preCombineField = 'ts');
        create table pt_tbl (id bigint, name string, ts bigint, dt string, hh string) using hudi
            tblproperties (type = 'cow', primaryKey = 'id', preCombineField = 'ts') partitioned by (dt, hh);
        insert into cow_tbl select 1, 'a1', 20;
        insert into mor_tbl select 1, 'a1', 20, 1000;
        insert into pt_tbl partition (dt, hh) select 1 as id, 'a1' as name, 1000 as ts, '2021-12-09' as dt, '10' as hh;
        insert into pt_tbl partition(dt = '2021-12-09', hh='11') select 2, 'a2', 1000;
        set hoodie.spark.sql.insert.into.operation = upsert;
        insert into mor_tbl select 1, 'a1_1', 20, 1001;
        reset hoodie.spark.sql.insert.into.operation
    """)  # the page says that this is the default; Apache Hudi 1.2.0 keeps both rows without the setting, as pyhudi does
    assert script("select id, name, price, ts from mor_tbl") == [(1, "a1_1", 20.0, 1001)]
    script.all("""
        update mor_tbl set price = price * 2, ts = 1111 where id = 1;
        update pt_tbl set name = 'a1_1', ts = 1001 where id = 1;
        create table merge_source (id int, name string, price double, ts bigint) using hudi
            tblproperties (primaryKey = 'id', preCombineField = 'ts');
        insert into merge_source values (1, "old_a1", 22.22, 900), (2, "new_a2", 33.33, 2000), (3, "new_a3", 44.44, 2000);
        merge into mor_tbl as target using merge_source as source on target.id = source.id
            when matched then update set * when not matched then insert *;
        create table merge_source2 (id int, name string, flag string, dt string, hh string) using parquet;
        insert into merge_source2 values (1, "new_a1", 'update', '2021-12-09', '10'), (2, "new_a2", 'delete', '2021-12-09', '11'),
            (3, "new_a3", 'insert', '2021-12-09', '12');
        merge into pt_tbl as target using (select id, name, '1000' as ts, flag, dt, hh from merge_source2) source on target.id = source.id
            when matched and flag != 'delete' then
                update set id = source.id, name = source.name, ts = source.ts, dt = source.dt, hh = source.hh
            when matched and flag = 'delete' then delete
            when not matched then insert (id, name, ts, dt, hh) values(source.id, source.name, source.ts, source.dt, source.hh)
    """)
    assert script("select id, price from mor_tbl order by id") == [(1, 40.0), (2, 33.33), (3, 44.44)]
    assert script("select id, name, ts from pt_tbl order by id") == [(1, "a1_1", 1001), (3, "new_a3", 1000)]  # the older row lost
    script.all("""
        delete from mor_tbl where id % 2 = 0;
        insert overwrite mor_tbl select 99, 'a99', 20.0, 900;
        insert overwrite table pt_tbl select 10, 'a10', 1100, '2021-12-09', '10';
        insert overwrite pt_tbl partition(dt = '2021-12-09', hh='12') select 13, 'a13', 1100;
        ALTER TABLE cow_tbl RENAME TO cow_tbl2;
        ALTER TABLE cow_tbl2 add columns(remark string);
        alter table cow_tbl2 set tblproperties (hoodie.keep.max.commits = '40');
        alter table pt_tbl drop partition (dt='2021-12-09', hh='12')
    """)
    assert script("select id from mor_tbl") == [(99,)]
    assert script("select id from pt_tbl") == [(10,)]
    assert script("select uuid, remark from cow_tbl2") == [(1, None)]
    assert len(script("call show_commits(table => 'pt_tbl', limit => 10)")) >= 4


def test_page_about_ddl(script: Script, tmp_path: Path) -> None:
    script.all(f"""
        CREATE TABLE parquet_table USING parquet LOCATION 'file://{tmp_path}/rows'
            AS SELECT 1 AS id, 'a' AS name, 10 AS ts, '2021-01-01' AS dt;
        CREATE TABLE ctas USING hudi TBLPROPERTIES (type = 'cow', preCombineField = 'ts') PARTITIONED BY (dt)
            AS SELECT * FROM parquet_table;
        CREATE TABLE keyed USING hudi TBLPROPERTIES (primaryKey = 'id') PARTITIONED BY (dt) AS SELECT 1 AS id, 'a1' AS name, 1000 AS dt;
        CREATE TABLE outside USING hudi LOCATION 'file://{tmp_path}/outside/' TBLPROPERTIES (type = 'cow') AS SELECT * FROM parquet_table;
        CREATE TABLE external_table USING hudi LOCATION 'file://{tmp_path}/outside/';
        ALTER TABLE ctas SET TBLPROPERTIES ("note" = "don't drop this table");
        ALTER TABLE ctas UNSET TBLPROPERTIES IF EXISTS ('note');
        ALTER TABLE ctas SET SERDEPROPERTIES ('key1' = 'value1');
        set hoodie.insert.shuffle.parallelism = 100
    """)
    script("RESET hoodie.insert.shuffle.parallelism")
    for name in ("ctas", "outside", "external_table"):
        assert script(f"SELECT id, name, dt FROM {name}") == [(1, "a", "2021-01-01")]
    assert script("SHOW PARTITIONS keyed") == [("dt=1000",)]
    assert ("type", "cow") in script("SHOW TBLPROPERTIES external_table")
    assert "USING hudi" in str(script("SHOW CREATE TABLE external_table")[0][0])
