"""`hoodie.write.schema` of a DataFrame's write and of INSERT."""

from __future__ import annotations

import json

import pytest

from pyhudi.errors import SchemaError, UsageError
from pyhudi.table.hudi_table import HudiTable

pytestmark = pytest.mark.spark

KEY = "hoodie.write.schema"


def avro(**types):
    return json.dumps(
        {"type": "record", "name": "r", "fields": [{"name": n, "type": ["null", t], "default": None} for n, t in types.items()]}
    )


WIDER = avro(id="int", ts="long", a="long")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_new_table_and_rows_added_to_it_have_the_columns_of_the_schema(spark, tmp_path, engine):
    path, frame = str(tmp_path / "t"), spark.createDataFrame([(1, 1, 5, "x")], "id int, ts bigint, a int, b string")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "pyhudi.engine": engine,
    }
    with pytest.raises(SchemaError, match="'c'"):
        frame.write.format("hudi").options(**options, **{KEY: avro(id="int", c="int")}).save(path)
    assert not (tmp_path / "t" / ".hoodie" / "hoodie.properties").exists()
    frame.write.format("hudi").options(**options, **{KEY: WIDER}).save(path)
    frame.withColumn("id", frame.id + 1).write.format("hudi").options(**options, **{KEY: WIDER}).mode("append").save(path)
    rows = spark.read.format("hudi").load(path)
    assert [(f.name, f.dataType.simpleString()) for f in rows.schema][5:] == [("id", "int"), ("ts", "bigint"), ("a", "bigint")]
    assert sorted(tuple(row) for row in rows.select("id", "ts", "a").collect()) == [(1, 1, 5), (2, 1, 5)]
    assert HudiTable.open(path).schema.names == ["id", "ts", "a"]


def test_insert_takes_the_schema_of_the_session(sql):
    sql("CREATE TABLE t (id INT, a INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 5)")
    try:
        sql.session.conf.set(KEY, "nonsense")
        with pytest.raises(UsageError, match="Avro"):
            sql("INSERT INTO t VALUES (2, 6)")
        sql.session.conf.set(KEY, avro(id="int", a="long"))
        sql("INSERT INTO t VALUES (2, 6)")
        sql("UPDATE t SET a = 7 WHERE id = 1")
    finally:
        sql.session.conf.unset(KEY)
    assert sql("SELECT id, a FROM t ORDER BY id") == [(1, 7), (2, 6)]
    assert str(sql.table("t").schema.field("a").type) == "int64"
