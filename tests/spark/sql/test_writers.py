"""CREATE TABLE LIKE, `df.writeTo`, `df.mergeInto`, and a MERGE that Spark's tasks write."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812

from pyhudi.errors import KeyFieldError, TableExists, TableNotFound, UnsupportedError

pytestmark = pytest.mark.spark

COLUMNS = "id INT, name STRING, ts BIGINT, city STRING"


def frame(sql, *rows):
    return sql.session.createDataFrame(list(rows), COLUMNS)


def test_table_like_another_has_its_columns_keys_and_type_and_none_of_its_rows(people):
    people("CREATE TABLE folk LIKE people")
    ours, theirs = (people.table(name).config for name in ("folk", "people"))
    assert (ours.record_key_fields, ours.partition_fields, ours.table_type) == (
        theirs.record_key_fields,
        theirs.partition_fields,
        theirs.table_type,
    )
    assert people.table("folk").schema == people.table("people").schema
    people("INSERT INTO folk SELECT id, name, age, city FROM people WHERE id = 1")
    assert people("SELECT id FROM folk") == [(1,)]
    with pytest.raises(TableExists):
        people("CREATE TABLE folk LIKE people")
    people("CREATE OR REPLACE TEMP VIEW seen AS SELECT id, name FROM people")
    people("CREATE TABLE bare LIKE seen USING hudi TBLPROPERTIES (primaryKey = 'id')")
    assert people.table("bare").schema.names == ["id", "name"]


def test_write_to_creates_appends_and_overwrites(sql):
    def rows():
        return sql("SELECT id, name FROM t ORDER BY id")

    writer = frame(sql, (1, "a", 1, "x"), (2, "b", 1, "y")).writeTo("t").using("hudi").partitionedBy("city")
    writer.tableProperty("primaryKey", "id").tableProperty("preCombineField", "ts").create()
    with pytest.raises(TableExists):
        writer.create()
    frame(sql, (1, "new", 2, "x"), (3, "c", 1, "x")).writeTo("t").append()
    assert rows() == [(1, "new"), (2, "b"), (3, "c")]
    frame(sql, (4, "d", 1, "x")).writeTo("t").overwritePartitions()
    assert rows() == [(2, "b"), (4, "d")]
    frame(sql, (5, "e", 1, "z")).writeTo("t").overwrite(F.lit(True))
    assert rows() == [(5, "e")]
    with pytest.raises(UnsupportedError, match="lit"):
        frame(sql).writeTo("t").overwrite(F.col("city") == "x")
    with pytest.raises(TableNotFound):
        frame(sql).writeTo("nobody").using("hudi").append()


def test_merge_into_of_a_dataframe_is_the_statement(sql):
    sql(f"CREATE TABLE t ({COLUMNS}) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 'a', 1, 'x'), (2, 'b', 1, 'x'), (3, 'c', 1, 'x')")
    source = frame(sql, (1, "one", 2, "y"), (2, "two", 0, "y"), (4, "four", 1, "y")).alias("s")
    merge = source.mergeInto("t", F.col("s.id") == F.col("t.id")).whenMatched(F.col("s.ts") == 0).delete()
    merge = merge.whenMatched().update({"name": F.concat(F.col("s.name"), F.lit(" {x}"))}).whenNotMatched().insertAll()
    merge.whenNotMatchedBySource().update({"name": F.lit("alone")}).merge()
    assert sql("SELECT id, name FROM t ORDER BY id") == [(1, "one {x}"), (3, "alone"), (4, "four")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_merge_by_spark_tasks_gives_what_the_driver_gives(sql, kind):
    merge = (
        "MERGE INTO {0} t USING (SELECT * FROM VALUES (1, 'x', 5, 'a'), (2, 'b', 1, 'a'), (3, 'moved', 5, 'c'), (4, 'gone', 5, 'a'),"
        " (9, 'new', 1, 'd'), (10, 'new', 1, 'a') AS v(id, name, ts, city)) s ON t.id = s.id AND t.id <> 6"
        " WHEN MATCHED AND s.name = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET *"
        " WHEN NOT MATCHED AND s.name <> 'gone' THEN INSERT *"
        " WHEN NOT MATCHED BY SOURCE AND t.id = 7 THEN UPDATE SET name = 'lonely'"
    )
    result = {}
    for engine in ("local", "spark"):
        name = f"t_{engine}"
        sql(
            f"CREATE TABLE {name} ({COLUMNS}) USING hudi PARTITIONED BY (city)"
            f" TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{kind}')"
        )
        values = ", ".join(f"({i}, 'b', 1, '{'ab'[i % 2]}')" for i in range(1, 8))
        sql(f"INSERT INTO {name} VALUES {values}")
        sql(f"UPDATE {name} SET name = 'log' WHERE id = 5")
        sql.session.conf.set("pyhudi.engine", engine)
        try:
            sql(merge.format(name))
            again = sql.counts(merge.format(name))
        finally:
            sql.session.conf.unset("pyhudi.engine")
        assert again == {}
        assert sql.table(name).history().column("engine").to_pylist()[-1] == engine
        result[engine] = sql(f"SELECT id, name, ts, city FROM {name} ORDER BY id")
    assert result["spark"] == result["local"]
    assert result["local"] == [
        (1, "x", 5, "a"),
        (2, "b", 1, "a"),
        (3, "moved", 5, "c"),
        (5, "log", 1, "b"),
        (6, "b", 1, "a"),
        (7, "lonely", 1, "b"),
        (9, "new", 1, "d"),
        (10, "new", 1, "a"),
    ]


def test_two_source_rows_for_one_record_are_refused_by_spark_tasks_too(sql):
    sql("CREATE TABLE t (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 'a')")
    sql.session.conf.set("pyhudi.engine", "spark")
    try:
        with pytest.raises(KeyFieldError, match="more than one row"):
            sql("MERGE INTO t USING (VALUES (1, 'x'), (1, 'y') AS v(id, name)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name")
    finally:
        sql.session.conf.unset("pyhudi.engine")
    assert sql("SELECT id, name FROM t") == [(1, "a")]
