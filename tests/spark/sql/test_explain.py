"""EXPLAIN of statements that write a Hudi table: what they would write, and Spark's plan of the rows; nothing is written."""

from __future__ import annotations

import pytest

from pyhudi.errors import UnsupportedError

pytestmark = pytest.mark.spark

MERGE = "MERGE INTO people t USING (SELECT 2 AS id, 'rob' AS name) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE people SET name = 'x' WHERE age > 40", "UPSERT_PREPPED into people"),
        ("DELETE FROM people WHERE city = 'oslo'", "DELETE_PREPPED into people"),
        ("INSERT INTO people SELECT id + 10, name, age, city FROM people", "rows fill up small base files"),
        ("INSERT OVERWRITE people PARTITION (city = 'rome') SELECT 1, 'x', 1", "partition 'city=rome'"),
        (MERGE, "no index is asked; new rows are looked up by the index"),
    ],
)
@pytest.mark.parametrize("people", ["mor"], indirect=True)
def test_explain_says_what_would_be_written_and_writes_nothing(people, statement, message):
    commits = people.commits("people")
    ((plan,),) = people(f"EXPLAIN {statement}")
    assert message in plan
    assert "== Physical Plan ==" in plan
    ((longer,),) = people(f"EXPLAIN EXTENDED {statement}")
    assert "== Analyzed Logical Plan ==" in longer
    assert people.commits("people") == commits


@pytest.mark.parametrize("people", ["mor"], indirect=True)
def test_explain_names_the_columns_that_a_partial_update_writes(people):
    ((plan,),) = people("EXPLAIN UPDATE people SET age = ? WHERE name = ?", [1, "ann"])
    assert "appended to log files, with the columns id, age, city alone" in plan


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_explain_of_a_table_by_its_path_and_of_procedures(people):
    path = people.table("people").storage.uri
    ((plan,),) = people(f"EXPLAIN DELETE FROM hudi.`{path}` WHERE id = 1")
    assert "base files that hold a changed row are rewritten" in plan
    with pytest.raises(UnsupportedError, match="EXPLAIN of a procedure"):
        people("EXPLAIN CALL show_commits(table => 'people')")


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_explain_of_a_table_made_from_a_query_makes_none(people):
    ((plan,),) = people("EXPLAIN CREATE TABLE copy USING hudi AS SELECT * FROM people")
    assert "BULK_INSERT into the new table" in plan
    assert [name for _, name, _ in people("SHOW TABLES")] == ["people"]
