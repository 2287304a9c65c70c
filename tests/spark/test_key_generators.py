"""Key generators on Spark: keys and paths of Spark tasks are those of the local engine, SQL writes and reads tables of every generator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError
from pyhudi.keygen.user import register_key_generator
from tests.slow_cases import slow_cases

TIMES = "hoodie.keygen.timebased."
MILLIS = {TIMES + "timestamp.type": "EPOCHMILLISECONDS", TIMES + "output.dateformat": "yyyy/MM/dd", TIMES + "timezone": "Asia/Tokyo"}
DAYS = {TIMES + "timestamp.type": "DATE_STRING", TIMES + "input.dateformat": "yyyy-MM-dd HH:mm:ss", TIMES + "output.dateformat": "yyyyMM"}
KEYS = "_hoodie_record_key"
PATH = "_hoodie_partition_path"
ON_SPARK = {"pyhudi.engine": "spark"}
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "at": pa.int64(),
        "city": pa.string(),
        "ts": pa.timestamp("us", "UTC"),
        "day": pa.string(),
        "raw": pa.binary(),
        "deep": pa.struct({"x": pa.int32(), "y": pa.string()}),
    }
)
MOMENTS = (datetime(2024, 1, 15, 9, 30, 0, 123456, UTC), datetime(1960, 1, 15, 9, 30, 0, 500000, UTC))
ROWS = pa.Table.from_pylist(
    [
        {
            "id": "a",
            "at": 1578283932000,
            "city": "lima",
            "ts": MOMENTS[0],
            "day": "2024-01-15 10:00:00",
            "raw": b"\0\xff",
            "deep": {"x": 1, "y": "p/q"},
        },
        {"id": "b", "at": -1, "ts": MOMENTS[1], "day": "2024-02-15 10:00:00", "raw": b"1", "deep": {"x": 2}},
        {"id": "c", "city": "", "raw": b"2"},
    ],
    SCHEMA,
)


@pytest.mark.parametrize(
    ("keys", "partition_by", "options"),
    [
        pytest.param("id", "at", {"hoodie.datasource.write.keygenerator.type": "TIMESTAMP", **MILLIS}, marks=pytest.mark.slow),
        pytest.param("id,ts", "city:SIMPLE,day:TIMESTAMP", {**DAYS, TIMES + "timezone": "UTC"}, marks=pytest.mark.slow),
        pytest.param("id", "ts", {}, marks=pytest.mark.slow),
        ("id,raw", "deep.y,city", {"hoodie.datasource.write.partitionpath.urlencode": "true"}),
        pytest.param("deep.x,id", "deep.x:SIMPLE", {}, marks=pytest.mark.slow),
        pytest.param(
            "id,ts", "ts", {"hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled": "true"}, marks=pytest.mark.slow
        ),
    ],
)
def test_keys_and_paths_of_spark_tasks_are_those_of_the_local_engine(
    spark: SparkSession, tmp_path: Path, keys: str, partition_by: str, options: dict[str, str]
) -> None:
    rows = spark.createDataFrame(ROWS)
    made = {}
    for engine in ("spark", "local"):
        table = new_table(SCHEMA, tmp_path / engine, keys, partition_by, options)
        table.upsert(rows, options={"pyhudi.engine": engine})
        assert table.upsert(rows, options={"pyhudi.engine": engine}).inserted == 0
        made[engine] = sorted(table.to_arrow(columns=["id", KEYS, PATH]).to_pylist(), key=repr)
    assert made["spark"] == made["local"]
    assert len(made["local"]) == 3


def new_table(schema: pa.Schema, path: Path, keys: str, partition_by: str, options: dict[str, str]) -> HudiTable:
    return HudiTable.create(path, schema, name="t", keys=keys.split(","), partition_by=partition_by.split(","), options=options)


@pytest.mark.parametrize("table_type", slow_cases(["COPY_ON_WRITE", "MERGE_ON_READ"], {"COPY_ON_WRITE"}))
def test_global_delete_takes_keys_alone(spark: SparkSession, tmp_path: Path, table_type: str) -> None:
    schema = pa.schema({"id": pa.int64(), "p": pa.string(), "q": pa.float64()})
    left, anywhere = {}, {"hoodie.datasource.write.keygenerator.type": "GLOBAL_DELETE"}
    for engine in ("local", "spark"):
        table = HudiTable.create(tmp_path / engine, schema, name="t", keys=["id"], partition_by=["p", "q"], table_type=table_type)
        table.upsert([{"id": n, "p": "xyz"[n % 3], "q": 0.5} for n in range(9)])
        table.upsert([{"id": n, "p": "w", "q": 0.5} for n in range(2)])
        keys, on_engine = spark.sql("SELECT CAST(id AS BIGINT) AS id FROM VALUES (0), (1), (5), (77) AS v(id)"), {"pyhudi.engine": engine}
        with pytest.raises(KeyFieldError, match="The data lack the column 'p', a partition field of table t"):
            table.delete(keys, options=on_engine)
        result = table.delete(keys, options={**on_engine, **anywhere})
        assert result.engine == engine
        left[engine] = (result.deleted, sorted(table.to_arrow(columns=["id", "p"]).to_pylist(), key=repr))
    assert left["spark"] == left["local"]
    assert [row["id"] for row in left["local"][1]] == [2, 3, 4, 6, 7, 8]


def test_value_that_is_no_date_is_named_from_a_task(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql("SELECT 'a' AS id, 'someday' AS day")
    table = new_table(pa.schema({"id": pa.string(), "day": pa.string()}), tmp_path / "t", "id", "day:TIMESTAMP", DAYS)
    with pytest.raises(KeyFieldError, match=r"'someday' in the partition field 'day'"):
        table.upsert(rows, options=ON_SPARK)
    assert table.history().num_rows == 0


class ByFirst:
    def record_key(self, record: Any) -> str:
        return f"{record['id']}!"

    def partition_path(self, record: Any) -> str:
        return str(record["id"])[:1]


def test_generator_of_a_user_travels_to_the_tasks(spark: SparkSession, tmp_path: Path) -> None:
    register_key_generator("tests.ByFirst", ByFirst())
    rows = spark.createDataFrame([("ab", 1), ("cd", 2)], "id string, n int")
    table = new_table(
        pa.schema({"id": pa.string(), "n": pa.int32()}),
        tmp_path / "t",
        "id",
        "id",
        {"hoodie.datasource.write.keygenerator.class": "tests.ByFirst"},
    )
    table.bulk_insert(rows, options=ON_SPARK)
    table.upsert(rows, options=ON_SPARK)
    result = table.to_arrow(columns=[KEYS, PATH]).to_pylist()
    assert sorted(result, key=repr) == [{KEYS: "ab!", PATH: "a"}, {KEYS: "cd!", PATH: "c"}]


@dataclass(frozen=True)
class Half:
    """Makes half of a surrogate pair, in the key or in the path."""

    in_key: bool

    def record_key(self, record: Any) -> str:
        return "\ud800" if self.in_key else "k"

    def partition_path(self, record: Any) -> str:
        return "x" if self.in_key else "\ud800"


@pytest.mark.parametrize(("in_key", "what"), [(True, "record key"), (False, "partition path")])
def test_half_of_a_character_from_a_generator_of_a_user_is_refused(spark: SparkSession, tmp_path: Path, in_key: bool, what: str) -> None:
    register_key_generator("tests.Half", Half(in_key))
    schema, options = pa.schema({"id": pa.string()}), {"hoodie.datasource.write.keygenerator.class": "tests.Half"}
    table = new_table(schema, tmp_path / "t", "id", "id", options)
    for write in (table.upsert, table.bulk_insert):
        with pytest.raises(KeyFieldError, match=rf"Key generator 'tests.Half' made the {what} '\\ud800' of row 0"):
            write(spark.createDataFrame([("a",)], "id string"), options=ON_SPARK)


PROPERTIES = ", ".join(f"'{name}' = '{value}'" for name, value in MILLIS.items())


def test_custom_generator_from_sql(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        f"""CREATE TABLE custom_keys (id STRING, n INT, city STRING, at BIGINT) USING hudi PARTITIONED BY (city, at)
            LOCATION '{tmp_path}/t' TBLPROPERTIES (primaryKey = 'id', {PROPERTIES},
            'hoodie.datasource.write.keygenerator.class' = 'org.apache.hudi.keygen.CustomKeyGenerator',
            'hoodie.datasource.write.partitionpath.field' = 'city:SIMPLE,at:TIMESTAMP')"""
    )
    try:
        spark.sql("INSERT INTO custom_keys VALUES ('a', 1, 'lima', 1578283932000), ('b', 2, 'oslo', 1705311000000)")
        spark.sql("UPDATE custom_keys SET n = 10 WHERE at = 1578283932000")
        spark.sql("MERGE INTO custom_keys t USING (SELECT 'b' AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 20")
        assert rows_of(spark, "id, n, at", "custom_keys") == [("a", 10, 1578283932000), ("b", 20, 1705311000000)]
        assert rows_of(spark, PATH, "custom_keys") == [("city=lima/at=2020/01/06",), ("city=oslo/at=2024/01/15",)]
        assert rows_of(spark, "id", "custom_keys WHERE at > 1600000000000 AND city = 'oslo'") == [("b",)]
        spark.sql("INSERT OVERWRITE custom_keys PARTITION (city = 'lima', at = 1578283932001) VALUES ('x', 7)")
        assert rows_of(spark, "id, n", "custom_keys") == [("b", 20), ("x", 7)]
        spark.sql("DELETE FROM custom_keys WHERE at = 1705311000000")
        assert rows_of(spark, "id", "custom_keys") == [("x",)]
    finally:
        spark.sql("DROP TABLE custom_keys")


def rows_of(spark: SparkSession, columns: str, table: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.sql(f"SELECT {columns} FROM {table}").collect())


def test_virtual_keys_in_sql(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        f"""CREATE TABLE virtual_keys (id STRING, n INT, day DATE) USING hudi PARTITIONED BY (day) LOCATION '{tmp_path}/t'
            TBLPROPERTIES (primaryKey = 'id', 'hoodie.populate.meta.fields' = 'false',
            'hoodie.datasource.write.slash.separated.date.partitioning' = 'true',
            'hoodie.datasource.write.hive_style_partitioning' = 'false')"""
    )
    try:
        spark.sql("INSERT INTO virtual_keys VALUES ('a', 1, DATE'2024-01-15'), ('b', 2, DATE'2024-02-15'), ('c', 3, NULL)")
        spark.sql("UPDATE virtual_keys SET n = n + 10 WHERE id < 'c'")
        spark.sql("DELETE FROM virtual_keys WHERE day = DATE'2024-02-15'")
        assert sorted(map(repr, rows_of(spark, "id, n", "virtual_keys"))) == ["('a', 11)", "('c', 3)"]
        assert rows_of(spark, "id", "virtual_keys WHERE day = DATE'2024-01-15'") == [("a",)]
        assert (tmp_path / "t" / "2024" / "01" / "15").is_dir()
        spark.sql(
            """MERGE INTO virtual_keys t USING
            (SELECT * FROM VALUES ('a', 7, DATE'2024-03-15'), ('c', 8, NULL), ('d', 9, NULL) AS v(id, n, day)) s ON t.id = s.id
            WHEN MATCHED AND s.n = 8 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
        )
        assert sorted(rows_of(spark, "id, n, day", "virtual_keys")) == [("a", 7, date(2024, 3, 15)), ("d", 9, None)]
    finally:
        spark.sql("DROP TABLE virtual_keys")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_dropped_partition_columns_in_sql(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    spark.sql(
        f"""CREATE TABLE dropped (id STRING, v STRING, n INT) USING hudi PARTITIONED BY (n) LOCATION '{tmp_path}/t'
            TBLPROPERTIES (primaryKey = 'id', 'hoodie.datasource.write.drop.partition.columns' = 'true', 'pyhudi.engine' = '{engine}')"""
    )
    try:
        spark.sql("INSERT INTO dropped VALUES ('a', 'a1', 1), ('b', 'b1', 1), ('c', 'c1', NULL)")
        spark.sql("UPDATE dropped SET v = 'a2' WHERE n = 1 AND id = 'a'")
        spark.sql(
            """MERGE INTO dropped t USING
            (SELECT * FROM VALUES ('a', 'a3', 2), ('c', NULL, NULL), ('d', 'd3', 2) AS v(id, v, n)) s ON t.id = s.id
            WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
        )
        assert rows_of(spark, "*", "(SELECT id, v, n FROM dropped)") == [("a", "a3", 2), ("b", "b1", 1), ("d", "d3", 2)]
        assert rows_of(spark, "id", "dropped WHERE n = 2") == [("a",), ("d",)]
        assert {"n" in pq.read_schema(file).names for file in (tmp_path / "t").glob("n=*/*.parquet")} == {False}
    finally:
        spark.sql("DROP TABLE dropped")
