"""Table-valued functions of Hudi as relations; those that look at a table instead of its rows are in `view_functions`.

Rules: `HoodieTableChanges`, `HoodieQuery` of Hudi's Spark extension. The first argument is a table's name or, when it holds a slash,
a path; all arguments are strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import TableNotFound, UsageError, with_subject
from pyhudi.read.incremental.incremental import ChangesQuery
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import known_snapshot
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.options.session_options import changes_of_session, query_of_mode
from pyhudi.spark.reader import view_functions
from pyhudi.spark.reader.read_frame import read_frame
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import PLAIN_TEXT, slice_text, split, tokenize
from pyhudi.storage.open_storage import open_storage

_CHANGES: Final = "hudi_table_changes"
_QUERY: Final = "hudi_query"
SERVED: Final = frozenset({_CHANGES, _QUERY, *view_functions.NAMES})
_USAGE: Final = {
    _CHANGES: "hudi_table_changes('table', 'latest_state' | 'cdc', 'begin' [, 'end'])",
    _QUERY: "hudi_query('table', 'snapshot' | 'read_optimized')",
    **{name: view_functions.usage(name) for name in view_functions.NAMES},
}


def function_name(node: JavaObject) -> str | None:
    """Return the name of the Hudi function that a node of a parsed plan calls, or None."""
    if node.nodeName() != "UnresolvedTableValuedFunction":
        return None
    parts = jvm.items_of(node.name())
    name = str(parts[-1]).lower()
    return name if name in SERVED else None


def relation(statement: Statement, name: str, call: str) -> DataFrame:
    """Return the rows of a function call, `call` being its text.

    Raises:
        UsageError: an argument is missing, too many, or null, or a setting of the session does not fit.
        TableNotFound: there is no such table.
    """
    session, arguments = statement.session, _string_arguments(statement, name, call)
    if name in view_functions.NAMES:
        return session.createDataFrame(view_functions.rows_of(name, _location(session, arguments[0]), arguments[1:]))
    query = changes_of_session(session, _changes(arguments)) if name == _CHANGES else _snapshot(session, arguments)
    if "/" in arguments[0]:
        return read_frame(session, open_storage(arguments[0]), query)
    table = _table(session, arguments[0])
    return read_frame(session, open_storage(table.location), query, known=known_snapshot(session, table))


def _string_arguments(statement: Statement, name: str, call: str) -> list[str]:
    """Return the arguments; one that is no plain literal is Spark's to evaluate."""
    tokens = tokenize(call)
    inside = call[next(token for token in tokens if token.text == "(").end : tokens[-1].start]
    stated = [slice_text(inside, part) for part in split(tokenize(inside), ",") if part]
    wrong = with_subject(UsageError(f"{name} takes text literals: {_USAGE[name]}."), name)
    if len(stated) not in {_CHANGES: (3, 4), _QUERY: (2,)}.get(name, (1, 2)):
        raise wrong
    if all(PLAIN_TEXT.fullmatch(text) for text in stated):
        return [text[1:-1] for text in stated]
    try:
        strings = statement.run_sql(f"SELECT {', '.join(f'CAST({text} AS STRING)' for text in stated)}").collect()[0]
    except AnalysisException as error:
        raise wrong from error
    if None in strings:
        raise wrong
    return list(strings)


def _changes(arguments: Sequence[str]) -> ChangesQuery:
    _, form, since, *until = arguments
    if form.lower() not in ("latest_state", "cdc"):
        raise with_subject(UsageError(f"{_CHANGES} gives 'latest_state' or 'cdc', not '{form}': {_USAGE[_CHANGES]}."), form)
    return ChangesQuery(since, until[0] if until else None, change_data=form.lower() == "cdc")


def _snapshot(session: SparkSession, arguments: Sequence[str]) -> SnapshotQuery:
    mode = arguments[1].lower()
    if mode == "snapshot":
        return query_of_mode(session, "snapshot")
    if mode == "read_optimized":
        return query_of_mode(session, "read_optimized")
    problem = f"{_QUERY} reads 'snapshot' or 'read_optimized', not '{arguments[1]}': {_USAGE[_QUERY]}."
    raise with_subject(UsageError(problem), arguments[1])


def _location(session: SparkSession, table: str) -> str:
    return table if "/" in table else _table(session, table).location


def _table(session: SparkSession, name: str) -> CatalogTable:
    match = catalog_table.find(session, catalog_table.split_name(session, name))
    if match is None:
        raise TableNotFound(f"'{name}' is no Hudi table of this session's catalog; a path has a slash in it.")
    return match
