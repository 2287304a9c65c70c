"""SQL text of filters and values: what `filter=`, `where=` and the values of `update` and `merge` may say.

sqlglot parses the text, `filter_condition` and `value_expression` translate its tree. It is imported with the first text that is parsed.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.read.filter.row_predicate import Filter, check_condition

if TYPE_CHECKING:
    from pyhudi.read.filter.filter_condition import ConditionTranslator
    from pyhudi.read.filter.sql_tree import SqlText


def parse_predicate(text: str, schema: pa.Schema, ambiguous: Collection[str] = ()) -> Filter:
    """Return the filter that a SQL condition means over rows of this schema; `ambiguous` are names that need a qualifier, for messages.

    Raises:
        UsageError: the text is no condition, names an unknown column, or compares with a value of no such type; the message shows where.

    Example:
        >>> str(parse_predicate("a > 1 AND b IN ('x', 'y')", pa.schema({"a": pa.int64(), "b": pa.string()})).expression)[:7]
        '((a > 1'
    """
    sql, translator = _translator(text, "filter", schema, ambiguous)
    try:
        parsed = translator.filter(sql.parse())
    except RecursionError:
        raise sql.error("nests too deep", 0) from None
    check_condition(parsed.expression, schema)
    return parsed


def parse_value(text: str, schema: pa.Schema, ambiguous: Collection[str] = ()) -> pc.Expression:
    """Return the expression that a SQL text means over rows of a schema; `ambiguous` are names that need a qualifier, for messages.

    Raises:
        UsageError: the text is no expression, or names an unknown column or function; the message shows where.

    Example:
        >>> str(parse_value("fare * 2", pa.schema({"fare": pa.int64()})))
        'multiply_checked(fare, 2)'
    """
    sql, translator = _translator(text, "expression", schema, ambiguous)
    try:
        return translator.value(sql.parse())
    except RecursionError:
        raise sql.error("nests too deep", 0) from None


def _translator(text: str, what: str, schema: pa.Schema, ambiguous: Collection[str]) -> tuple[SqlText, ConditionTranslator]:
    # With the first text only: sqlglot takes tenths of a second to import.
    sql = importlib.import_module("pyhudi.read.filter.sql_tree").SqlText(text, what)
    return sql, importlib.import_module("pyhudi.read.filter.filter_condition").ConditionTranslator(sql, schema, ambiguous)
