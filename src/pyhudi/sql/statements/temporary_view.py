"""CREATE TEMPORARY VIEW over what Spark cannot read as it is written: time travel, paths, Hudi's functions.

Spark keeps the text of such a view and would read it without pyhudi. So the view is made of the query's DataFrame, which shows the rows of
its moment; a temporary view that only names tables is Spark's own, and shows their current rows.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.spark.jvm import jvm
from pyhudi.sql.query import query
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import find_word, tokenize


def create(statement: Statement) -> DataFrame | None:
    """Make the view; None when Spark can make it."""
    if not query.has_table_references(statement):
        return None
    with query.with_replaced_references(statement) as (text, _):
        tokens = tokenize(text)
        begin = find_word(tokens, "AS")
        assert begin is not None, "the parser saw a query"
        rows = statement.run_sql(text[tokens[begin].end :])
    plan = statement.plan
    columns = [(str(pair.productElement(0)), jvm.value_of(pair.productElement(1))) for pair in jvm.items_of(plan.userSpecifiedColumns())]
    rows = rows.toDF(*(name for name, _ in columns)) if columns else rows
    for name, comment in columns:
        rows = rows if comment is None else rows.withMetadata(name, {"comment": str(comment)})
    is_global = str(plan.viewType().toString()) == "GlobalTempView"
    verb = "createOrReplace" if plan.replace() else "create"
    getattr(rows, f"{verb}{'GlobalTempView' if is_global else 'TempView'}")(str(plan.name().table()))
    return statement.empty()
