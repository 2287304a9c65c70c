"""CREATE TABLE ... USING hudi AS SELECT: a table and its first commit, or nothing at all."""

from __future__ import annotations

from pyspark.sql import DataFrame

from pyhudi.errors import UsageError
from pyhudi.spark.catalog import relations
from pyhudi.spark.catalog.relation_cache import catalog_order
from pyhudi.spark.jvm.spark_types import nullable_schema, spark_schema
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.sql.statement import sql_settings as settings
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.statements import create_table as create
from pyhudi.sql.text.tokens import find_word, slice_text
from pyhudi.sql.write import table_definition as definitions
from pyhudi.sql.write.column_assignment import Target, conform
from pyhudi.sql.write.explain_write import explain_rows
from pyhudi.sql.write.insert_operation import operation_of_new_table, stated_operation
from pyhudi.sql.write.new_definition import new_definition
from pyhudi.sql.write.write_target import WriteTarget
from pyhudi.table.hudi_table import HudiTable

_CLAUSES = ("AS", "SELECT", "WITH", "VALUES", "FROM", "TABLE")


def create_table_as_select(statement: Statement) -> DataFrame | None:
    """Run a CREATE TABLE AS SELECT; None when it is not `USING hudi`, which leaves the query to Spark."""
    if not definitions.is_hudi(statement.plan):
        return None
    source = source_of(statement)
    definition = definition_for(statement, source)
    if statement.explain is not None:
        operation = operation_for(statement, definition, has_keys=bool(new_definition(definition).keys))
        made = f"{operation.value} into the new table {definition.qualified_name}"
        return explain_rows(statement, [made], source)
    if not create.prepare(statement, definition):
        return statement.empty()
    location = create.location_of(statement, definition)
    create.check_free(definition, location, "CREATE TABLE AS SELECT")
    with create.undone_on_error(statement, definition, location):
        return _fill(statement, definition, source, create.create_storage(definition, location), location)


def _fill(statement: Statement, definition: definitions.Definition, source: DataFrame, table: HudiTable, location: str) -> DataFrame:
    entry = create.register(statement, definition, table, location)
    operation = operation_for(statement, definition, has_keys=bool(table.config.record_key_fields))
    return WriteTarget(statement, entry, table).write(operation, conformed(definition, source, table))


def source_of(statement: Statement) -> DataFrame:
    """Return the rows of the statement's query."""
    relations.refresh_all(statement.session, statement.names())
    return statement.ask_for_data(_query_text(statement))


def definition_for(statement: Statement, source: DataFrame) -> definitions.Definition:
    """Return the table that the statement makes of the rows of its query."""
    # As everywhere in Spark, columns of a table made from a query take nulls, even if the query happens to have none.
    return definitions.read_definition(statement, schema=nullable_schema(source))


def operation_for(statement: Statement, definition: definitions.Definition, *, has_keys: bool) -> Operation:
    """Return by which operation the rows of the query are written."""
    chosen = settings.settings_of(statement.session, definition.properties)
    return operation_of_new_table(stated_operation(settings.operation_in(chosen)), resolve(settings.served(chosen)), has_keys=has_keys)


def conformed(definition: definitions.Definition, source: DataFrame, table: HudiTable) -> DataFrame:
    """Return the rows with the columns of the new table, in its order and of its types."""
    schema = spark_schema(table.schema)
    positions = {name.lower(): i for i, name in enumerate(source.columns)}
    ordered = catalog_order(schema.names, tuple(table.config.partition_fields))
    targets = [Target.of(schema[name], position=positions[name.lower()]) for name in ordered]
    return conform(source, targets, f"CREATE TABLE {definition.qualified_name} AS SELECT")


def _query_text(statement: Statement) -> str:
    """Return the query: what follows the last clause of the table's definition, after an optional AS."""
    tokens = statement.tokens
    using = find_word(tokens, "USING")
    if using is None:
        raise UsageError("CREATE TABLE ... AS SELECT needs USING hudi before its query.")
    first = find_word(tokens, *_CLAUSES, after=using + 2)
    if first is None:
        raise UsageError("CREATE TABLE ... AS SELECT needs the word AS before a query in brackets.")
    start = first + 1 if tokens[first].is_word("AS") else first
    return slice_text(statement.text, tokens[start:])
