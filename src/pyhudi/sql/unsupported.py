"""Statements on Hudi tables that this release does not serve: each is refused by name, before anything is written."""

from __future__ import annotations

import re
from typing import Final

from pyhudi.errors import UnsupportedError
from pyhudi.spark.catalog import catalog_table
from pyhudi.sql.query import table_functions as functions
from pyhudi.sql.query import unresolved_targets
from pyhudi.sql.statement.statement import Statement

#: Spark's plan class -> what the user wrote.
_ON_TABLE: Final = {
    "OverwriteByExpression": "INSERT INTO ... REPLACE WHERE",
    "RenamePartitions": "ALTER TABLE ... RENAME PARTITION",
    "SetTableLocation": "ALTER TABLE ... SET LOCATION",
    "AlterTableClusterBy": "ALTER TABLE ... CLUSTER BY",
    "AlterTableCollation": "ALTER TABLE ... DEFAULT COLLATION",
    "LoadData": "LOAD DATA",
    "AddCheckConstraint": "ALTER TABLE ... ADD CONSTRAINT",
    "AddConstraint": "ALTER TABLE ... ADD CONSTRAINT",
}
_WRITES = re.compile(r"'?(?:InsertIntoStatement|UpdateTable|DeleteFromTable|MergeIntoTable)\b.*?'UnresolvedRelation \[(.*?)\]", re.DOTALL)
_FUNCTION = re.compile(r"'UnresolvedTableValuedFunction \[(hudi_\w+)\]", re.IGNORECASE)
_SCRIPTS: Final = {"CompoundBody": "a SQL script (BEGIN ... END)", "Union": "INSERT of one query into several tables"}


def check(statement: Statement) -> None:
    """Refuse what this release does not serve.

    Raises:
        UnsupportedError: naming the statement, the table, and the way there is today.
        UsageError: it would change a view.
    """
    if (label := _ON_TABLE.get(statement.kind)) is not None:
        _refuse_on(statement, label)
    if (
        function := next((f for f in _FUNCTION.finditer(statement.plan_text) if f.group(1).lower() not in functions.SERVED), None)
    ) is not None:
        raise UnsupportedError(
            f"The table function {function.group(1)} comes with a later release. Served now: hudi_table_changes, hudi_query,"
            f" SELECT with TIMESTAMP AS OF, and"
            " pyhudi.HudiTable.open(path) with history(), inspect and to_arrow(as_of=...)."
        )
    unresolved_targets.check(statement)
    if (script := _SCRIPTS.get(statement.kind)) is not None:
        for match in _WRITES.finditer(statement.plan_text):
            table = catalog_table.find(statement.session, tuple(match.group(1).split(", ")))
            if table is not None:
                raise UnsupportedError(
                    f"{table.qualified_name} is a Hudi table, and {script} cannot write it yet: run each statement by itself."
                )


def _refuse_on(statement: Statement, label: str) -> None:
    table = statement.hudi_table()
    if table is not None:
        raise UnsupportedError(
            f"{label} on the Hudi table {table.qualified_name} comes with a later release of pyhudi; nothing was"
            f" changed."
            " Served now: CREATE, INSERT, UPDATE, DELETE, MERGE, SELECT, SHOW, DESCRIBE, TRUNCATE and DROP."
        )
