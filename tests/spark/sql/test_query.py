"""SELECT: a Hudi table stands wherever Spark takes a table."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import AnalysisException

from pyhudi.errors import OptionError, UnsupportedError

pytestmark = pytest.mark.spark


QUERIES = [
    ("SELECT max(id) FROM people", [(3,)]),
    ("SELECT people.id FROM people WHERE people.city = 'rome'", [(3,)]),
    ("SELECT {db}.people.id FROM {db}.people WHERE id = 1", [(1,)]),
    ("SELECT spark_catalog.{db}.people.id FROM spark_catalog.{db}.people WHERE id = 1", [(1,)]),
    ("WITH p AS (SELECT * FROM people) SELECT count(*) FROM p", [(3,)]),
    ("SELECT count(*) FROM people a JOIN people b ON a.city = b.city", [(5,)]),
    ("SELECT r.id FROM range(9) r WHERE r.id IN (SELECT id FROM people) AND r.id > 2", [(3,)]),
    ("SELECT (SELECT count(*) FROM people) AS n", [(3,)]),
    ("SELECT id FROM (SELECT id FROM people UNION ALL SELECT id FROM people) ORDER BY id LIMIT 2", [(1,), (1,)]),
    ("FROM people |> WHERE id = 2 |> SELECT name", [("bob",)]),
    ("SELECT name FROM IDENTIFIER('people') WHERE id = 2", [("bob",)]),
    ("SELECT id FROM hudi.`{folder}/people` WHERE hudi.city = 'rome'", [(3,)]),
    ("SELECT count(*) FROM people p, hudi.`{folder}/people` q WHERE p.id = q.id", [(3,)]),
]


def test_a_table_is_read_wherever_it_stands(people):
    answers = {query: people(query.format(db=people.database, folder=people.folder)) for query, _ in QUERIES}
    assert answers == dict(QUERIES)


def test_meta_columns_come_first(people):
    assert people.session.sql("SELECT * FROM people").columns == [
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
        "_hoodie_record_key",
        "_hoodie_partition_path",
        "_hoodie_file_name",
        "id",
        "name",
        "age",
        "city",
    ]


def test_the_plan_is_sparks_own_scan_with_pushed_filters(people):
    plan = people.session.sql("EXPLAIN SELECT name FROM people WHERE age > 40 AND city = 'oslo'").first()[0]
    assert "FileScan parquet" in plan
    assert "GreaterThan(age,40)" in plan
    assert "PartitionFilters: [isnotnull(city" in plan


def test_a_view_shows_the_tables_current_rows(people):
    people("CREATE VIEW adults AS SELECT * FROM people WHERE age > 40")
    people("CREATE TEMP VIEW counted AS SELECT count(*) AS n FROM adults")
    people("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert people("SELECT n FROM counted") == [(3,)]


def test_spark_table_shows_the_tables_current_rows(people):
    people("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert people.session.table("people").count() == 4


def test_a_commit_made_past_this_session_is_seen(people):
    people("SELECT * FROM people")
    people.table("people").delete(where="id = 1")
    assert people("SELECT count(*) FROM people") == [(2,)]


def test_a_dataframe_keeps_the_rows_of_its_moment(people):
    frame = people.session.sql("SELECT id FROM people")
    people("DELETE FROM people WHERE id = 1")
    assert frame.count() == 3


def test_time_travel_by_instant_shows_the_rows_of_that_time(people):
    people("DELETE FROM people WHERE id = 1")
    first = people.table("people").history().sort_by("requested").column("completed")[0].as_py()
    assert people(f"SELECT count(*) FROM people TIMESTAMP AS OF '{first}'") == [(3,)]
    assert people(f"SELECT p.id FROM people VERSION AS OF '{first}' AS p WHERE p.id = 1") == [(1,)]
    assert people(f"SELECT people.id FROM people TIMESTAMP AS OF '{first}' JOIN people AS now USING (id)") == [
        (2,),
        (3,),
    ]


def test_columns_of_an_earlier_state_may_be_named_with_the_database(people):
    first = people.table("people").history().sort_by("requested").column("completed")[0].as_py()
    people("DELETE FROM people WHERE id = 1")
    database = people.session.catalog.currentDatabase()
    earlier = f"FROM {database}.people TIMESTAMP AS OF '{first}'"
    assert people(f"SELECT {database}.people.id {earlier} WHERE `{database}`.people.id < 3") == [(1,), (2,)]
    assert people(f"SELECT count(1) FROM (SELECT {database}.people.* {earlier})") == [(3,)]
    assert people(f"SELECT spark_catalog.{database}.people.name AS n {earlier} ORDER BY {database}.PEOPLE.id LIMIT 1") == people(
        f"SELECT p.name FROM people VERSION AS OF '{first}' p WHERE id = 1"
    )
    assert people(f"SELECT '{database}.people.id', {database}.people.id {earlier} JOIN people now ON now.id = {database}.people.id") == [
        (f"{database}.people.id", 2),
        (f"{database}.people.id", 3),
    ]


def test_time_travel_takes_an_expression(people):
    time.sleep(1.1)  # Spark's timestamp is cut to the second of the table's first commit
    people("DELETE FROM people WHERE id = 1")
    assert people("SELECT count(*) FROM people TIMESTAMP AS OF current_timestamp() + INTERVAL 1 DAY") == [(2,)]


def test_before_the_first_commit_there_are_no_rows(people):
    assert people("SELECT count(*) FROM people TIMESTAMP AS OF '2001-01-01'") == [(0,)]


def test_a_joined_table_of_another_format_is_sparks(people):
    people("CREATE TABLE cities USING parquet AS SELECT 'oslo' AS city, 'Norway' AS land")
    assert people("SELECT p.id, c.land FROM people p LEFT JOIN cities c USING (city) ORDER BY id") == [
        (1, "Norway"),
        (2, "Norway"),
        (3, None),
    ]


def test_a_dataframe_can_stand_in_the_text(people):
    ids = people.session.range(2, 9)
    result = people.session.sql("SELECT name FROM {ids} JOIN people USING (id) ORDER BY id", ids=ids).collect()
    assert [row[0] for row in result] == ["bob", "cid"]


def test_a_stored_view_over_a_path_is_refused(people):
    with pytest.raises(UnsupportedError, match="cannot keep"):
        people(f"CREATE VIEW v AS SELECT * FROM hudi.`{people.folder}/people`")


def test_a_table_that_does_not_exist_is_sparks_error(sql):
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        sql("SELECT * FROM nowhere")


def test_time_travel_paths_functions_and_options_stand_in_writing_statements_too(people):
    last = people.table("people").history().to_pylist()[-1]
    before, since = last["requested"], last["completed"]
    path = people.folder / "people"
    people("UPDATE people SET name = 'new', age = 99 WHERE id = 2")
    people(f"CREATE TABLE old USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT id, name FROM people TIMESTAMP AS OF '{before}'")
    people(f"INSERT INTO old SELECT id + 10, name FROM hudi_table_changes('people', 'latest_state', '{since}')")
    people(f"WITH seen AS (SELECT * FROM hudi.`{path}`) INSERT INTO old SELECT id + 20, name FROM seen WHERE id = 2")
    people(f"INSERT INTO old SELECT id + 30, name FROM people WITH ('as.of.instant' = '{before}') WHERE id = 2")
    assert people("SELECT id, name FROM old WHERE id > 1 ORDER BY id") == [(2, "bob"), (3, "cid"), (12, "new"), (22, "new"), (32, "bob")]
    people(
        f"MERGE INTO old USING (SELECT id, age FROM people TIMESTAMP AS OF '{before}') s ON old.id = s.id"
        " WHEN MATCHED THEN UPDATE SET name = CAST(s.age AS STRING)"
    )
    people(f"UPDATE old SET name = 'x' WHERE id IN (SELECT id FROM people TIMESTAMP AS OF '{before}' WHERE age = 42)")
    people(f"DELETE FROM old WHERE id IN (SELECT id + 10 FROM hudi.`{path}`)")
    assert people("SELECT id, name FROM old ORDER BY id") == [(1, "31"), (2, "x"), (3, "53"), (22, "new"), (32, "bob")]
    with pytest.raises(OptionError, match=r"Did you mean 'hoodie.datasource.query.type'"):
        people("SELECT * FROM people WITH (`hoodie.datasource.query.tpye` = 'snapshot')")
