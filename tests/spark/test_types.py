"""Every type of Spark is read back exactly as it was written, or refused by name before anything is written; and so are evolved columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import HudiError, SchemaError

pytestmark = pytest.mark.spark

SERVED = {
    "tiny": "CAST(7 AS TINYINT)",
    "small": "CAST(-7 AS SMALLINT)",
    "big": "9223372036854775807L",
    "single": "CAST(0.1 AS FLOAT)",
    "not_a_number": "CAST('NaN' AS DOUBLE)",
    "all_digits": "CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))",
    "fraction": "CAST('12345678901234567890.123456789012345678' AS DECIMAL(38, 18))",
    "text": "'x\\u0000y'",
    "padded": "CAST('ab' AS CHAR(5))",
    "limited": "CAST('abcde' AS VARCHAR(5))",
    "bytes": "X'00FF'",
    "flag": "true",
    "first_day": "DATE'0001-01-01'",
    "late_day": "CAST('+12345-01-01' AS DATE)",
    "julian": "TIMESTAMP'1500-02-28 00:00:00.123456'",
    "late_time": "timestamp_micros(315569520000000000)",
    "wall_clock": "TIMESTAMP_NTZ'1500-02-28 23:59:59.999999'",
    "numbers": "array(1, NULL, 3)",
    "nested_lists": "array(array('a', NULL), NULL, array())",
    "times": "array(TIMESTAMP'1500-01-01 00:00:00', NULL)",
    "map_of_structs": "map('k', named_struct('x', 1, 'y', CAST(NULL AS STRING)), 'l', NULL)",
    "structs": "named_struct('a', 1, 'b', named_struct('c', array(named_struct('d', CAST(NULL AS INT)), NULL)))",
    "lists_of_maps": "array(named_struct('m', map('k', array(1D, NULL))), NULL)",
    "money": "named_struct('d', CAST(1.5 AS DECIMAL(38, 10)))",
    "no_struct": "CAST(NULL AS STRUCT<a: INT, b: STRING>)",
}
COLUMNS = ", ".join(f"{value} AS {name}" for name, value in SERVED.items())


def every_type(spark: SparkSession) -> DataFrame:
    """One row of values and one of nulls; fields of structs are required where Spark knows them to be."""
    nulls = ", ".join(["NULL"] * len(SERVED))
    return spark.sql(f"SELECT 1 AS id, {COLUMNS} UNION ALL SELECT 2, {nulls}")


def string_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.selectExpr("id", *(f"CAST({name} AS STRING)" for name in SERVED)).orderBy("id").collect()]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_every_type_is_read_back_from_a_data_frame(spark: SparkSession, tmp_path: Path, kind: str, engine: str) -> None:
    rows, path = every_type(spark), str(tmp_path / "t")
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.table.type": kind}
    for part in (rows, rows.where("id = 1")):
        part.write.format("hudi").options(**options, **{"pyhudi.engine": engine}).mode("append").save(path)
    result = spark.read.format("hudi").load(path)
    assert string_rows(result) == string_rows(rows)
    retained = {"tinyint": "int", "smallint": "int"}
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    assert {field.name: field.dataType.simpleString() for field in result.schema.fields if field.name in types} == {
        name: retained.get(text, text) for name, text in types.items()
    }


def test_every_type_is_read_back_from_statements(spark: SparkSession, tmp_path: Path) -> None:
    every_type(spark).createOrReplaceTempView("every_type")
    try:
        made = f"CREATE TABLE typed USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor') LOCATION '{tmp_path}/t'"
        spark.sql(f"{made} AS SELECT * FROM every_type")
        spark.sql("MERGE INTO typed t USING (SELECT * FROM every_type WHERE id = 1) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
        spark.sql("INSERT INTO typed SELECT 3, * EXCEPT (id) FROM every_type WHERE id = 1")
        first, nulls, third = string_rows(spark.table("typed"))
        assert [first, nulls] == string_rows(spark.table("every_type"))
        assert third[1:] == first[1:]
    finally:
        spark.sql("DROP TABLE IF EXISTS typed")
        spark.catalog.dropTempView("every_type")


REFUSED = {
    "TIME": "TIME'12:34:56.789'",
    "VARIANT": "parse_json('1')",
    "INTERVAL YEAR TO MONTH": "INTERVAL '1-2' YEAR TO MONTH",
    "INTERVAL DAY TO SECOND": "INTERVAL '1 02:03:04' DAY TO SECOND",
    "INTERVAL": "make_interval(1, 2)",
    "MAP<STRING, VARIANT>": "map('a', parse_json('1'))",
    "MAP<INT, STRING>": "map(1, 'a')",
    "STRUCT<>": "struct()",
    "STRING COLLATE UTF8_LCASE": "'a' COLLATE UTF8_LCASE",
    "VOID": "NULL",
}


@pytest.fixture
def times_of_day(spark: SparkSession) -> Iterator[None]:
    """TIME is a preview of Spark 4.1."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    yield
    spark.conf.unset("spark.sql.timeType.enabled")


@pytest.mark.usefixtures("times_of_day")
@pytest.mark.parametrize(("text", "value"), REFUSED.items(), ids=REFUSED.keys())
def test_a_type_that_cannot_be_kept_is_refused_and_leaves_nothing(spark: SparkSession, tmp_path: Path, text: str, value: str) -> None:
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
    with pytest.raises(SchemaError, match=r"[Cc]olumn 'strange"):
        spark.sql(f"SELECT 1 AS id, {value} AS strange").write.format("hudi").options(**options).mode("append").save(str(tmp_path / "t"))
    with pytest.raises(SchemaError, match=r"[Cc]olumn 'strange"):
        spark.sql(f"CREATE TABLE kept (id INT, strange {text}) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{tmp_path}/t'")
    assert not (tmp_path / "t").exists()
    assert not spark.catalog.tableExists("kept")


#: What a second write brings, and what the rows are then; or what the message says.
EVOLVED = {
    "a new column": ("SELECT 2 AS id, 5 AS n, 'b' AS s, 1.5D AS new", [(1, 4, "a", None), (2, 5, "b", 1.5)]),
    "a missing column": ("SELECT 2 AS id, 5 AS n", "lack the column 's'"),
    "columns in another order and case": ("SELECT 'b' AS S, 5 AS N, 2 AS ID", [(1, 4, "a"), (2, 5, "b")]),
    "a wider number": ("SELECT 2 AS id, 5000000000L AS n, 'b' AS s", [(1, 4, "a"), (2, 5000000000, "b")]),
    "a narrower number": ("SELECT 2 AS id, CAST(5 AS TINYINT) AS n, 'b' AS s", [(1, 4, "a"), (2, 5, "b")]),
    "a text for a number": ("SELECT 2 AS id, '5' AS n, 'b' AS s", [(1, "4", "a"), (2, "5", "b")]),
    "a number for a text": ("SELECT 2 AS id, 5 AS n, 6.5D AS s", [(1, 4, "a"), (2, 5, "6.5")]),
    "a truth value for a number": ("SELECT 2 AS id, true AS n, 'b' AS s", "'n' has type bool"),
    "a key of reals": ("SELECT 2.0D AS id, 5 AS n, 'b' AS s", "'id' is part of the record key"),
    "a column of nulls": ("SELECT 2 AS id, 5 AS n, 'b' AS s, NULL AS new", "'new' holds only nulls"),
}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_columns_evolve_or_are_refused_before_anything_is_written(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.table.type": kind}

    def write(query: str, path: str) -> None:
        spark.sql(query).write.format("hudi").options(**options).mode("append").save(path)

    for number, (what, (query, expected)) in enumerate(EVOLVED.items()):
        path = str(tmp_path / str(number))
        write("SELECT id, nullif(n, 0) AS n, nullif(s, '') AS s FROM VALUES (1, 4, 'a') AS v(id, n, s)", path)
        if isinstance(expected, str):
            with pytest.raises(HudiError, match=expected):
                write(query, path)
            assert HudiTable.open(path).history().num_rows == 1, what
        else:
            write(query, path)
            result = spark.read.format("hudi").load(path).orderBy("id").collect()
            assert [tuple(row)[5:] for row in result] == expected, what
