"""`spark.catalog` for Hudi tables: `createTable` is the CREATE TABLE it means, and `refreshTable` looks at a table again.

All other functions are Spark's, whose analyzer asks for the plans of Hudi tables by itself.
Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.catalog import Catalog

from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.relation_cache import forget, refresh
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_method


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

    replace_method(Catalog, "refreshTable", for_enabled(_refresh_table))
    replace_method(Catalog, "createTable", for_enabled(_create_table))


def _session(catalog: Catalog) -> SparkSession:
    session: SparkSession = catalog._sparkSession  # noqa: SLF001 - no public name
    return session


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
