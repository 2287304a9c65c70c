"""Names in SQL stand for the merged state of a merge-on-read table, and for a new one after every write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def orders(spark: SparkSession) -> Iterator[str]:
    spark.sql(
        "CREATE TABLE orders (id BIGINT, amount INT, day DATE) USING hudi PARTITIONED BY (day)"
        " TBLPROPERTIES (type = 'mor', primaryKey = 'id')"
    )
    spark.sql("INSERT INTO orders VALUES (1, 10, DATE'2026-01-01'), (2, 20, DATE'2026-01-01'), (3, 30, DATE'2026-01-02')")
    yield "orders"
    spark.sql("DROP TABLE orders PURGE")


def amounts(spark: SparkSession, query: str = "SELECT id, amount FROM orders ORDER BY id") -> list[tuple[int, int]]:
    return [tuple(row) for row in spark.sql(query).collect()]


def test_update_is_seen_by_the_next_statement_under_every_name(spark: SparkSession, orders: str) -> None:
    assert amounts(spark)[0] == (1, 10)
    spark.sql("UPDATE orders SET amount = 11 WHERE id = 1")
    expected = [(1, 11), (2, 20), (3, 30)]
    assert amounts(spark) == expected
    assert amounts(spark, "SELECT id, amount FROM spark_catalog.default.orders ORDER BY id") == expected
    assert [(row.id, row.amount) for row in spark.table(orders).orderBy("id").collect()] == expected


def test_second_update_finds_rows_that_stand_in_logs(spark: SparkSession, orders: str) -> None:
    spark.sql("UPDATE orders SET amount = amount + 1 WHERE id <= 2")
    spark.sql("UPDATE orders SET amount = amount * 2 WHERE amount = 21")
    assert amounts(spark) == [(1, 11), (2, 42), (3, 30)]


def test_delete_of_a_row_that_stands_in_a_log_is_seen(spark: SparkSession, orders: str) -> None:
    spark.sql("UPDATE orders SET amount = 0 WHERE id = 2")
    spark.sql("DELETE FROM orders WHERE amount = 0")
    assert amounts(spark) == [(1, 10), (3, 30)]


def test_count_of_all_rows_needs_no_job(spark: SparkSession, orders: str) -> None:
    spark.sql("DELETE FROM orders WHERE id = 2")
    spark.sql("INSERT INTO orders VALUES (4, 40, DATE'2026-01-02'), (5, 50, DATE'2026-01-03')")
    aside = spark.range(3).cache()
    jobs = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("counting in SQL", "no job is to run")
    counted = spark.sql("SELECT count(*) FROM orders")
    assert (counted.collect(), counted.columns, counted.schema[0].dataType.simpleString()) == ([(4,)], ["count(1)"], "bigint")
    assert spark.sql("select COUNT(1) AS n from default.orders").head(1)[0].asDict() == {"n": 4}
    assert list(jobs.getJobIdsForGroup("counting in SQL")) == []
    aside.unpersist()
    (field,), (mdt,) = counted.schema, spark.sql("SELECT count(*) FROM VALUES (1)").schema
    assert (field.name, field.dataType, field.nullable) == (mdt.name, mdt.dataType, mdt.nullable)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("SELECT count(*) FROM orders WHERE id > 1", 1),
        ("SELECT count(amount) FROM orders", 2),
        ("SELECT count(*) FROM orders AS o", 2),
        ("SELECT count(*) FROM large", 1),
        ("SELECT count(*) FROM orders LIMIT 0", None),
        ("SELECT count(*) FROM orders HAVING count(*) > 2", None),
        ("SELECT count(*) FILTER (WHERE id = 1) FROM orders", 1),
        ("SELECT count(DISTINCT day) FROM orders", 1),
        ("SELECT count(*) FROM orders TABLESAMPLE (0 ROWS)", 0),
    ],
)
def test_count_of_anything_else_is_that_of_its_rows(spark: SparkSession, orders: str, query: str, count: int | None) -> None:
    spark.sql("DELETE FROM orders WHERE id = 3")
    spark.sql("UPDATE orders SET amount = 21 WHERE id = 2")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW large AS SELECT * FROM orders WHERE amount >= 20")
    assert spark.sql(query).collect() == ([] if count is None else [(count,)])


def test_count_of_a_cached_table_is_that_of_its_cache(spark: SparkSession, orders: str) -> None:
    spark.sql("CACHE TABLE orders")
    try:
        plan = spark.sql("SELECT count(*) FROM orders")._jdf.queryExecution().withCachedData().toString()
        assert "InMemoryRelation" in plan
    finally:
        spark.sql("UNCACHE TABLE orders")


def test_views_and_subqueries_read_merged_rows(spark: SparkSession, orders: str) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW large AS SELECT * FROM orders WHERE amount >= 20")
    spark.sql("UPDATE orders SET amount = 25 WHERE id = 1")
    assert amounts(spark, "SELECT id, amount FROM large ORDER BY id") == [(1, 25), (2, 20), (3, 30)]
    top = "SELECT id, amount FROM orders WHERE amount = (SELECT max(amount) FROM orders)"
    assert amounts(spark, top) == [(3, 30)]
    spark.catalog.dropTempView("large")


def test_typed_partition_column_prunes_and_shows_its_type(spark: SparkSession, orders: str) -> None:
    spark.sql("UPDATE orders SET amount = 31 WHERE id = 3")
    result = spark.sql("SELECT id, amount, day FROM orders WHERE day = DATE'2026-01-02'")
    assert dict(result.dtypes)["day"] == "date"
    assert [(row.id, row.amount) for row in result.collect()] == [(3, 31)]


def test_cached_table_is_not_served_after_a_write(spark: SparkSession, orders: str) -> None:
    spark.sql("CACHE TABLE orders")
    assert amounts(spark)[0] == (1, 10)
    spark.sql("UPDATE orders SET amount = 11 WHERE id = 1")
    assert amounts(spark)[0] == (1, 11)
    spark.sql("UNCACHE TABLE orders")


def test_time_travel_in_sql_reads_the_logs_of_that_time(spark: SparkSession, orders: str) -> None:
    instant = spark.sql("UPDATE orders SET amount = 11 WHERE id = 1").head(1)[0]["instant"]
    spark.sql("UPDATE orders SET amount = 12 WHERE id = 1")
    assert amounts(spark, f"SELECT id, amount FROM orders TIMESTAMP AS OF '{instant}' WHERE id = 1") == [(1, 11)]
