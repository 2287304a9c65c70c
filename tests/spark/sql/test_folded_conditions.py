"""Conditions that Spark's optimizer folds to nothing, and dates at the ends of what Spark, Arrow and Python can hold."""

from __future__ import annotations

import pytest

from pyhudi.errors import UnsupportedError, UsageError
from tests.spark.sql.conftest import Sql

pytestmark = pytest.mark.spark

NEVER = "EXISTS (SELECT 1 FROM range(3) r WHERE r.id = t.id AND false)"
BOTH = [(1, "a"), (2, "b")]
DAYS = ("0001-01-01", "9999-12-31", "-0044-03-15", "+12345-01-01")


@pytest.fixture
def table(sql: Sql) -> Sql:
    sql("CREATE TABLE t (id INT, v STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return sql


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"DELETE FROM t WHERE {NEVER}", BOTH),
        (f"UPDATE t SET v = 'c' WHERE {NEVER} OR id = 1", [(1, "c"), (2, "b")]),
        (f"INSERT INTO t SELECT id + 5, v FROM t WHERE {NEVER}", BOTH),
        (
            f"MERGE INTO t USING (SELECT id FROM t AS o WHERE {NEVER.replace('t.id', 'o.id')}) s ON t.id = s.id WHEN MATCHED THEN DELETE",
            BOTH,
        ),
    ],
)
def test_a_correlated_exists_that_spark_cannot_plan_is_refused_by_name(table: Sql, text: str, left: list[tuple[int, str]]) -> None:
    if table.session.version < "4.2":
        with pytest.raises(UnsupportedError, match=r"EXISTS whose condition can never hold.*Nothing was written"):
            table(text)
        left = BOTH
    else:  # later lines of Spark plan it
        table(text)
    assert table("SELECT id, v FROM t ORDER BY id") == left


@pytest.mark.parametrize(
    "condition",
    [
        "false",
        "CAST(null AS BOOLEAN)",
        "1 = 0",
        "EXISTS (SELECT 1 FROM range(3) r WHERE r.id = 1 AND false)",
        "EXISTS (SELECT 1 FROM range(3) LIMIT 0)",
        "NOT EXISTS (SELECT 1 FROM range(3))",
        "t.id IN (SELECT id FROM range(0))",
        "t.id = (SELECT max(id) FROM range(0))",
    ],
)
def test_a_condition_that_never_holds_changes_nothing(table: Sql, condition: str) -> None:
    assert table.counts(f"UPDATE t SET v = 'c' WHERE {condition}") == {}
    assert table.counts(f"DELETE FROM t WHERE {condition}") == {}
    assert (
        table.counts(f"MERGE INTO t USING (SELECT 1 AS id, 'd' AS v) s ON t.id = s.id AND {condition} WHEN MATCHED THEN UPDATE SET *") == {}
    )
    assert table.commits("t") == 1


def test_dates_at_and_beyond_the_ends_of_pythons_calendar_are_written_changed_and_found(sql: Sql) -> None:
    sql("CREATE TABLE t (day DATE, v STRING) USING hudi TBLPROPERTIES (primaryKey = 'day')")
    for day in DAYS:
        sql(f"INSERT INTO t VALUES (DATE'{day}', 'new')")
    for day in DAYS:
        assert sql.counts(f"UPDATE t SET v = concat(v, '+') WHERE day = DATE'{day}'") == {"num_affected_rows": 1, "num_updated_rows": 1}
        merged = f"MERGE INTO t USING (SELECT DATE'{day}' AS day, 'merged' AS v) s ON t.day = s.day WHEN MATCHED THEN UPDATE SET v = s.v"
        assert sql.counts(merged) == {"num_affected_rows": 1, "num_updated_rows": 1}
    assert sorted(sql("SELECT CAST(day AS STRING), v FROM t")) == sorted((day, "merged") for day in DAYS)
    assert sql.counts("DELETE FROM t WHERE day <= DATE'0001-01-01'") == {"num_affected_rows": 2, "num_deleted_rows": 2}


def test_an_argument_of_a_call_that_python_cannot_hold_is_refused(table: Sql) -> None:
    with pytest.raises(UsageError, match="state it as a text"):
        table("CALL show_commits(table => 't', limit => DATE'-0044-03-15')")
