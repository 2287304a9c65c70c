"""MERGE INTO t USING s ON condition WHEN ...: one query finds the rows that change, one commit writes them.

Where few rows are merged by equal columns, the join is made in this process (`pyhudi.spark.writer.local_join`), else by Spark; the
expressions
are always Spark's to evaluate.

Rows of the table come with the file they are in, as those of UPDATE and DELETE do; new rows are looked up by the table's
index, so that a key which the table holds already is updated there. Two source rows that change one row of the table: the
greater ordering value wins, and without ordering fields the statement is refused.
"""

from __future__ import annotations

import functools

from pyspark.sql import DataFrame

from pyhudi.errors import SchemaError
from pyhudi.spark.writer.frame_write import local_bytes_max
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.visibility import Visibility
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write.column_assignment import text_errors
from pyhudi.sql.write.merge_query import MergeQuery
from pyhudi.sql.write.merge_text import MergeText, merge_text
from pyhudi.sql.write.write_target import WriteTarget, change_rows
from pyhudi.write.merge_clause import ClauseAction, check_reachable


def merge(statement: Statement) -> DataFrame | None:
    """Run a MERGE on a Hudi table; None when the table is not a Hudi table."""
    return change_rows(statement, statement.plan.targetTable(), functools.partial(_merge, statement))


def _merge(statement: Statement, target: WriteTarget, read_snapshot: Visibility) -> DataFrame:
    text = merge_text(statement.text)
    _check(text, target.name)
    query = MergeQuery(statement, target, text)
    explains = statement.explain is not None  # by Spark's plan, whatever the number of rows
    with text_errors(f"MERGE INTO {target.name}"):
        most = 0 if explains else local_bytes_max(statement.session, target.options)
        by_source = bool(most) and query.stores_source_rows
        rows = None if explains else query.collect_locally(most) if by_source else query.build_locally(most)
        if rows is None:
            rows = statement.run_sql(query.build())
        changed = query.changed_columns()
        columns = None if changed is None or target.has_virtual_keys else target.partial_columns(changed)
        return target.write(Operation.UPSERT_PREPPED, rows, prepped=True, read_snapshot=read_snapshot, columns=columns)


def _check(text: MergeText, table: str) -> None:
    """Refuse clauses that can never be reached, and inserts of nothing.

    Raises:
        SchemaError: as said.
    """
    check_reachable(((clause.rows, bool(clause.condition)) for clause in text.clauses), f"MERGE INTO {table}")
    for clause in text.clauses:
        if clause.action is ClauseAction.INSERT and clause.assignments == ():
            raise SchemaError(f"MERGE INTO {table}: INSERT names no columns.")
