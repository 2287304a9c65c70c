"""What a CREATE TABLE states, read from Spark's plan of it: columns, partitions, properties, location, comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from pyhudi.errors import OptionError, SchemaError, UnsupportedError, UsageError, did_you_mean, with_subject
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.relation_cache import catalog_order
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spec.config.config_keys import find_key, suggestion
from pyhudi.sql.statement.statement import Statement

#: Properties that Spark itself gives to tables.
_SPARK_PROPERTIES: Final = frozenset(
    {
        "owner",
        "provider",
        "comment",
        "location",
        "path",
        "external",
        "is_managed_location",
        "option.serialization.format",
    }
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A CREATE TABLE ... USING hudi."""

    database: str
    name: str
    schema: StructType  # as written, without meta columns; empty when the statement gives no columns
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]  # OPTIONS and TBLPROPERTIES
    location: str | None
    comment: str | None
    if_not_exists: bool

    @property
    def qualified_name(self) -> str:
        """Database and table, as in `sales.orders`."""
        return f"{self.database}.{self.name}"

    def ordered(self, schema: StructType) -> StructType:
        """Return a schema with this definition's partition columns at its end."""
        return StructType([schema[name] for name in catalog_order(schema.names, self.partition_columns)])


def is_hudi(plan: JavaObject) -> bool:
    """Tell whether a CREATE TABLE says `USING hudi`."""
    provider = jvm.value_of(plan.tableSpec().provider())
    return provider is not None and provider.lower() == catalog_table.PROVIDER


def read_definition(statement: Statement, *, schema: StructType | None = None) -> Definition:
    """Return what a CREATE TABLE (AS SELECT: with the query's schema) states.

    Raises:
        OptionError: a property is a misspelt one of ours, or occurs twice with different values.
        SchemaError: a column occurs twice, or PARTITIONED BY names none.
        UnsupportedError: the statement uses a clause this release does not serve.
    """
    plan, session = statement.plan, statement.session
    spec = plan.tableSpec()
    identifier = new_identifier(session, tuple(jvm.items_of(plan.name().nameParts())))
    columns = _columns(plan) if schema is None else schema
    name = f"{identifier[0]}.{identifier[1]}"
    _check_columns(name, columns)
    properties = _properties(name, spec)
    return Definition(
        database=identifier[0],
        name=identifier[1],
        schema=columns,
        partition_columns=_partition_columns(name, plan, columns),
        properties={key: value for key, value in properties.items() if key != "path"},
        location=jvm.value_of(spec.location()) or properties.get("path"),
        comment=jvm.value_of(spec.comment()),
        if_not_exists=not statement.kind.startswith("Replace") and plan.ignoreIfExists(),
    )


def new_identifier(session: SparkSession, parts: tuple[str, ...]) -> tuple[str, str]:
    """Return database and name of a new table; a temporary view of the same name is not in its way."""
    result = catalog_table.resolve(session, parts)
    if result is None and len(parts) == 1 and jvm.current_catalog(session) == catalog_table.SESSION_CATALOG:
        result = jvm.session_catalog(session).getCurrentDatabase(), parts[0]
    if result is None:
        raise UsageError(
            f"{'.'.join(parts)} is in another catalog: Hudi tables live in {catalog_table.SESSION_CATALOG}, as database.table."
        )
    if not re.fullmatch(r"\w+", result[1], re.ASCII):
        raise UsageError(f"{result[1]!r} cannot be the name of a table: Spark's catalog takes letters, digits and underscores.")
    return result


def _columns(plan: JavaObject) -> StructType:
    return StructType.fromJson(json.loads(plan.tableSchema().json()))


def _check_columns(table: str, schema: StructType) -> None:
    names: set[str] = set()
    for field in schema.fields:
        if field.name.lower() in names:
            raise with_subject(SchemaError(f"CREATE TABLE {table} states the column {field.name} twice."), field.name, 1)
        names.add(field.name.lower())
        _check_clauses(table, field)


def _check_clauses(table: str, field: StructField) -> None:
    for key, clause in (
        ("CURRENT_DEFAULT", "DEFAULT"),
        ("generationExpression", "GENERATED ALWAYS AS"),
        ("identity.start", "IDENTITY"),
    ):
        if any(known.lower() == key.lower() for known in field.metadata):
            problem = f"CREATE TABLE {table}: {clause} of the column {field.name} is not served by Hudi tables; leave it out."
            raise with_subject(UnsupportedError(problem), field.name)


def without_meta_columns(schema: StructType) -> StructType:
    """Return a schema without the five `_hoodie_*` columns, which SHOW CREATE TABLE lists and every table has."""
    return StructType([field for field in schema.fields if field.name not in META_COLUMNS])


def _partition_columns(table: str, plan: JavaObject, schema: StructType) -> tuple[str, ...]:
    names = {name.lower(): name for name in schema.names}
    columns: list[str] = []
    for transform in jvm.items_of(plan.partitioning()):
        if transform.name() != "identity":
            raise UnsupportedError(
                f"CREATE TABLE {table}: {transform.toString()} is not served by Hudi tables; PARTITIONED BY takes columns."
            )
        name = ".".join(transform.references()[0].fieldNames())
        if schema.names and name.lower() not in names:
            problem = f"CREATE TABLE {table}: PARTITIONED BY names {name}, which is no column.{did_you_mean(name, schema.names)}"
            raise with_subject(SchemaError(problem), name)
        columns.append(names.get(name.lower(), name))
    return tuple(columns)


def _properties(table: str, spec: JavaObject) -> dict[str, str]:
    options = {entry.productElement(0): entry.productElement(1).toString() for entry in jvm.items_of(spec.optionExpression().options())}
    stated = jvm.entries_of(spec.properties())
    for key in options.keys() & stated.keys():
        if options[key] != stated[key]:
            problem = f"CREATE TABLE {table} gives {key} twice: {options[key]!r} in OPTIONS, {stated[key]!r} in TBLPROPERTIES."
            raise with_subject(OptionError(problem), key, 1)
    merged = {**options, **stated}
    check_spelling(table, merged)
    return merged


def is_option(key: str) -> bool:
    """Tell whether a property is one of Hudi's, `hoodie.*` or a short name of SQL, and not one of the user's own."""
    return key not in _SPARK_PROPERTIES and (key.startswith("hoodie.") or find_key(key) is not None)


def check_spelling(table: str, keys: Iterable[str]) -> None:
    """Refuse what looks like a misspelt short name; `hoodie.*` names are checked where they are resolved."""
    for key in keys:
        if key in _SPARK_PROPERTIES or is_option(key):
            continue
        hint = suggestion(key)
        if hint and "hoodie." not in hint:
            raise with_subject(OptionError(f"CREATE TABLE {table}: {key} is no property of a Hudi table.{hint}"), key)
