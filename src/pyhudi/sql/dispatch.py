"""The front door: what `spark.sql` runs on a session that pyhudi has enabled.

A text goes through Spark's own parser once. Statements that write or define Hudi tables go to their module below;
every other statement is Spark's, after the Hudi tables it names were brought up to date. Design:
docs/design/0030-sql.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyspark.errors import ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.sql_formatter import SQLStringFormatter

from pyhudi.errors import HudiError
from pyhudi.spark.catalog.relation_cache import one_statement
from pyhudi.spark.stopped_sessions import check_running
from pyhudi.sql import unsupported
from pyhudi.sql.call import run_call
from pyhudi.sql.query import query
from pyhudi.sql.statement import statement
from pyhudi.sql.statement.statement import Arguments, SparkSql, Statement
from pyhudi.sql.statements import alter_statement as alter
from pyhudi.sql.statements import (
    alter_table,
    create_as,
    drop_truncate,
    like,
    replace_table,
    session_settings,
    show,
    temporary_view,
    update_delete,
)
from pyhudi.sql.statements import compaction_statement as compaction
from pyhudi.sql.statements import create_table as create
from pyhudi.sql.statements import index_statements as indexes
from pyhudi.sql.statements import insert_statement as insert
from pyhudi.sql.statements import merge_statement as merge
from pyhudi.sql.statements import partition_statements as partitions
from pyhudi.sql.text import error_position
from pyhudi.sql.text.variables import with_variables
from pyhudi.sql.write.explain_write import explain_statement

#: By the class of the statement's plan in Spark. A handler answers None when the statement's table is not a Hudi table.
_HANDLERS: Final[dict[str, Callable[[Statement], DataFrame | None]]] = {
    "CreateTable": create.create_table,
    "CreateTableAsSelect": create_as.create_table_as_select,
    "CreateTableLike": like.create_like,  # Spark 4.3
    "CreateTableLikeCommand": like.create_like,  # Spark 4.1
    "ReplaceTable": replace_table.replace_table,
    "ReplaceTableAsSelect": replace_table.replace_table_as_select,
    "InsertIntoStatement": insert.insert,
    "UpdateTable": update_delete.update,
    "DeleteFromTable": update_delete.delete,
    "MergeIntoTable": merge.merge,
    "DropTable": drop_truncate.drop_table,
    "TruncateTable": drop_truncate.truncate_table,
    "RefreshTable": drop_truncate.refresh_table,
    "CreateViewCommand": temporary_view.create,
    "CreateIndex": indexes.create,
    "DropIndex": indexes.drop,
    "ShowPartitions": show.show_partitions,
    "ShowTableProperties": show.show_properties,
    "SetCommand": session_settings.run_set,
    "ResetCommand": session_settings.reset,
    **dict.fromkeys(alter.KINDS, alter.alter_columns),
    "Call": run_call.call,
    "RenameTable": alter_table.rename,
    "SetTableProperties": alter_table.set_properties,
    "UnsetTableProperties": alter_table.unset_properties,
    "SetTableSerDeProperties": alter_table.set_serde_properties,
    "DropPartitions": partitions.drop_partitions,
    "AddPartitions": partitions.add_partitions,
    "TruncatePartition": partitions.truncate_partition,
    "RepairTable": drop_truncate.refresh_table,
    "RecoverPartitions": drop_truncate.refresh_table,
}


#: Their queries may name relations that Spark cannot read as they are written.
_WITH_A_QUERY: Final = frozenset(
    {"InsertIntoStatement", "CreateTableAsSelect", "ReplaceTableAsSelect", "UpdateTable", "DeleteFromTable", "MergeIntoTable"}
)


def run(session: SparkSession, spark_sql: SparkSql, text: str, args: Arguments = None, **frames: Any) -> DataFrame:
    """Run a SQL statement on a session that speaks Hudi.

    Args:
        session: The session.
        spark_sql: `SparkSession.sql` as Spark made it, bound to the session.
        text: One statement.
        args: Named or positional parameters, as `SparkSession.sql` takes them.
        frames: DataFrames and values that `{name}` in the text stands for, as `SparkSession.sql` takes them.

    Raises:
        HudiError: the statement or its data do not fit a Hudi table; nothing was written.
        pyspark.errors.AnalysisException: Spark's own, for names and types that do not exist.
    """
    if not frames:
        return _run(session, spark_sql, text, args)
    formatter = SQLStringFormatter(session)
    try:
        return _run(session, spark_sql, formatter.format(text, **frames), args)
    finally:
        formatter.clear()


def _run(session: SparkSession, spark_sql: SparkSql, text: str, args: Arguments) -> DataFrame:
    text = with_variables(session, text)
    try:
        with one_statement(session):
            return _handled(session, spark_sql, text, args)
    except HudiError as error:
        error_position.annotate(error, text)
        raise
    except PySparkException as error:
        error_position.relocate(error, text)
        raise


def _handled(session: SparkSession, spark_sql: SparkSql, text: str, args: Arguments) -> DataFrame:
    # Before Spark's parser, which refuses these statements: PySpark logs such an error, with its trace, as soon as it exists.
    if (answer := indexes.show_or_refresh(session, spark_sql, text)) is not None:
        return answer
    try:
        parsed = statement.read(session, spark_sql, text, args)
    except ParseException:
        if (call := compaction.as_call(text)) is not None:
            return _handled(session, spark_sql, call, None)
        return spark_sql(text, args) if args else spark_sql(text)  # Spark's own error, or a syntax that only its full road accepts
    unsupported.check(parsed)
    inner = explain_statement(parsed) or parsed
    handler = _HANDLERS.get(inner.kind)
    answer = None if handler is None else _answer(handler, inner)
    return query.run(parsed) if answer is None else answer


def _answer(handler: Callable[[Statement], DataFrame | None], inner: Statement) -> DataFrame | None:
    """Return what the handler answers; None leaves the statement to Spark."""
    check_running(inner.session)
    named = inner.with_names()
    if inner.kind not in _WITH_A_QUERY or not query.has_table_references(named):
        return handler(named)
    with query.with_replaced_references(named) as (with_replaced_references, paths):
        made = statement.read(inner.session, inner.spark_sql, with_replaced_references, named.args, paths).explaining(inner.explain)
        answer = handler(made)
        return query.run(made) if answer is None and made.explain is None else answer
