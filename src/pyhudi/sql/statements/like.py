"""CREATE TABLE ... LIKE: a new, empty Hudi table with the columns of another table or view.

Of a Hudi table also partition columns, keys, ordering fields, type and options are taken over; the data stay its own. Rules:
`CreateHoodieTableLikeCommand`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame

from pyhudi.errors import TableExists, TableNotFound
from pyhudi.spark.catalog import catalog_table, relations
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.jvm import jvm
from pyhudi.spec.options import merge_options
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.statements import create_table as create
from pyhudi.sql.text.tokens import find_word, name_at, quote
from pyhudi.sql.write import table_definition as definitions
from pyhudi.sql.write.new_definition import properties_of
from pyhudi.sql.write.table_definition import Definition
from pyhudi.table.hudi_table import HudiTable

_IDENTITY: Final = frozenset({"hoodie.table.name", "hoodie.database.name", "path"})


def create_like(statement: Statement) -> DataFrame | None:
    """Run a CREATE TABLE ... LIKE that makes a Hudi table; None for others, which are Spark's."""
    like = find_word(statement.tokens, "LIKE")
    assert like is not None, "the parser saw a LIKE"
    source = name_at(statement.tokens, like + 1)
    entry = catalog_table.find(statement.session, source)
    provider = jvm.value_of(statement.plan.provider())
    if (provider is None and entry is None) or (provider is not None and provider.lower() != catalog_table.PROVIDER):
        return None
    definition = _definition(statement, source, entry)
    if create.prepare(statement, definition):
        location = create.location_of(statement, definition)
        _check_free(definition, location)
        with create.undone_on_error(statement, definition, location):
            create.register(statement, definition, create.create_storage(definition, location), location)
    return statement.empty()


def _definition(statement: Statement, source: tuple[str, ...], entry: CatalogTable | None) -> Definition:
    session, tokens = statement.session, statement.tokens
    name_token = next(i for i, token in enumerate(tokens) if token.is_word("TABLE")) + 1
    if tokens[name_token].is_word("IF") and tokens[name_token + 1].is_word("NOT"):
        name_token += 3
    database, name = definitions.new_identifier(session, name_at(tokens, name_token))
    relations.refresh_all(session, [source])
    columns = definitions.without_meta_columns(session.table(".".join(quote(part) for part in source)).schema)
    stated = jvm.entries_of(statement.plan.properties())
    definitions.check_spelling(f"{database}.{name}", stated)
    index = find_word(tokens, "LOCATION")
    return Definition(
        database=database,
        name=name,
        schema=columns,
        partition_columns=_partition_columns(statement, source),
        properties=merge_options({} if entry is None else _properties(entry), stated),
        location=None if index is None else str(statement.run_sql(f"SELECT {tokens[index + 1].text}").collect()[0][0]),
        comment=None,
        if_not_exists=bool(statement.plan.ifNotExists()),
    )


def _partition_columns(statement: Statement, source: tuple[str, ...]) -> tuple[str, ...]:
    identifier = catalog_table.resolve(statement.session, source)
    entry = None if identifier is None else catalog_table.raw_entry(statement.session, *identifier)
    return () if entry is None else tuple(filter(None, entry.partitionColumnNames().mkString("\x01").split("\x01")))


def _properties(entry: CatalogTable) -> Mapping[str, str]:
    """Return the properties that make a table like a Hudi table, whether its catalog entry states them or only its files do."""
    stated = {name: value for name, value in entry.properties.items() if name not in _IDENTITY}
    return merge_options(properties_of(HudiTable.open(entry.location).config), stated)


def _check_free(definition: Definition, location: str) -> None:
    try:
        HudiTable.open(location)
    except TableNotFound:
        return
    raise TableExists(
        f"CREATE TABLE {definition.qualified_name} LIKE: {location} holds a Hudi table already. Leave LIKE out to register that table, or"
        " choose another location."
    )
