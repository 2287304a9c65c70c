"""REPLACE TABLE, CREATE OR REPLACE TABLE and `writeTo(...).replace()`: another table in the place of one, by its name."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812

from pyhudi.errors import OptionError, SchemaError, TableExists, TableNotFound, UnsupportedError, UsageError

pytestmark = pytest.mark.spark

NEW = "USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'nr', type = 'mor')"


def columns_of(sql, table):
    return [name for name in sql.session.table(table).columns if not name.startswith("_hoodie_")]


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_query_that_reads_the_table_itself_takes_its_place(people):
    people(f"CREATE OR REPLACE TABLE people {NEW} AS SELECT id AS nr, upper(name) AS who, city AS day FROM people WHERE id < 3")
    config = people.table("people").config
    assert (config.record_key_fields, config.partition_fields, config.table_type) == (("nr",), ("day",), "MERGE_ON_READ")
    assert columns_of(people, "people") == ["nr", "who", "day"]
    assert people("SELECT nr, who, day FROM people ORDER BY nr") == [(1, "ANN", "oslo"), (2, "BOB", "oslo")]
    people("INSERT INTO people VALUES (7, 'new', 'bern')")
    people("UPDATE people SET who = 'x' WHERE nr = 1")
    assert people("SELECT nr, who FROM people ORDER BY nr") == [(1, "x"), (2, "BOB"), (7, "new")]
    assert people("SHOW PARTITIONS people") == [("day=bern",), ("day=oslo",)]
    people("DROP TABLE people")
    assert not (people.folder / "people").exists()  # it is managed as before


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_table_without_a_query_is_empty(people):
    people("REPLACE TABLE people (id INT, note STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    assert (columns_of(people, "people"), people("SELECT * FROM people")) == (["id", "note"], [])
    people("INSERT INTO people VALUES (1, 'x')")
    assert people("SELECT id, note FROM people") == [(1, "x")]


def test_table_that_is_not_there_is_created_by_one_and_not_by_the_other(sql):
    with pytest.raises(TableNotFound, match="CREATE OR REPLACE"):
        sql("REPLACE TABLE t USING hudi AS SELECT 1 AS id")
    sql("CREATE OR REPLACE TABLE t USING hudi AS SELECT 1 AS id")
    assert sql("SELECT id FROM t") == [(1,)]
    sql("CREATE OR REPLACE TABLE e (id INT) USING hudi")
    assert sql("SELECT id FROM e") == []


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_table_at_a_location_stays_there_and_external(people):
    folder = people.folder / "outside"
    people(f"CREATE TABLE out USING hudi LOCATION '{folder}' AS SELECT 1 AS id")
    people(f"CREATE OR REPLACE TABLE out USING hudi LOCATION '{folder}' AS SELECT id, id + 1 AS next FROM out")
    assert people("SELECT id, next FROM out") == [(1, 2)]
    people("DROP TABLE out")
    with pytest.raises(TableExists, match="holds a Hudi table already"):
        people(f"CREATE OR REPLACE TABLE out (id INT) USING hudi LOCATION '{folder}'")
    people(f"CREATE TABLE out USING hudi LOCATION '{folder}'")
    assert people("SELECT next FROM out") == [(2,)]


WRONG = [
    ("REPLACE TABLE people USING hudi LOCATION '/elsewhere' AS SELECT 1 AS id", UsageError, "leave LOCATION out"),
    ("CREATE OR REPLACE TABLE people USING parquet AS SELECT 1 AS id", UnsupportedError, "say USING hudi"),
    ("REPLACE TABLE people USING hudi", SchemaError, "states no columns"),
    ("REPLACE TABLE people USING hudi TBLPROPERTIES (primaryKey = 'nr') AS SELECT 1 AS id", SchemaError, "nr of"),
    ("REPLACE TABLE people USING hudi TBLPROPERTIES (type = 'heap') AS SELECT 1 AS id", OptionError, "heap"),
    ("REPLACE TABLE people USING hudi AS SELECT raise_error('stop') AS id", Exception, "stop"),
    ("CREATE OR REPLACE TABLE plain USING hudi AS SELECT 1 AS id", UsageError, "is no Hudi table"),
]


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_statement_that_is_wrong_leaves_the_table(people):
    people("CREATE TABLE plain (id INT) USING parquet")
    for statement, error, says in WRONG:
        with pytest.raises(error, match=says):
            people(statement)
    text = people("EXPLAIN CREATE OR REPLACE TABLE people USING hudi AS SELECT 1 AS id")[0][0]
    assert "in the place of" in text
    assert people("SELECT id, name FROM people ORDER BY id") == [(1, "ann"), (2, "bob"), (3, "cid")]
    people("INSERT INTO people VALUES (4, 'dee', 1, 'rome')")


def test_write_to_replaces(sql):
    rows = sql.session.createDataFrame([(1, "a")], "id INT, name STRING")
    with pytest.raises(TableNotFound, match="createOrReplace"):
        rows.writeTo("t").using("hudi").replace()
    rows.writeTo("t").using("hudi").tableProperty("primaryKey", "id").createOrReplace()
    rows.withColumn("day", F.lit("x")).writeTo("t").using("hudi").partitionedBy("day").tableProperty("type", "mor").createOrReplace()
    assert sql.table("t").config.partition_fields == ("day",)
    sql.session.table("t").select("id", (F.col("id") * 2).alias("v")).writeTo("t").using("hudi").replace()
    assert sql("SELECT id, v FROM t") == [(1, 2)]
