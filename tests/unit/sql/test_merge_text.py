"""The parts of a MERGE are found where they stand, whatever the expressions in it contain."""

from __future__ import annotations

import pytest

from pyhudi.errors import UsageError
from pyhudi.sql.write.assignments import Assignment
from pyhudi.sql.write.merge_text import merge_text
from pyhudi.write.merge_clause import ClauseAction, MatchKind


def test_tables_aliases_and_condition():
    result = merge_text(
        "WITH x AS (SELECT 1) MERGE INTO db.t AS a USING (SELECT * FROM s WHERE c ON_ ) b ON a.id = b.id WHEN MATCHED THEN DELETE"
    )
    assert result.with_clause == "WITH x AS (SELECT 1)"
    assert (result.target, result.target_name) == ("db.t AS a", "`a`")
    assert (result.source, result.source_name) == ("(SELECT * FROM s WHERE c ON_ ) b", "`b`")
    assert result.on == "a.id = b.id"


def test_a_table_without_alias_is_named_as_written():
    result = merge_text("MERGE INTO db.t USING `other db`.s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert (result.target_name, result.source_name) == ("`db`.`t`", "`other db`.`s`")


@pytest.mark.parametrize(
    ("head", "rows", "condition"),
    [
        ("WHEN MATCHED", MatchKind.MATCHED, ""),
        ("WHEN MATCHED AND s.a > 1 AND t.b", MatchKind.MATCHED, "s.a > 1 AND t.b"),
        ("WHEN NOT MATCHED AND s.a", MatchKind.NOT_MATCHED, "s.a"),
        ("WHEN NOT MATCHED BY TARGET AND s.a", MatchKind.NOT_MATCHED, "s.a"),
        ("WHEN NOT MATCHED BY SOURCE AND t.a", MatchKind.NOT_MATCHED_BY_SOURCE, "t.a"),
        (
            "WHEN MATCHED AND CASE WHEN s.end THEN 1 WHEN x THEN CASE WHEN y THEN 2 END END = 1",
            MatchKind.MATCHED,
            "CASE WHEN s.end THEN 1 WHEN x THEN CASE WHEN y THEN 2 END END = 1",
        ),
    ],
)
def test_a_clause_says_which_rows_and_under_which_condition(head, rows, condition):
    (clause,) = merge_text(f"MERGE INTO t USING s ON t.id = s.id {head} THEN DELETE").clauses
    assert (clause.rows, clause.condition, clause.action) == (rows, condition, ClauseAction.DELETE)


def test_assignments_of_update_and_insert():
    first, second = merge_text(
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.a = f(s.a, 1), b = CASE WHEN s.x THEN 1 ELSE 2 END "
        "WHEN NOT MATCHED THEN INSERT (id, `my b`) VALUES (s.id, DEFAULT)"
    ).clauses
    assert first.assignments == (Assignment(("t", "a"), "f(s.a, 1)"), Assignment(("b",), "CASE WHEN s.x THEN 1 ELSE 2 END"))
    assert second.assignments == (Assignment(("id",), "s.id"), Assignment(("my b",), "NULL"))


def test_a_star_means_every_column():
    first, second = merge_text("MERGE INTO t USING s ON true WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *").clauses
    assert first.assignments is None
    assert second.assignments is None


def test_a_subquery_without_a_name_is_refused():
    with pytest.raises(UsageError, match="AS s"):
        merge_text("MERGE INTO t USING (SELECT 1 AS id) ON true WHEN MATCHED THEN DELETE")
