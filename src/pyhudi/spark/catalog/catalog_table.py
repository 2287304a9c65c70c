"""Hudi tables in Spark's session catalog: finding, registering, changing and removing their entries.

An entry is an ordinary Spark data-source table with provider `hudi`, so SHOW TABLES, DESCRIBE, SHOW CREATE TABLE,
DROP and every other statement about entries is Spark's own. Its columns are those a query shows: the meta columns
first, the partition columns last. Design: docs/design/0030-sql.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from pyhudi.cache import LruCache
from pyhudi.errors import CatalogError
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.options.jar_settings import CATALOG_ALIAS, catalog_key

PROVIDER = "hudi"
_PROVIDERS = frozenset({PROVIDER, "org.apache.hudi"})
SESSION_CATALOG = "spark_catalog"
#: Which field of Spark's `CatalogTable` says whether a table is managed.
_TABLE_TYPE = 2


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """What the session catalog says about a Hudi table."""

    database: str
    name: str
    location: str
    managed: bool
    properties: Mapping[str, str]  # TBLPROPERTIES and OPTIONS as they were written
    partition_columns: tuple[str, ...]

    @property
    def qualified_name(self) -> str:
        """The name for messages, such as `sales.orders`."""
        return f"{self.database}.{self.name}"

    @property
    def is_read_optimized(self) -> bool:
        """Whether the entry shows base files only, as the `_ro` entry of a synchronised merge-on-read table does."""
        return self.properties.get("hoodie.query.as.ro.table", "").lower() == "true"

    @property
    def quoted_name(self) -> str:
        """The name for SQL strings."""
        return f"`{SESSION_CATALOG}`.`{self.database}`.`{self.name}`"


def split_name(session: SparkSession, name: str) -> tuple[str, ...]:
    """Return the parts of a name such as ``db.`t` ``; a malformed one is Spark's own ParseException."""
    return tuple(jvm.items_of(jvm.sql_parser(session).parseMultipartIdentifier(name)))


def find(session: SparkSession, name: str | Sequence[str]) -> CatalogTable | None:
    """Return the Hudi table that a name means in this session, or None: another format, a view, or nothing of that
    name.
    """
    identifier = resolve(session, split_name(session, name) if isinstance(name, str) else tuple(name))
    if identifier is None:
        return None
    entry = raw_entry(session, *identifier)
    return None if entry is None else read_entry(session, entry)


def is_path(parts: Sequence[str]) -> bool:
    """Tell whether the parts of a name are ``hudi.`path` ``."""
    return len(parts) == 2 and parts[0].lower() == PROVIDER and "/" in parts[1]


def at_path(location: str) -> CatalogTable:
    """Return what stands for a table that is named by its path and has no entry in the catalog."""
    return CatalogTable(PROVIDER, f"`{location}`", location, managed=False, properties={}, partition_columns=())


def is_session_catalog(session: SparkSession, name: str) -> bool:
    """Tell whether a name of a catalog means the session catalog: its own, or one that was set to Apache Hudi's catalog."""
    return name.lower() == SESSION_CATALOG or session.conf.get(catalog_key(name), "") == CATALOG_ALIAS


def resolve(session: SparkSession, parts: Sequence[str]) -> tuple[str, str] | None:
    """Return database and table that the parts of a name mean, or None when they mean a temporary view or another
    catalog.
    """
    if len(parts) == 3 and is_session_catalog(session, parts[0]):
        return parts[1], parts[2]
    if len(parts) > 2 or jvm.current_catalog(session) != SESSION_CATALOG:
        return None
    if len(parts) == 2:
        return parts[0], parts[1]
    catalog = jvm.session_catalog(session)
    if catalog.isTempView(_identifier(session, parts[0])):
        return None
    return catalog.getCurrentDatabase(), parts[0]


def raw_entry(session: SparkSession, database: str, name: str) -> JavaObject | None:
    """Return the catalog's own value of a table or view, or None when there is none."""
    catalog = jvm.session_catalog(session)
    identifier = _identifier(session, name, database)
    return catalog.getTableRawMetadata(identifier) if catalog.tableExists(identifier) else None


def is_hudi(entry: JavaObject) -> bool:
    """Tell whether a catalog's own value is a Hudi table."""
    provider = jvm.value_of(entry.provider())
    return provider is not None and provider.lower() in _PROVIDERS


#: The entry of each table as it was last seen: comparing two of Spark's values is one round trip, reading one twenty.
_ENTRIES: WeakKeyDictionary[SparkSession, LruCache[str, tuple[JavaObject, CatalogTable]]] = WeakKeyDictionary()
_MOST_ENTRIES = 1000


def read_entry(session: SparkSession, entry: JavaObject) -> CatalogTable | None:
    """Return the Hudi table that a catalog's own value describes, or None for another format or a view."""
    entries = _ENTRIES.setdefault(session, LruCache(_MOST_ENTRIES))
    name = entry.identifier().toString()
    known = entries.get(name)
    if known is not None and known[0].equals(entry):
        return known[1]
    if not is_hudi(entry):
        return None
    table = _read(entry)
    entries.put(name, (entry, table))
    return table


def _read(entry: JavaObject) -> CatalogTable:
    identifier, storage = entry.identifier(), entry.storage()
    return CatalogTable(
        database=identifier.database().get(),
        name=identifier.table(),
        location=unquote(storage.locationUri().get().toString()),  # in URIs blanks are %20
        managed=entry.tableType().name() == "MANAGED",
        properties={**jvm.entries_of(storage.properties()), **jvm.entries_of(entry.properties())},
        partition_columns=tuple(filter(None, entry.partitionColumnNames().mkString("\x01").split("\x01"))),
    )


def default_location(session: SparkSession, database: str, name: str) -> str:
    """Return where a managed table of that name lives: below the location of its database."""
    return str(jvm.session_catalog(session).defaultTablePath(_identifier(session, name, database)).toString())


def register(
    session: SparkSession,
    database: str,
    name: str,
    *,
    schema: StructType,
    partition_columns: Sequence[str] = (),
    location: str,
    managed: bool,
    properties: Mapping[str, str] | None = None,
    comment: str | None = None,
) -> CatalogTable:
    """Put a Hudi table that is in storage into the session catalog.

    Args:
        session: The session whose catalog gets the entry.
        database: An existing database.
        name: The table's name; letters, digits and underscores, as Spark's catalog wants it.
        schema: What a query shows: meta columns first, partition columns last.
        partition_columns: Names of the last columns of the schema that partition the table.
        location: The table's base path.
        managed: True when DROP TABLE deletes the data.
        properties: Table properties for SHOW TBLPROPERTIES and for later writes from SQL.
        comment: The table's comment.
    """
    java = jvm.jvm(session)
    catalog_package = java.org.apache.spark.sql.catalyst.catalog
    types = jvm.companion(session, "catalyst.catalog.CatalogTableType")
    storage = jvm.companion(session, "catalyst.catalog.CatalogStorageFormat").empty()
    python = java.org.apache.spark.api.python.PythonUtils
    uri = java.org.apache.hadoop.fs.Path(location).toUri() if "://" in location or location.startswith("file:") else None
    with_location = storage.copy(
        jvm.some(session, uri or java.java.io.File(location).toURI()),
        *(getattr(storage, f"copy$default${n}")() for n in range(2, _arity(session, catalog_package.CatalogStorageFormat) + 1)),
    )
    given = {
        1: _identifier(session, name, database),
        _TABLE_TYPE: types.MANAGED() if managed else types.EXTERNAL(),
        3: with_location,
        4: java.org.apache.spark.sql.types.DataType.fromJson(schema.json()),
        5: jvm.some(session, PROVIDER),
        6: python.toSeq(list(partition_columns)),
        12: python.toScalaMap(dict(properties or {})),
        15: jvm.some(session, comment),
    }
    value = jvm.companion(session, "catalyst.catalog.CatalogTable")
    arity = _arity(session, catalog_package.CatalogTable)
    arguments = [given[n] if n in given else getattr(value, f"apply$default${n}")() for n in range(1, arity + 1)]
    jvm.session_catalog(session).createTable(value.apply(*arguments), False, False)
    match = find(session, (SESSION_CATALOG, database, name))
    assert match is not None, "the entry was just created"
    return match


def show_columns(session: SparkSession, table: CatalogTable, columns: StructType) -> None:
    """Give the entry the columns that the table has in storage, so that DESCRIBE tells the truth.

    What the entry alone says of a column (its comment, when storage has none) stays.
    """
    entry = raw_entry(session, table.database, table.name)
    if entry is None:
        return
    known = {field.name: field for field in StructType.fromJson(json.loads(entry.schema().json())).fields}
    data = [_field_of_entry(field, known) for field in columns.fields if field.name not in table.partition_columns]
    retained = [field for field in known.values() if field.name not in table.partition_columns]
    if data != retained:
        schema = jvm.jvm(session).org.apache.spark.sql.types.DataType.fromJson(StructType(data).json())
        catalog = jvm.session_catalog(session)
        # Not by way of the session's catalog, which lets nobody drop a column.
        catalog.externalCatalog().alterTableDataSchema(table.database, table.name, schema)


def _field_of_entry(field: StructField, known: Mapping[str, StructField]) -> StructField:
    match = known.get(field.name)
    if match is None or match.dataType != field.dataType:
        return field
    return StructField(field.name, field.dataType, match.nullable, {**(match.metadata or {}), **(field.metadata or {})})


def rename(session: SparkSession, table: CatalogTable, name: str) -> None:
    """Give the entry another name in its database; Spark moves the files of a managed table to the place of that name."""
    old, new = (_identifier(session, text, table.database) for text in (table.name, name))
    jvm.session_catalog(session).renameTable(old, new)


def unregister(session: SparkSession, table: CatalogTable) -> None:
    """Remove the entry of a table; Spark deletes the data of a managed one."""
    identifier = _identifier(session, table.name, table.database)
    jvm.session_catalog(session).dropTable(identifier, True, True)


def release(session: SparkSession, table: CatalogTable) -> None:
    """Remove the entry of a table whose data stay, also those of a managed table.

    Raises:
        CatalogError: the catalog would delete the data of a managed table; its entry is as it was.
    """
    entry = raw_entry(session, table.database, table.name)
    if entry is not None and table.managed:
        external = jvm.companion(session, "catalyst.catalog.CatalogTableType").EXTERNAL()
        arity = _arity(session, jvm.jvm(session).org.apache.spark.sql.catalyst.catalog.CatalogTable)
        arguments = [external if n == _TABLE_TYPE else getattr(entry, f"copy$default${n}")() for n in range(1, arity + 1)]
        jvm.session_catalog(session).alterTable(entry.copy(*arguments))
        changed = raw_entry(session, table.database, table.name)
        if changed is None or read_entry(session, changed) != replace(table, managed=False):
            raise CatalogError(
                f"the table at {table.location} was created again, but the catalog keeps the old columns of {table.qualified_name}: use its"
                " path, or copy it to another table, before you drop this one, which deletes the data."
            )
    unregister(session, table)


def _arity(session: SparkSession, scala_class: JavaObject) -> int:
    """How many fields a case class has; Spark's releases add some at the end."""
    name = scala_class._fqn  # noqa: SLF001 - py4j states the name nowhere else
    reflected = jvm.jvm(session).java.lang.Class.forName(name)
    return max(int(constructor.getParameterCount()) for constructor in reflected.getConstructors())


def _identifier(session: SparkSession, name: str, database: str | None = None) -> JavaObject:
    parts = (name,) if database is None else (database, name)
    return jvm.sql_parser(session).parseTableIdentifier(".".join("`" + part.replace("`", "``") + "`" for part in parts))
