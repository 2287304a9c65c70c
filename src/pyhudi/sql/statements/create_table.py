"""CREATE TABLE ... USING hudi: the table in storage first, then its entry in the session catalog.

Rules (Apache Hudi's page "SQL DDL"): hive-style partition paths unless the properties say otherwise; partition columns move to the
end; a LOCATION that holds a Hudi table brings its own schema and configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi.errors import OptionError, SchemaError, TableExists, TableNotFound, UsageError
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import catalog_order, forget, refresh
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.spark_types import spark_schema, with_comments
from pyhudi.spec import options as spec_options
from pyhudi.spec.table.table_config import TableConfig, parse_table_type
from pyhudi.sql.statement.sql_settings import stated_options
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write import table_definition as definitions
from pyhudi.sql.write.new_definition import KEYS, TYPE, new_definition, properties_of, same_names
from pyhudi.sql.write.table_definition import Definition
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.remove_rename import delete_table
from pyhudi.write.options.concurrency_options import check_concurrency, concern_concurrency


def create_table(statement: Statement) -> DataFrame | None:
    """Run a CREATE TABLE; None when it is not `USING hudi`."""
    if not definitions.is_hudi(statement.plan):
        return None
    definition = definitions.read_definition(statement)
    if prepare(statement, definition):
        location = location_of(statement, definition)
        try:
            table = HudiTable.open(location)
        except TableNotFound:
            with undone_on_error(statement, definition, location):
                register(statement, definition, create_storage(definition, location), location)
        else:
            _check_agrees(definition, table)
            properties = spec_options.merge_options(properties_of(table.config), definition.properties)
            register(statement, replace(definition, properties=properties), table, location)
    return statement.empty()


@contextmanager
def undone_on_error(statement: Statement, definition: Definition, location: str) -> Iterator[None]:
    """Remove a table that is being made, from catalog and storage, when the block fails after it began to stand."""
    stood = _exists(location)
    try:
        yield
    except BaseException:
        entry = catalog_table.find(statement.session, (catalog_table.SESSION_CATALOG, definition.database, definition.name))
        if entry is not None:
            forget(statement.session, entry)
            catalog_table.unregister(statement.session, entry)
        if not stood and _exists(location):
            delete_table(open_storage(location))
        raise


def _exists(location: str) -> bool:
    try:
        HudiTable.open(location)
    except TableNotFound:
        return False
    return True


def prepare(statement: Statement, definition: Definition) -> bool:
    """Check that the name is free; False when it is taken and IF NOT EXISTS says that this is fine."""
    session = statement.session
    if not jvm.session_catalog(session).databaseExists(definition.database):
        raise UsageError(f"There is no database {definition.database}: CREATE DATABASE {definition.database} makes it.")
    taken = catalog_table.raw_entry(session, definition.database, definition.name) is not None
    if taken and not definition.if_not_exists:
        raise TableExists(
            f"{definition.qualified_name} exists already: DROP TABLE it, take another name, or say CREATE TABLE IF NOT EXISTS."
        )
    return not taken


def location_of(statement: Statement, definition: Definition) -> str:
    """Return the base path: LOCATION (a relative one lies below the database), or the place of a managed table."""
    managed = catalog_table.default_location(statement.session, definition.database, definition.name)
    if definition.location is None:
        return managed
    if definition.location.startswith("/") or re.match(r"[A-Za-z][\w+.-]*:", definition.location):
        return definition.location
    return f"{managed.rsplit('/', 1)[0]}/{definition.location}"


def create_storage(definition: Definition, location: str) -> HudiTable:
    """Create the table in storage.

    Raises:
        OptionError: a property is unknown or contradicts another.
        SchemaError: a type cannot be stored, or a key column does not exist.
    """
    if not definitions.without_meta_columns(definition.schema).names:
        raise SchemaError(
            f"CREATE TABLE {definition.qualified_name} states no columns, and {location} holds no Hudi table to take them from."
        )
    new = new_definition(definition)
    return HudiTable.create(
        location,
        new.schema,
        name=new.name,
        keys=new.keys,
        partition_by=new.partition_by,
        order_by=new.order_by,
        table_type=new.table_type,
        options=new.options,
    )


def check_free(definition: Definition, location: str, what: str) -> None:
    """See that no table is at the location of a new one.

    Raises:
        TableExists: there is one, which has no entry of that name in the catalog.
    """
    if _exists(location):
        raise TableExists(
            f"{what} {definition.qualified_name}: {location} holds a Hudi table already. Create the table with CREATE TABLE, without"
            " columns, and write to it, or choose another location."
        )


def register(statement: Statement, definition: Definition, table: HudiTable, location: str) -> CatalogTable:
    """Put the table into the session catalog, with the columns that storage has and the comments of the statement.

    Raises:
        OptionError: a property of locks or several writers is wrong; see `check_concurrency`.
        UnsupportedError: such a property is not served.
    """
    check_properties(statement, definition, table.storage, table.config)
    partition_columns = tuple(table.config.partition_fields)
    stated = {field.name.lower(): field for field in definition.schema.fields}
    schema = with_comments(spark_schema(table.schema), table.schema)
    ordered = catalog_order(schema.names, partition_columns)
    data = [_field_of_entry(schema[name], stated.get(name.lower())) for name in ordered]
    meta = [StructField(name, StringType()) for name in META_COLUMNS]
    entry = catalog_table.register(
        statement.session,
        definition.database,
        definition.name,
        schema=StructType([*meta, *data]),
        partition_columns=partition_columns,
        location=location,
        managed=definition.location is None,
        properties=definition.properties,
        comment=definition.comment,
    )
    refresh(statement.session, entry)  # Spark's own catalog functions ask for it without passing the front door
    return entry


def check_properties(statement: Statement, definition: Definition, storage: Storage, config: TableConfig) -> None:
    """Refuse properties of locks and several writers with which no statement of this session could write to the table."""
    if concern_concurrency(definition.properties):
        check_concurrency(stated_options(statement.session, definition.properties), storage, config)


def _field_of_entry(stored: StructField, stated: StructField | None) -> StructField:
    """Return a column as the catalog shows it: the type and the comments of storage, and what the statement says of it besides."""
    if stated is None:
        return stored
    return StructField(stored.name, stored.dataType, stated.nullable, {**(stored.metadata or {}), **(stated.metadata or {})})


def _check_agrees(definition: Definition, table: HudiTable) -> None:
    """Refuse a statement that contradicts the table that is at its location."""
    config = table.config
    stored_names = {name.lower() for name in table.schema.names}
    unknown = [f.name for f in definitions.without_meta_columns(definition.schema).fields if f.name.lower() not in stored_names]
    if unknown:
        raise SchemaError(
            f"{definition.location} holds a Hudi table whose columns are {', '.join(table.schema.names)}; CREATE TABLE"
            f" {definition.qualified_name} states {unknown[0]} as well. Leave the columns out: they are taken from"
            f" the table."
        )
    if definition.partition_columns and not same_names(definition.partition_columns, config.partition_fields):
        raise OptionError(_contradiction(definition, "PARTITIONED BY", definition.partition_columns, config.partition_fields))
    stated = spec_options.resolve({key: value for key, value in definition.properties.items() if definitions.is_option(key)})
    keys = [key.strip() for key in stated.text(KEYS, default="").split(",") if key.strip()]
    if keys and not same_names(keys, config.record_key_fields):
        raise OptionError(_contradiction(definition, "primaryKey", keys, config.record_key_fields))
    kind = parse_table_type(stated.text(TYPE, default=config.table_type))
    if kind != config.table_type:
        raise OptionError(_contradiction(definition, "type", [kind], [config.table_type]))


def _contradiction(definition: Definition, what: str, stated: Sequence[str], columns: Sequence[str]) -> str:
    return (
        f"CREATE TABLE {definition.qualified_name} says {what} {', '.join(stated)}, but the Hudi table at its"
        f" location says"
        f" {', '.join(columns) or 'none'}. Leave {what} out: it is taken from the table."
    )
