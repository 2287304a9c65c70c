"""Statements that are not served on Hudi tables: each is refused by name, before anything is written, with what to do instead."""

from __future__ import annotations

import re
from typing import Final

from pyhudi.errors import UnsupportedError
from pyhudi.spark.catalog import catalog_table
from pyhudi.sql.query import table_functions as functions
from pyhudi.sql.query import unresolved_targets
from pyhudi.sql.statement.statement import Statement

#: Spark's plan class -> what the user wrote, and what to do instead.
_ON_TABLE: Final = {
    "OverwriteByExpression": (
        "INSERT INTO ... REPLACE WHERE",
        "INSERT OVERWRITE ... PARTITION (...) replaces partitions, and MERGE INTO replaces rows, each in one commit.",
    ),
    "RenamePartitions": (
        "ALTER TABLE ... RENAME PARTITION",
        "MERGE INTO ... WHEN MATCHED THEN UPDATE SET * from a query that selects the rows with the new value moves them in one commit.",
    ),
    "SetTableLocation": (
        "ALTER TABLE ... SET LOCATION",
        "CREATE TABLE <another name> USING hudi LOCATION '<folder>' makes an entry for the table in another folder.",
    ),
    "AlterTableClusterBy": (
        "ALTER TABLE ... CLUSTER BY",
        "CALL run_clustering(table => '<table>', order => '<columns>') puts the rows in order.",
    ),
    "AlterTableCollation": ("ALTER TABLE ... DEFAULT COLLATION", "Hudi's tables have no collations: compare with COLLATE in the query."),
    "LoadData": ("LOAD DATA", "INSERT INTO <table> SELECT ... FROM parquet.`<folder>` writes the rows of files."),
    "AddCheckConstraint": ("ALTER TABLE ... ADD CONSTRAINT", "A pre-commit validator checks the rows of each write."),
    "AddConstraint": ("ALTER TABLE ... ADD CONSTRAINT", "A pre-commit validator checks the rows of each write."),
}
_WRITES = re.compile(r"'?(?:InsertIntoStatement|UpdateTable|DeleteFromTable|MergeIntoTable)\b.*?'UnresolvedRelation \[(.*?)\]", re.DOTALL)
_FUNCTION = re.compile(r"'UnresolvedTableValuedFunction \[(hudi_\w+)\]", re.IGNORECASE)
_SCRIPTS: Final = {"CompoundBody": "a SQL script (BEGIN ... END)", "Union": "INSERT of one query into several tables"}


def check(statement: Statement) -> None:
    """Refuse what is not served.

    Raises:
        UnsupportedError: naming the statement, the table, and the way there is today.
        UsageError: it would change a view.
    """
    if (refusal := _ON_TABLE.get(statement.kind)) is not None:
        _refuse_on(statement, *refusal)
    if (
        function := next((f for f in _FUNCTION.finditer(statement.plan_text) if f.group(1).lower() not in functions.SERVED), None)
    ) is not None:
        raise UnsupportedError(
            f"There is no table function {function.group(1)}. The table functions are {', '.join(sorted(functions.SERVED))}."
        )
    unresolved_targets.check(statement)
    if (script := _SCRIPTS.get(statement.kind)) is not None:
        for match in _WRITES.finditer(statement.plan_text):
            table = catalog_table.find(statement.session, tuple(match.group(1).split(", ")))
            if table is not None:
                raise UnsupportedError(
                    f"{table.qualified_name} is a Hudi table, and {script} cannot write it: run each statement by itself."
                )


def _refuse_on(statement: Statement, label: str, instead: str) -> None:
    table = statement.hudi_table()
    if table is not None:
        raise UnsupportedError(f"{label} is not served on the Hudi table {table.qualified_name}; nothing was changed. {instead}")
