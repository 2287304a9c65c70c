"""EXPLAIN of a statement that writes a Hudi table: what would be written and how, and Spark's plan of the rows. Nothing is written.

The statement takes its usual road up to the point where it would write (`WriteTarget.write`). Apache Hudi 1.2.0 shows the plan of
its command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame

from pyhudi.errors import UnsupportedError
from pyhudi.index.resolve_index import expected_index
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.jvm import jvm
from pyhudi.spark.writer.frame_write import without_engine
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.sql.statement.statement import Statement, read
from pyhudi.sql.text.tokens import find_word, text_literal
from pyhudi.write.options.write_config import choose, effective_operation

#: By their plan in Spark: the statements that are explained here.
_EXPLAINABLE: Final = frozenset(
    {"InsertIntoStatement", "UpdateTable", "DeleteFromTable", "MergeIntoTable", "CreateTableAsSelect", "ReplaceTableAsSelect"}
)
_MODES: Final = ("EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL")


def explain_statement(statement: Statement) -> Statement | None:
    """Return the statement that an EXPLAIN is about, made to be explained; None when it is Spark's to explain.

    Raises:
        UnsupportedError: the statement is a CALL.
    """
    if statement.kind != "ExplainCommand":
        return None
    tokens = statement.tokens
    start = find_word(tokens, "EXPLAIN")
    assert start is not None, "the parser saw an EXPLAIN"
    first = start + 2 if tokens[start + 1].is_word(*_MODES) else start + 1
    inner = read(statement.session, statement.spark_sql, statement.text[tokens[first].start :], statement.args)
    if inner.kind == "Call":
        raise UnsupportedError("EXPLAIN of a procedure is not served: CALL has no plan of Spark. CALL help() says what each does.")
    mode = str(statement.plan.mode().name())
    return inner.explaining(mode) if inner.kind in _EXPLAINABLE else None


def explain_write(
    statement: Statement,
    snapshot: Snapshot,
    operation: Operation,
    rows: DataFrame,
    options: Mapping[str, str],
    *,
    partitions: Sequence[str] | None,
    columns: Sequence[str] | None,
) -> DataFrame:
    """Return the explanation of a write as one row; arguments as in `pyhudi.table.write_table.write`."""
    config = snapshot.config
    lines = [
        f"{operation.value} into {config.name}, {config.table_type}, table version {config.version}, {snapshot.storage.uri}",
        _finds(statement, operation, config, options),
        _writes(operation, config, partitions, columns),
        _describe_snapshot(snapshot),
    ]
    return explain_rows(statement, lines, rows)


def explain_rows(statement: Statement, lines: Sequence[str], rows: DataFrame) -> DataFrame:
    """Return as one row what would be written, and Spark's plan of the rows."""
    utils = jvm.java_class(statement.session, "org.apache.spark.sql.api.python.PythonSQLUtils")
    plan = utils.explainString(rows._jdf.queryExecution(), statement.explain)  # noqa: SLF001 - no public name
    text = "\n".join(["== Hudi Write ==", *(f"- {line}" for line in lines), "", "Rows:", plan])
    return statement.rows(["plan"], [[text_literal(text)]])


def _finds(statement: Statement, operation: Operation, config: TableConfig, options: Mapping[str, str]) -> str:
    settings = resolve(without_engine(options))
    write = choose(settings, config, effective_operation(operation, settings, config))
    by_index = f"looked up by the index {expected_index(write.index, config)}, unless the number of rows and files suggests another"
    if operation in (Operation.UPSERT_PREPPED, Operation.DELETE_PREPPED):
        new = f"; new rows are {by_index}" if statement.kind == "MergeIntoTable" else ""
        return f"stored rows come with the file that they are in, no index is asked{new}"
    return f"keys are {by_index}" if write.rules.looks_up else "keys are not looked up"


def _writes(operation: Operation, config: TableConfig, partitions: Sequence[str] | None, columns: Sequence[str] | None) -> str:
    if operation is Operation.INSERT_OVERWRITE_TABLE:
        return "new base files replace all files of the table"
    if operation is Operation.INSERT_OVERWRITE:
        which = "the partitions of the rows" if partitions is None else f"partition {', '.join(map(repr, partitions))}"
        return f"new base files replace all files of {which}"
    if operation in (Operation.INSERT, Operation.BULK_INSERT):
        return (
            "rows go to new base files"
            if operation is Operation.BULK_INSERT
            else "rows fill up small base files, the others go to new ones"
        )
    if not config.is_merge_on_read:
        return "base files that hold a changed row are rewritten"
    columns_text = "" if columns is None else f", with the columns {', '.join(columns)} alone"
    return f"changes of stored rows are appended to log files{columns_text}"


def _describe_snapshot(snapshot: Snapshot) -> str:
    slices = [file_slice for path in snapshot.partition_paths for file_slice in snapshot.slices(path)]
    files = [file_slice.base for file_slice in slices if file_slice.base is not None]
    logs = [log for file_slice in slices for log in file_slice.logs]
    size = sum(file.size for file in files) + sum(log.size for log in logs)
    return f"the table has {len(files)} base files and {len(logs)} log files in {len(snapshot.partition_paths)} partitions, {size:,} bytes"
