"""Statements that are wrong: the message names the thing, and shows the place in the text as it was written."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import AnalysisException, PySparkException

from pyhudi.errors import HudiError

pytestmark = pytest.mark.spark

#: The statement with the wrong part between « and », and a text of the message.
MISUSES = [
    ("CREATE TABLE x (id INT, «ID» STRING) USING hudi", "states the column ID twice"),
    ("CREATE TABLE x (id INT) USING hudi PARTITIONED BY («day»)", "day, which is no column"),
    ("CREATE TABLE x (id INT) USING hudi TBLPROPERTIES («primaryKye» = 'id')", "Did you mean 'primaryKey'"),
    ("CREATE TABLE x (id INT) USING hudi TBLPROPERTIES (primaryKey = «'uid'»)", "uid"),
    ("CREATE TABLE x (id INT) USING hudi TBLPROPERTIES (type = «'heap'»)", "heap"),
    ("CREATE TABLE x (id INT) USING hudi TBLPROPERTIES («hoodie.record.merge.mod» = '1')", "hoodie.record.merge.mode"),
    ("INSERT INTO goods (id, «weight») VALUES (1, 2)", "no column weight"),
    ("INSERT INTO goods PARTITION («name» = 'x') SELECT 1, 2.0, 5L, 'a'", "not a partition column"),
    ("INSERT INTO goods (id, «price», ts, kind, name) VALUES (1, 'dear', 1, 'a', 'b')", "price is double and the query gives string"),
    ("INSERT INTO goods SELECT id, name, price, ts, «colour» FROM goods", "colour"),
    ("UPDATE goods SET «weight» = 1 WHERE id = 1", "no column weight"),
    ("UPDATE goods SET «id» = 9 WHERE id = 1", "record key"),
    ("UPDATE goods g SET price = 1, «g.kind» = 'x' WHERE g.id = 1", "partition"),
    ("UPDATE goods SET price = 1, «price» = 2", "assigns price twice"),
    ("UPDATE goods SET price = «weight» + 1", "weight"),
    ("UPDATE goods SET price = 1\nWHERE id = 1\n  AND «colour» = 'red'", "colour"),
    ("UPDATE goods SET «price» = true", "price is double and the query gives boolean"),
    ("DELETE FROM goods WHERE price > 1 AND «colour» = 'red'", "colour"),
    ("DELETE FROM goods WHERE id IN (SELECT «nr» FROM goods)", "nr"),
    ("DELETE FROM goods WHERE id = «no_such_function»(1)", "no_such_function"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = «s.nr» WHEN MATCHED THEN DELETE", "nr"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET «weight» = 1", "no column weight"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = 1, «price» = 2", "price twice"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT «*»", "needs every column"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED AND «colour» = 1 THEN DELETE", "colour"),
    ("MERGE INTO goods t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET «price» = true", "price is double"),
    ("ALTER TABLE goods ADD COLUMNS («price» INT)", "price"),
    ("ALTER TABLE goods DROP COLUMN «price»", "hoodie.schema.on.read.enable"),
    ("ALTER TABLE goods ALTER COLUMN «name» TYPE INT", "name"),
    ("ALTER TABLE goods DROP PARTITION («colour» = 'red')", "colour"),
    ("CREATE INDEX i ON goods («weight»)", "weight"),
    ("CREATE INDEX i ON goods USING «btree»(name)", "btree"),
    ("DROP INDEX «i» ON goods", "i"),
    ("SELECT * FROM goods TIMESTAMP AS OF «'yesterday'»", "yesterday"),
    ("SELECT * FROM hudi_table_changes('goods', «'all'», 'earliest')", "latest_state"),
    ("SELECT * FROM hudi_table_changes(«'nowhere'», 'latest_state', 'earliest')", "nowhere"),
    ("SELECT * FROM hudi_table_changes('goods', 'latest_state', «'last week'»)", "last week"),
    ("SELECT * FROM «hudi_query»('goods')", "text literals"),
    ("SELECT * FROM hudi_query('goods', «'newest'»)", "read_optimized"),
    ("CALL «show_comits»(table => 'goods')", "Did you mean 'show_commits'"),
    ("CALL «show_commits»()", "table"),
    ("CALL show_commits(table => 'goods', «limits» => 1)", "Did you mean 'limit'"),
    ("CALL show_commits(table => 'goods', limit => «'many'»)", "type int"),
    ("CALL show_commits(table => «'nowhere'»)", "nowhere"),
    ("TRUNCATE TABLE goods PARTITION («colour» = 'red')", "colour"),
    ("SHOW PARTITIONS goods PARTITION («colour» = 'red')", "colour"),
]


@pytest.fixture
def goods(sql):
    columns = "(id INT, name STRING, price DOUBLE, ts BIGINT, kind STRING)"
    sql(f"CREATE TABLE goods {columns} USING hudi PARTITIONED BY (kind) TBLPROPERTIES (primaryKey = 'id')")
    return sql


def test_misuses_name_the_thing_and_show_its_place(goods):
    wrong = [problem for marked, named in MISUSES if (problem := misuse(goods, marked, named)) is not None]
    assert not wrong, "\n\n".join(wrong)


def misuse(sql, marked: str, named: str) -> str | None:
    """Return what is wrong with the answer to a wrong statement, or None."""
    text = marked.replace("«", "").replace("»", "")
    try:
        sql(text)
    except (HudiError, AnalysisException, PySparkException) as error:
        message = str(error).partition("\n\nJVM stacktrace")[0]
    else:
        return f"accepted: {text}"
    if named not in message:
        return f"does not name {named}: {text}\n{message}"
    start = marked.index("«")
    match = re.search(r"== SQL \(line (\d+), position (\d+)\) ==|line (\d+) pos (\d+)", message)
    if match is None:
        return f"shows no place: {text}\n{message}"
    line, index = int(match.group(1) or match.group(3)), int(match.group(2) or 0) or int(match.group(4)) + 1
    expected = (marked.count("\n", 0, start) + 1, start - (marked.rfind("\n", 0, start) + 1) + 1)
    return None if (line, index) == expected else f"shows {(line, index)} instead of {expected}: {text}\n{message}"
