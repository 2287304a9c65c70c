"""Corners of the front door: views, CTEs, parameters, databases, names, comments, other formats, and statements that hide their table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from pyhudi.errors import HudiError, UnsupportedError, UsageError

pytestmark = pytest.mark.spark

PEOPLE = "id INT, name STRING, age INT, city STRING"


@pytest.fixture(scope="module")
def folk(spark, tmp_path_factory) -> Iterator[Any]:
    """A Hudi table and one of Parquet in one database, a Hudi table of the same name in another, views over them."""
    for database in ("corners", "other"):
        spark.sql(f"CREATE DATABASE {database} LOCATION '{tmp_path_factory.mktemp(database)}'")
    spark.sql("USE corners")
    spark.sql(f"CREATE TABLE people ({PEOPLE}) USING hudi TBLPROPERTIES (primaryKey = 'id') PARTITIONED BY (city)")
    spark.sql("INSERT INTO people VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'oslo'), (3, 'cid', 53, 'rome')")
    spark.sql("CREATE TABLE plain USING parquet AS SELECT * FROM VALUES (1, 'x'), (2, 'y') AS v(id, tag)")
    spark.sql("CREATE TABLE other.people (id INT, `Mixed` STRING, `select` INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    spark.sql("INSERT INTO other.people VALUES (1, 'M', 7)")
    spark.sql("CREATE VIEW elder AS WITH p AS (SELECT * FROM people) SELECT id, name, age FROM p WHERE age > 40")
    spark.sql("CREATE VIEW tagged AS SELECT elder.name, tag FROM elder JOIN plain USING (id)")
    spark.sql("CREATE TEMP VIEW temporary AS SELECT count(*) AS n FROM people")
    yield spark
    spark.sql("USE default")
    spark.sql("DROP VIEW temporary")
    for database in ("corners", "other"):
        spark.sql(f"DROP DATABASE {database} CASCADE")


QUERIES = {
    "a stored view": ("SELECT name FROM elder ORDER BY id", None, [("bob",), ("cid",)]),
    "a view over a view and a Parquet table": ("SELECT * FROM tagged", None, [("bob", "y")]),
    "a temporary view": ("SELECT n FROM temporary", None, [(3,)]),
    "a CTE that shadows the table": ("WITH people AS (SELECT 9 AS id) SELECT id FROM people", None, [(9,)]),
    "nested CTEs": ("WITH a AS (WITH b AS (SELECT id FROM people WHERE id < 3) SELECT * FROM b) SELECT count(*) FROM a", None, [(2,)]),
    "a recursive CTE": (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2) SELECT name FROM r JOIN people ON id = n ORDER BY n",
        None,
        [("ann",), ("bob",)],
    ),
    "named parameters": ("SELECT name FROM people WHERE id = :id", {"id": 2}, [("bob",)]),
    "positional parameters": ("SELECT name FROM people WHERE id = ? AND city = ?", [3, "rome"], [("cid",)]),
    "a parameter as time": ("SELECT count(*) FROM people TIMESTAMP AS OF :t", {"t": "2099-01-01"}, [(3,)]),
    "a parameter as name": ("SELECT count(*) FROM IDENTIFIER(:t)", {"t": "corners.people"}, [(3,)]),
    "two databases": (
        "SELECT a.name, b.mixed FROM corners.people a JOIN spark_catalog.other.people b ON a.id = b.id",
        None,
        [("ann", "M")],
    ),
    "names in any case": ("SELECT P.NAME, `MIXED`, `Select` FROM PEOPLE p JOIN Other.People o USING (`ID`)", None, [("ann", "M", 7)]),
    "comments anywhere": (
        "-- people TIMESTAMP AS OF\nSELECT /* 'q' */ count(*) FROM /* /* b */ */ people /**/ TIMESTAMP -- x\n AS OF '2099-01-01' -- end",
        None,
        [(3,)],
    ),
    "another format in EXISTS": (
        "SELECT id FROM plain p WHERE EXISTS (SELECT 1 FROM people h WHERE h.id = p.id + 1) ORDER BY id",
        None,
        [(1,), (2,)],
    ),
    "a lateral join": (
        "SELECT tag, x.name FROM plain p, LATERAL (SELECT name FROM people h WHERE h.id = p.id) x ORDER BY tag",
        None,
        [("x", "ann"), ("y", "bob")],
    ),
    "pipes": ("FROM people TIMESTAMP AS OF '2099-01-01' |> WHERE id < 3 |> AGGREGATE count(*) AS n", None, [(2,)]),
}


@pytest.mark.parametrize(("query", "args", "answer"), QUERIES.values(), ids=QUERIES.keys())
def test_a_query_is_answered(folk, query, args, answer):
    frame = folk.sql(query, args) if args else folk.sql(query)
    assert [tuple(row) for row in frame.collect()] == answer


#: Each writes a row that the views and names must show, and rolls it back.
CHANGES = {
    "a CTE before INSERT": "WITH s AS (SELECT 9 AS id, 'new' AS name, 1 AS age, 'oslo' AS city) INSERT INTO people SELECT * FROM s",
    "a CTE in INSERT": "INSERT INTO people WITH s AS (SELECT 9, 'new', 1, 'oslo') SELECT * FROM s",
    "comments in INSERT": "INSERT /*1*/ INTO people -- 2\n ( /*3*/ id, name -- 4\n, age, city) /*5*/ VALUES"
    " /*6*/ (9, '--new', 1, 'oslo') --7",
    "a CTE before MERGE": "WITH s AS (SELECT 9 AS id) MERGE INTO people t USING s ON t.id = s.id"
    " WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, 'x')",
    "comments and case in MERGE": "MERGE /*1*/ INTO /*2*/ People /*3*/ T USING /*4*/ (SELECT /*5*/ 9 ID) s -- 6\n ON /*7*/ t.id = S.Id"
    " WHEN /*8*/ NOT MATCHED THEN /*9*/ INSERT ( -- 10\n ID, City) VALUES (s.ID, '(x)')",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen_in_views_and_taken_back(folk, change):
    assert folk.sql(change).collect()[0].num_affected_rows == 1
    assert folk.sql("SELECT n FROM temporary").collect()[0][0] == 4
    taken = folk.sql("WITH s AS (SELECT 9 AS id) DELETE /* it */ FROM PEOPLE WHERE id IN (SELECT id FROM s) -- now")
    assert taken.collect()[0].num_deleted_rows == 1


HIDDEN = {
    "UPDATE of a view": ("UPDATE elder SET name = 'x'", UsageError, "view over the Hudi table corners.people"),
    "DELETE from a view": ("DELETE FROM tagged", UsageError, "view over the Hudi table corners.people"),
    "MERGE into a view": ("MERGE INTO elder t USING plain s ON t.id = s.id WHEN MATCHED THEN DELETE", UsageError, "a view"),
    "UPDATE of a computed name": ("UPDATE IDENTIFIER('peo' || 'ple') SET name = 'x'", UnsupportedError, "people.*write the name"),
    "DELETE from a computed name": ("DELETE FROM IDENTIFIER('people')", UnsupportedError, "write the name"),
    "INSERT into a computed name": ("INSERT INTO IDENTIFIER('people') SELECT * FROM people", UnsupportedError, "write the name"),
    "INSERT into a computed name after a CTE": (
        "WITH s AS (SELECT * FROM IDENTIFIER('people')) INSERT INTO TABLE IDENTIFIER('people') SELECT * FROM s",
        UnsupportedError,
        "write the name",
    ),
    "CREATE of a computed name": ("CREATE TABLE IDENTIFIER('made') (id INT) USING hudi", UnsupportedError, "write the name"),
    "EXECUTE IMMEDIATE": (
        "EXECUTE IMMEDIATE 'UPDATE people SET age = ? WHERE id = 1' USING 5",
        UnsupportedError,
        "run the statement itself",
    ),
    "a script": ("BEGIN UPDATE people SET age = 5 WHERE id = 1; END", UnsupportedError, "run each statement by itself"),
    "an insert into two tables": (
        "FROM plain INSERT INTO people SELECT id, tag, 1, 'x' INSERT INTO plain SELECT *",
        UnsupportedError,
        "by itself",
    ),
}


@pytest.mark.parametrize(("statement", "error", "says"), HIDDEN.values(), ids=HIDDEN.keys())
def test_a_statement_that_hides_its_table_is_refused_and_changes_nothing(folk, statement, error, says):
    before = folk.sql("SELECT * FROM people ORDER BY id").collect()
    with pytest.raises(error, match=says) as caught:
        folk.sql(statement)
    assert isinstance(caught.value, HudiError)
    assert folk.sql("SELECT * FROM people ORDER BY id").collect() == before
    assert not folk.catalog.tableExists("corners.made")


def test_a_cached_frame_keeps_its_rows_and_the_table_shows_the_new_ones(folk):
    cached = folk.table("people").where("id = 1").select("age").cache()
    try:
        assert cached.collect() == [(31,)]
        folk.sql("UPDATE people SET age = 32 WHERE id = 1")
        assert cached.collect() == [(31,)]
        assert folk.table("people").where("id = 1").select("age").collect() == [(32,)]
        folk.sql("CACHE TABLE people")
        folk.sql("UPDATE people SET age = 31 WHERE id = 1")
        assert folk.sql("SELECT age FROM people WHERE id = 1").collect() == [(31,)]
    finally:
        cached.unpersist()
        folk.sql("UNCACHE TABLE IF EXISTS people")


def test_positional_parameters_reach_the_places_where_they_stand(folk):
    folk.sql("UPDATE people SET name = ?, age = ? WHERE id = ? AND age < ?", ["zed", 60, 3, 99])
    assert folk.sql("SELECT name, age FROM people WHERE id = 3").collect() == [("zed", 60)]
    folk.sql("UPDATE people SET age = ?, name = ? WHERE id = ?", [53, "cid", 3])  # not the order of the table's columns
    assert folk.sql("SELECT name, age FROM people WHERE id = 3").collect() == [("cid", 53)]
    result = folk.sql("SELECT ? AS said, count(*) AS n FROM people TIMESTAMP AS OF ? WHERE id < ?", ["'?'", "2099-01-01", 3])
    assert result.collect() == [("'?'", 2)]
    since = folk.sql("SELECT ? AS said, count(DISTINCT id) AS n FROM hudi_table_changes(?, 'latest_state', ?)", ["x", "people", "earliest"])
    assert since.collect() == [("x", 3)]
    merged = folk.sql(
        "MERGE INTO people t USING (SELECT ? AS id, ? AS name) s ON t.id = s.id"
        " WHEN MATCHED AND t.age < ? THEN UPDATE SET age = ?, name = s.name",
        [3, "cid", 60, 53],
    )
    assert merged.collect()[0].num_deleted_rows == 0
    assert folk.sql("SELECT name, age FROM people WHERE id = 3").collect() == [("cid", 53)]


def test_a_temporary_view_over_time_travel_paths_and_functions_keeps_the_rows_of_its_moment(folk):
    folk.sql("CREATE TEMP VIEW past (number COMMENT 'of whom', who) AS SELECT id, name FROM people TIMESTAMP AS OF '2099-01-01'")
    folk.sql("CREATE GLOBAL TEMP VIEW changed AS SELECT id FROM hudi_table_changes('people', 'latest_state', 'earliest')")
    try:
        assert folk.sql("SELECT who FROM past WHERE number = 1").collect() == [("ann",)]
        assert folk.sql("SELECT count(DISTINCT id) FROM global_temp.changed").collect() == [(3,)]
        with pytest.raises(AnalysisException, match="ALREADY_EXISTS"):
            folk.sql("CREATE TEMP VIEW past AS SELECT id FROM people TIMESTAMP AS OF '2099-01-01'")
        folk.sql("CREATE OR REPLACE TEMP VIEW past AS SELECT count(*) AS n FROM people TIMESTAMP AS OF '2000-01-01'")
        assert folk.sql("SELECT n FROM past").collect() == [(0,)]
    finally:
        folk.sql("DROP VIEW past")
        folk.sql("DROP VIEW global_temp.changed")
