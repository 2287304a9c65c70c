"""DELETE FROM t [WHERE condition]: Spark finds the rows; only their keys and the files they are in cross into
Python.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.spec.actions.commit import Operation
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import find_word, quote, slice_text
from pyhudi.sql.write.write_target import open_for_change
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS


def delete(statement: Statement) -> DataFrame | None:
    """Run a DELETE on a Hudi table; None when the table is another's."""
    opened = open_for_change(statement, statement.plan.table())
    if opened is None:
        return None
    target, seen = opened
    tokens = statement.tokens
    start = find_word(tokens, "DELETE")
    assert start is not None, "the parser saw a DELETE"
    with_clause = slice_text(statement.text, tokens[:start])
    rest = slice_text(statement.text, tokens[start + 1 :])
    if target.has_virtual_keys:
        named = ", ".join(quote(name) for name in target.table.config.naming_columns)
        return target.write(Operation.DELETE, statement.ask(f"{with_clause} SELECT {named} {rest}"))
    rows = statement.ask(f"{with_clause} SELECT {', '.join(LOCATION_COLUMNS)} {rest}")
    return target.write(Operation.DELETE_PREPPED, rows, located=True, seen=seen)
