"""Hudi's three SQL validators: one value expected, the same result before and after the write, or another one.

Rules: `SqlQuerySingleResultPreCommitValidator`, `SqlQueryEqualityPreCommitValidator`, `SqlQueryInequalityPreCommitValidator`.
"""

from __future__ import annotations

from typing import Any, Final

from pyhudi.errors import OptionError, ValidationError
from pyhudi.javacompat.float_text import float_text
from pyhudi.table.validation.query_runner import QueryRunner, sorted_rows
from pyhudi.table.validation.staged_rows import StagedRows
from pyhudi.write.options.validators import TABLE_NAME, SqlQueries

_BEFORE: Final = "pyhudi_rows_before"
_AFTER: Final = "pyhudi_rows_after"


def run_sql_validator(validator: SqlQueries, before: StagedRows, after: StagedRows, run: QueryRunner) -> None:
    """Run the queries of a validator.

    Raises:
        ValidationError: a query has another answer than the validator demands; names the query and both answers.
        OptionError: a query cannot be run, or has no single value where one is expected.
    """
    for stated in validator.queries:
        query, _, expected = stated.partition("#")
        after_rows = _answer(validator, query, _AFTER, after, run)
        if "single.value" in validator.option:
            _check_single(validator, query, expected.strip(), after_rows)
            continue
        before_rows = _answer(validator, query, _BEFORE, before, run)
        is_same = sorted_rows(before_rows) == sorted_rows(after_rows)
        if is_same == ("inequality" in validator.option):
            demand = "another answer" if is_same else "the same answer"
            raise ValidationError(
                f"{validator.option}: the query '{query}' shall have {demand} after the write. Before it: {_show(before_rows)}; after it:"
                f" {_show(after_rows)}. The write is rolled back."
            )


def _check_single(validator: SqlQueries, query: str, expected: str, rows: list[tuple[Any, ...]]) -> None:
    if len(rows) != 1 or len(rows[0]) != 1:
        raise OptionError(f"{validator.option}: the query '{query}' shall have one value, it has {_show(rows)}. The write is rolled back.")
    result = _java_text(rows[0][0])
    if result != expected:
        raise ValidationError(
            f"{validator.option}: the query '{query}' has the answer {result}, expected was {expected}. The write is rolled back."
        )


def _java_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return float_text(value)
    return "null" if value is None else str(value)


def _answer(validator: SqlQueries, query: str, name: str, rows: StagedRows, run: QueryRunner) -> list[tuple[Any, ...]]:
    """Return the rows of a query on those of one side; errors show it as the user wrote it, without that side's name."""
    table = rows.table
    try:
        return [tuple(row) for row in run(query.replace(TABLE_NAME, name), {name: table})]
    except Exception as error:
        reason = str(error).replace(name, TABLE_NAME)
        raise OptionError(f"{validator.option}: the query '{query}' failed: {type(error).__name__}: {reason}") from error


def _show(rows: list[tuple[Any, ...]]) -> str:
    listed = ", ".join(sorted_rows(rows)[:5])
    return f"{listed} and {len(rows) - 5} more rows" if len(rows) > 5 else listed or "no rows"
