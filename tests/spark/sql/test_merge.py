"""MERGE INTO: each row goes the way of the first clause that applies to it, in one commit."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from pyhudi.errors import KeyFieldError, SchemaError

pytestmark = pytest.mark.spark

READ = "SELECT id, name, age, city FROM people ORDER BY id"
SOURCE = "(SELECT * FROM VALUES (2, 'BOB', 43, 'oslo'), (4, 'dan', 54, 'oslo') AS v(id, name, age, city)) s"


def test_update_and_insert_all_columns(people):
    counts = people.counts(
        f"MERGE INTO people t USING {SOURCE} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert counts == {"num_affected_rows": 2, "num_updated_rows": 1, "num_inserted_rows": 1}
    assert [row[1] for row in people(READ)] == ["ann", "BOB", "cid", "dan"]


def test_the_first_clause_that_applies_counts(people):
    people("CREATE TEMP VIEW s AS SELECT * FROM VALUES (1, 'd'), (2, 'u'), (3, 'k'), (8, 'i'), (9, 'n') AS v(sid, deed)")
    people("""
        MERGE INTO people AS t USING s ON t.id = s.sid
        WHEN MATCHED AND deed = 'd' THEN DELETE
        WHEN MATCHED AND deed = 'u' THEN UPDATE SET name = concat(t.name, s.deed), age = age + 1
        WHEN NOT MATCHED AND s.deed = 'i' THEN INSERT (id, name, city) VALUES (s.sid, deed, 'oslo')
    """)
    assert [row[:2] for row in people(READ)] == [(2, "bobu"), (3, "cid"), (8, "i")]


def test_rows_that_the_source_lacks_are_updated_and_deleted(people):
    people(
        f"MERGE INTO people t USING {SOURCE} ON t.id = s.id"
        " WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN UPDATE SET name = 'gone' WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert [row[:2] for row in people(READ)] == [(1, "gone"), (2, "bob")]


def test_the_same_merge_again_writes_nothing(people):
    statement = f"MERGE INTO people t USING {SOURCE} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    people(statement)
    commits = people.commits("people")
    assert people.counts(statement) == {}
    assert people.commits("people") == commits


def test_a_key_found_under_another_condition_is_updated_and_not_doubled(people):
    people(f"MERGE INTO people t USING {SOURCE} ON t.id = s.id AND t.age > 100 WHEN NOT MATCHED THEN INSERT *")
    assert [row[:3] for row in people(READ) if row[0] in (2, 4)] == [(2, "BOB", 43), (4, "dan", 54)]


def test_merge_with_cte_parameters_and_subquery_source(people):
    people(
        "WITH n AS (SELECT :name AS name) MERGE INTO people t USING (SELECT 1 AS id, name FROM n) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET name = s.name",
        {"name": "eve"},
    )
    assert people(READ)[0][1] == "eve"


def test_the_greater_ordering_value_of_two_source_rows_wins(sql):
    sql("CREATE TABLE t (id INT, v STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'n')")
    sql("INSERT INTO t VALUES (1, 'a', 1)")
    sql(
        "MERGE INTO t USING (SELECT * FROM VALUES (1, 'c', 3), (1, 'b', 2), (2, 'x', 1), (2, 'y', 5) AS v(id, v, n)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert sql("SELECT id, v, n FROM t ORDER BY id") == [(1, "c", 3), (2, "y", 5)]


def test_two_source_rows_for_one_record_are_refused_without_ordering_field(people):
    before = people(READ)
    with pytest.raises(KeyFieldError, match="'2'"):
        people(
            "MERGE INTO people t USING (SELECT * FROM VALUES (2, 'x'), (2, 'bob') AS v(id, name)) s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET name = s.name"
        )
    assert people(READ) == before


def test_merge_into_a_table_without_keys(sql):
    sql("CREATE TABLE t (id INT, v STRING) USING hudi")
    sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    sql(
        "MERGE INTO t USING (SELECT * FROM VALUES (1, 'x'), (3, 'z') AS v(id, v)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    )
    assert sql("SELECT id, v FROM t ORDER BY id") == [(1, "x"), (2, "b"), (3, "z")]


def test_a_row_can_move_to_another_partition(people):
    people("MERGE INTO people t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET city = 'bern'")
    assert people("SELECT id, city, _hoodie_partition_path FROM people WHERE id = 1") == [(1, "bern", "city=bern")]


@pytest.mark.parametrize(
    ("clauses", "error", "named"),
    [
        ("WHEN MATCHED THEN UPDATE SET nam = 'x'", SchemaError, "nam"),
        ("WHEN MATCHED THEN UPDATE SET age = 'x'", SchemaError, "age"),
        ("WHEN MATCHED THEN UPDATE SET age = 1, t.age = 2", SchemaError, "twice"),
        ("WHEN MATCHED THEN UPDATE SET id = 77", KeyFieldError, "77"),
        ("WHEN MATCHED THEN UPDATE SET name = s.none", AnalysisException, "none"),
        ("WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, t.name)", AnalysisException, "t`.`name"),
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)  # what the clauses say is the same for both types
def test_a_merge_that_does_not_fit_is_refused_and_changes_nothing(people, clauses, error, named):
    before, commits = people(READ), people.commits("people")
    with pytest.raises(error, match=named):
        people(f"MERGE INTO people t USING {SOURCE} ON t.id = s.id {clauses}")
    assert people(READ) == before
    assert people.commits("people") == commits


def test_insert_star_names_the_columns_that_the_source_lacks(people):
    with pytest.raises(SchemaError, match="age, city"):
        people("MERGE INTO people t USING (SELECT 9 AS id, 'x' AS name) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")


def test_the_local_engine_leaves_the_rows_that_sql_leaves(people):
    people("CREATE TABLE other USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT * FROM people")
    rows = [(2, "BOB", 43, "oslo"), (3, "CID", 1, "rome"), (4, "dan", 54, "oslo"), (5, "eve", None, "oslo")]
    people.session.createDataFrame(rows, "id INT, name STRING, age INT, city STRING").createOrReplaceTempView("s")
    people("""
        MERGE INTO other AS target USING s AS source ON target.id = source.id
        WHEN MATCHED AND source.age < 10 THEN DELETE
        WHEN MATCHED THEN UPDATE SET name = concat(target.name, source.name), age = target.age * 2 - source.age % 10
        WHEN NOT MATCHED AND source.age IS NOT NULL THEN INSERT *
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET age = CASE WHEN age > 30 THEN age / 1 END
    """)
    merge = people.table("people").merge([dict(zip(("id", "name", "age", "city"), row, strict=True)) for row in rows])
    merge = merge.when_matched_delete("source.age < 10")
    merge = merge.when_matched_update({"name": "concat(target.name, source.name)", "age": "target.age * 2 - source.age % 10"})
    merge = merge.when_not_matched_insert(where="age IS NOT NULL")
    merge.when_not_matched_by_source_update({"age": "CASE WHEN age > 30 THEN age / 1 END"}).execute()
    people("REFRESH TABLE people")
    assert people(READ) == people(READ.replace("people", "other"))
    assert len(people(READ)) == 3
