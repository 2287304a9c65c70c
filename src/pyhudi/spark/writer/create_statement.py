"""The CREATE TABLE AS SELECT, or one with REPLACE, that a writer of DataFrames means for a table of the session catalog."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.options.new_table import TableDefinition, definition_of
from pyhudi.spark.options.writer_state import WriterState

TABLE_NAME: Final = "hoodie.table.name"


def create_as_select(frame: DataFrame, state: WriterState, name: str, verb: str = "CREATE") -> None:
    """Make a table of the session catalog of a DataFrame, in the place of the one of that name when `verb` says so."""
    session = frame.sparkSession
    options = {key: value for key, value in state.options.items() if key not in ("path", TABLE_NAME)}
    definition = definition_of(options, state.partition_by, default_name=catalog_table.split_name(session, name)[-1])
    session.sql(_statement(verb, name, definition, state.options.get("path")), frame=frame)


def _statement(verb: str, name: str, definition: TableDefinition, location: str | None) -> str:
    """Return the CREATE TABLE AS SELECT that a first `saveAsTable` means, or one with another verb."""
    properties = {**definition.options, "type": "cow" if definition.table_type == "COPY_ON_WRITE" else "mor"}
    if definition.keys:
        properties["primaryKey"] = ",".join(definition.keys)
    if definition.order_by:
        properties["orderingFields"] = ",".join(definition.order_by)
    listed = ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in properties.items())
    partitions = ", ".join(f"`{column.replace('`', '``')}`" for column in definition.partition_by)
    return " ".join(
        part
        for part in (
            f"{verb} TABLE {name} USING hudi",
            f"PARTITIONED BY ({partitions})" if partitions else "",
            f"LOCATION {quoted(location)}" if location else "",
            f"TBLPROPERTIES ({listed})",
            "AS SELECT * FROM {frame}",
        )
        if part
    )


def quoted(value: str) -> str:
    """Return a SQL text literal; braces are doubled, since the statement goes through `session.sql`'s formatter."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")
    return f"'{escaped}'"
