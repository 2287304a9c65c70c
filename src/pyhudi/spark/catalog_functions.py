"""`spark.catalog` for Hudi tables: each function finds the tables it is about already resolved.

Spark asks a table's provider when its relation cache does not know the table, and no provider in the JVM is named `hudi`. So the tables
that a call names are refreshed first; `createTable` is the CREATE TABLE it means. Design: docs/design/0030-sql-front-door.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.catalog import Catalog

from pyhudi.spark import catalog_table, jvm
from pyhudi.spark.patches import Hook, replace_method
from pyhudi.spark.relation_cache import forget, refresh
from pyhudi.spark.relations import refresh_all

IsEnabled = Callable[[SparkSession], bool]
_NAMING = ("getTable", "tableExists", "listColumns", "cacheTable", "uncacheTable", "isCached")
_NO_PROVIDER = "DATA_SOURCE_NOT_FOUND"


def install(is_enabled: IsEnabled) -> None:
    """Replace the functions; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """

    def for_enabled(hook: Hook) -> Hook:
        def chosen(catalog: Catalog, original: Hook, *args: Any, **kwargs: Any) -> Any:
            session = _session(catalog)
            return hook(session, catalog, original, *args, **kwargs) if is_enabled(session) else original(catalog, *args, **kwargs)

        return chosen

    for name in _NAMING:
        replace_method(Catalog, name, for_enabled(_naming))
    replace_method(Catalog, "listTables", for_enabled(_list_tables))
    replace_method(Catalog, "refreshTable", for_enabled(_refresh_table))
    replace_method(Catalog, "createTable", for_enabled(_create_table))


def _session(catalog: Catalog) -> SparkSession:
    session: SparkSession = catalog._sparkSession  # noqa: SLF001 - no public name
    return session


def _naming(
    session: SparkSession,
    catalog: Catalog,
    original: Hook,
    tableName: str,  # noqa: N803 - Spark's name
    *args: Any,
    **kwargs: Any,
) -> Any:
    parts = catalog_table.split_name(session, tableName)
    database = kwargs.get("dbName") or next((arg for arg in args if isinstance(arg, str)), None)
    refresh_all(session, [parts if database is None else (database, *parts)])
    return original(catalog, tableName, *args, **kwargs)


def _list_tables(session: SparkSession, catalog: Catalog, original: Hook, dbName: str | None = None, *args: Any) -> Any:  # noqa: N803
    try:
        return original(catalog, dbName, *args)
    except (Py4JError, PySparkException) as error:
        if _NO_PROVIDER not in str(error):
            raise
    database = dbName or catalog.currentDatabase()
    listed = jvm.session_catalog(session).listTables(database).mkString("\x01")
    names = (identifier.rpartition(".")[2].strip("`") for identifier in listed.split("\x01"))
    refresh_all(session, [(catalog_table.SESSION_CATALOG, database, name) for name in names])
    return original(catalog, dbName, *args)


def _refresh_table(session: SparkSession, catalog: Catalog, original: Hook, tableName: str) -> None:  # noqa: N803
    table = catalog_table.find(session, tableName)
    if table is None:
        original(catalog, tableName)
    else:
        forget(session, table)
        refresh(session, table)


def _create_table(
    session: SparkSession,
    catalog: Catalog,
    original: Hook,
    tableName: str,  # noqa: N803 - Spark's name
    path: str | None = None,
    source: str | None = None,
    schema: Any = None,
    description: str | None = None,
    **options: str,
) -> Any:
    if source is None or source.lower() != catalog_table.PROVIDER:
        return original(catalog, tableName, path, source, schema, description, **options)
    clauses = [
        f"CREATE TABLE {tableName}",
        "" if schema is None else f"({schema.toDDL()})",
        f"USING {catalog_table.PROVIDER}",
        "" if path is None else f"LOCATION {_text(path)}",
        "" if description is None else f"COMMENT {_text(description)}",
        f"TBLPROPERTIES ({', '.join(f'{_text(key)} = {_text(value)}' for key, value in options.items())})" if options else "",
    ]
    session.sql(" ".join(filter(None, clauses)))
    return session.table(tableName)


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
