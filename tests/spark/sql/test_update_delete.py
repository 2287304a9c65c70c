"""UPDATE and DELETE: exactly the rows that the condition is true for change."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from pyhudi.errors import SchemaError

pytestmark = pytest.mark.spark

READ = "SELECT id, name, age, city FROM people ORDER BY id"


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("UPDATE people SET name = 'x' WHERE id = 2", ["ann", "x", "cid"]),
        ("UPDATE people SET name = 'x'", ["x", "x", "x"]),
        ("UPDATE people SET name = concat(name, '-', age) WHERE city = 'oslo'", ["ann-31", "bob-42", "cid"]),
        ("UPDATE people AS p SET p.name = upper(p.name) WHERE p.age > 40 AND p.city LIKE 'r%'", ["ann", "bob", "CID"]),
        ("UPDATE people SET people.name = 'x' WHERE id IN (SELECT max(id) FROM people)", ["ann", "bob", "x"]),
        ("UPDATE people SET name = (SELECT max(name) FROM people) WHERE id = 1", ["cid", "bob", "cid"]),
        (
            "WITH old AS (SELECT 2 AS k) UPDATE people SET name = 'x' WHERE id IN (SELECT k FROM old)",
            ["ann", "x", "cid"],
        ),
        (
            "UPDATE people SET name = CASE WHEN age > 50 THEN 'a, b' ELSE \"SET x WHERE\" END WHERE id <> 2",
            ["SET x WHERE", "bob", "a, b"],
        ),
        ("UPDATE people SET name = DEFAULT WHERE id = 1", [None, "bob", "cid"]),
        ("UPDATE people SET name = NULL, age = age + 1 WHERE id = 1", [None, "bob", "cid"]),
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)  # what the clauses say is the same for both types
def test_update_gives_new_values_to_the_matching_rows(people, statement, names):
    people(statement)
    assert [row[1] for row in people(READ)] == names


def test_update_leaves_the_other_columns_and_the_key(people):
    before = people("SELECT _hoodie_record_key, id, age, city FROM people ORDER BY id")
    people("UPDATE people SET name = 'x'")
    assert people("SELECT _hoodie_record_key, id, age, city FROM people ORDER BY id") == before


def test_update_keeps_each_row_in_its_file_group(people):
    groups = "SELECT id, substring_index(_hoodie_file_name, '_', 1) FROM people ORDER BY id"
    before = people(groups)
    people("UPDATE people SET age = 0")
    assert people(groups) == before


def test_parameters_of_an_update_are_bound(people):
    people("UPDATE people SET name = ?, age = ? WHERE id = ?", ["x", 7, 3])
    people("UPDATE people SET name = :n WHERE id = :i", {"n": "y", "i": 1})
    assert [row[1:3] for row in people(READ)] == [("y", 31), ("bob", 42), ("x", 7)]


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("DELETE FROM people WHERE id = 2", [1, 3]),
        ("DELETE FROM people", []),
        ("DELETE FROM people p WHERE p.age BETWEEN 30 AND 45 AND p.city = 'oslo'", [3]),
        ("DELETE FROM people WHERE id IN (SELECT max(id) FROM people)", [1, 2]),
        ("DELETE FROM people WHERE NOT EXISTS (SELECT 1 FROM range(3) r WHERE r.id = people.id)", [1, 2]),
        ("WITH k AS (SELECT 1 AS id) DELETE FROM people WHERE id IN (SELECT id FROM k)", [2, 3]),
        ("DELETE FROM people -- all of them\n WHERE name = 'ann' OR city = 'rome';", [2]),
    ],
)
@pytest.mark.parametrize("people", ["mor"], indirect=True)  # what the clauses say is the same for both types
def test_delete_removes_the_matching_rows(people, statement, left):
    people(statement)
    assert [row[0] for row in people(READ)] == left


@pytest.mark.parametrize(
    "statement",
    ["UPDATE people SET name = 'x' WHERE id = 99", "DELETE FROM people WHERE id = 99", "DELETE FROM people WHERE age > NULL"],
)
def test_what_matches_nothing_commits_nothing(people, statement):
    assert people.counts(statement) == {}
    assert people.commits("people") == 1


def test_the_answer_names_the_instant(people):
    (row,) = people.session.sql("DELETE FROM people WHERE id = 1").collect()
    assert row.instant in people.table("people").history().column("requested").to_pylist()


def test_both_copies_of_a_key_are_updated_and_deleted(people):
    people("INSERT INTO people VALUES (1, 'ann again', 31, 'oslo')")
    people("UPDATE people SET age = 5 WHERE id = 1")
    assert people("SELECT age FROM people WHERE id = 1") == [(5,), (5,)]
    people("DELETE FROM people WHERE id = 1")
    assert people("SELECT id FROM people ORDER BY id") == [(2,), (3,)]


@pytest.mark.parametrize("column", ["id", "city"])
def test_an_assignment_to_key_or_partition_is_refused(people, column):
    with pytest.raises(SchemaError, match=f"assigns {column}"):
        people(f"UPDATE people SET {column} = '7'")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE people SET nme = 'x'", "no column nme"),
        ("UPDATE people SET age = 'old'", "nothing was written.*'old'"),
        ("UPDATE people SET age = true", "age is int"),
        ("UPDATE people SET age = 1, age = 2", "twice"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(people, statement, says):
    with pytest.raises(SchemaError, match=says):
        people(statement)
    assert people.commits("people") == 1


def test_an_unknown_column_in_the_condition_is_sparks_error(people):
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        people("DELETE FROM people WHERE nme = 'x'")


def test_under_event_time_a_late_update_is_ignored_and_counted(sql):
    sql("CREATE TABLE t (id INT, v STRING, ts INT) USING hudi TBLPROPERTIES (primaryKey = 'id', orderingFields = 'ts')")
    sql("INSERT INTO t VALUES (1, 'new', 10)")
    assert sql.counts("UPDATE t SET v = 'late', ts = 5") == {"num_ignored_rows": 1}
    assert sql("SELECT v, ts FROM t") == [("new", 10)]
    assert sql.counts("DELETE FROM t WHERE id = 1")["num_deleted_rows"] == 1


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_text_that_is_a_number_is_stored_as_one_and_other_text_is_an_error(people):
    people("UPDATE people SET age = '41' WHERE id = 1")
    people("MERGE INTO people t USING (SELECT 2 AS id, '42' AS age) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET age = s.age")
    assert people("SELECT id, age FROM people WHERE id < 3 ORDER BY id") == [(1, 41), (2, 42)]
    for statement in (
        "UPDATE people SET age = name",
        "MERGE INTO people t USING (SELECT 2 AS id, 'x' AS age) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET age = s.age",
    ):
        with pytest.raises(SchemaError, match=r"nothing was written.*CAST_INVALID_INPUT"):
            people(statement)
    people.session.conf.set("spark.sql.ansi.enabled", "false")  # a cast would make null of it
    try:
        with pytest.raises(SchemaError, match="cannot be stored there safely"):
            people("UPDATE people SET age = '43' WHERE id = 1")
    finally:
        people.session.conf.unset("spark.sql.ansi.enabled")
    assert people("SELECT id, age FROM people WHERE id < 3 ORDER BY id") == [(1, 41), (2, 42)]
