"""REPLACE TABLE and CREATE OR REPLACE TABLE ... USING hudi [AS SELECT]: a new table in the place of the one of that name.

Readers see the old table or the new one (`pyhudi.table.version.recreate_table`); the history of the old one is deleted. Apache Hudi 1.2.0
parses these statements and refuses them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from pyhudi.errors import TableNotFound, UnsupportedError, UsageError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import forget_cached
from pyhudi.spec.options import merge_options, resolve
from pyhudi.sql.statement import sql_settings as settings
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.statements import create_as
from pyhudi.sql.statements import create_table as create
from pyhudi.sql.write import table_definition as definitions
from pyhudi.sql.write.explain_write import explain_rows
from pyhudi.sql.write.new_definition import new_definition
from pyhudi.sql.write.statement_result import result_row
from pyhudi.sql.write.table_definition import Definition
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.version.recreate_table import options_of_rows, recreate_table
from pyhudi.table.write_table import write


def replace_table(statement: Statement) -> DataFrame | None:
    """Run a (CREATE OR) REPLACE TABLE without a query; None when it is not about Hudi tables."""
    if not _is_hudi(statement):
        return None
    definition = definitions.read_definition(statement)
    entry = _replaced(statement, definition)
    if entry is None:
        create.check_free(definition, create.location_of(statement, definition), "CREATE OR REPLACE TABLE")
        return create.create_table(statement)
    _recreate(statement, definition, entry, lambda _: None)
    return statement.empty()


def replace_table_as_select(statement: Statement) -> DataFrame | None:
    """Run a (CREATE OR) REPLACE TABLE AS SELECT, whose query may read the table itself; None when it is not about Hudi tables."""
    if not _is_hudi(statement):
        return None
    source = create_as.source_of(statement)
    definition = create_as.definition_for(statement, source)
    entry = _replaced(statement, definition)
    if entry is None:
        return create_as.create_table_as_select(statement)
    if statement.explain is not None:
        operation = create_as.operation_for(statement, definition, has_keys=bool(new_definition(definition).keys))
        made = f"{operation.value} into a new table in the place of {definition.qualified_name}"
        return explain_rows(statement, [made], source)
    results: list[DataFrame] = []

    def write_rows(storage: Storage) -> None:
        table = HudiTable(storage)
        rows = create_as.conformed(definition, source, table)
        operation = create_as.operation_for(statement, definition, has_keys=bool(table.config.record_key_fields))
        result = write(table, operation, rows, options=options_of_rows(_options(statement, definition, entry)))
        results.append(result_row(statement, definition.qualified_name, result))

    _recreate(statement, definition, entry, write_rows)
    return results[0]


def _is_hudi(statement: Statement) -> bool:
    if definitions.is_hudi(statement.plan):
        return True
    replaced = statement.hudi_table()
    if replaced is not None:
        raise UnsupportedError(
            f"{replaced.qualified_name} is a Hudi table, which REPLACE TABLE can make a Hudi table only: say USING hudi, or DROP TABLE it"
            " and CREATE the other one."
        )
    return False


def _replaced(statement: Statement, definition: Definition) -> CatalogTable | None:
    """Return the entry of the table to replace; None when there is none and CREATE OR REPLACE says that this is fine."""
    raw = catalog_table.raw_entry(statement.session, definition.database, definition.name)
    if raw is None:
        if not statement.plan.orCreate():
            raise TableNotFound(f"REPLACE TABLE {definition.qualified_name}: there is no such table; CREATE OR REPLACE TABLE makes it.")
        return None
    entry = catalog_table.read_entry(statement.session, raw)
    if entry is None:
        raise UsageError(f"REPLACE TABLE {definition.qualified_name}: what has that name is no Hudi table; DROP it first.")
    if definition.location is not None and open_storage(definition.location).uri != open_storage(entry.location).uri:
        raise UsageError(
            f"REPLACE TABLE {definition.qualified_name} says LOCATION {definition.location}, and the table is at {entry.location}: leave"
            " LOCATION out, or DROP TABLE it and CREATE it there."
        )
    return entry


def _recreate(statement: Statement, definition: Definition, entry: CatalogTable, write_rows: Callable[[Storage], None]) -> None:
    session = statement.session
    table, new = HudiTable.open(entry.location), new_definition(definition)

    def check_and_write(created: Storage) -> None:
        create.check_properties(statement, definition, table.storage, HudiTable(created).config)
        write_rows(created)

    recreate_table(table, new, resolve(_options(statement, definition, entry)), check_and_write)
    forget_cached(session, entry)
    catalog_table.release(session, entry)
    stated = replace(definition, location=None if entry.managed else entry.location)
    create.register(statement, stated, HudiTable.open(entry.location), entry.location)


def _options(statement: Statement, definition: Definition, entry: CatalogTable) -> dict[str, str]:
    """Return the options of the write: the statement's, and the lock provider that the other writers of the table have."""
    locks = {name: text for name, text in entry.properties.items() if name.startswith("hoodie.write.lock.")}
    stated = replace(entry, properties=merge_options(locks, definition.properties))
    return dict(settings.write_options(statement.session, stated))
