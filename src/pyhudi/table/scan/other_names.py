"""Names that users of pandas, polars, Delta Lake and Iceberg type first, and what is called so here.

A name that does not exist is an `AttributeError` or `TypeError` as always in Python; its message names the right call.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_READ: Final = "HudiTable.open(path).to_arrow() reads a table, to_pandas() and to_polars() as a data frame"
_WRITE: Final = "HudiTable.create(path, data.schema, name=..., keys=[...]) creates a table, and its upsert(data) or insert(data) writes"
_OPEN: Final = "HudiTable.open(path) opens a table"
_SCAN: Final = "HudiTable.open(path).scan() is lazy; its to_polars() is a LazyFrame, and DuckDB queries it by its name"

#: Names of the package.
OF_PACKAGE: Final = {
    **dict.fromkeys(("read_table", "read_hudi", "read_pandas", "read_parquet", "read_arrow"), _READ),
    **dict.fromkeys(("write_table", "write_hudi", "to_hudi", "upsert", "insert", "create_table", "create"), _WRITE),
    **dict.fromkeys(("open", "open_table", "load", "load_table", "Table", "table_exists", "connect"), _OPEN),
    **dict.fromkeys(("scan_hudi", "scan_table", "scan"), _SCAN),
}

COLUMNS: Final = "to_arrow(columns=[...]) reads columns, and schema.names lists them"
_PAST: Final = "reads take as_of=<instant or time>, such as to_arrow(as_of=...), and restore(to=<instant>) brings the table back"
_ALTER: Final = "alter(add={...}, drop=[...], rename={...}, retype={...}) changes columns"
ROWS: Final = "to_arrow().to_pylist() returns rows as dicts, and to_batches() streams them"

#: Names of `HudiTable`.
OF_TABLE: Final = {
    "append": "insert(data) adds rows, upsert(data) replaces those with the same key",
    "as_of": _PAST,
    "add_column": _ALTER,
    "add_columns": _ALTER,
    "base_path": "storage.uri is its path",
    "close": "a table holds nothing open; every call looks at the storage again",
    "clean": "services.clean() deletes old file slices",
    "cluster": "services.cluster() runs a clustering",
    "collect": "to_arrow() reads all rows",
    "columns": "schema.names lists the columns",
    "compact": "services.compact() merges log files",
    "create_checkpoint": "services.archive() archives old actions",
    "describe": "to_pandas().describe() does that in memory, and inspect.column_stats() returns the statistics of the files",
    "drop": "delete its folder, or DROP TABLE in Spark SQL",
    "drop_column": _ALTER,
    "drop_columns": _ALTER,
    "dtypes": "schema lists columns and types",
    "file_uris": "inspect.files() lists the files",
    "files": "inspect.files() lists the files of the current state, inspect.slices() all file slices",
    "filter": "to_arrow(filter='...') reads the rows of a condition, scan(filter='...') lazily",
    "info": "config has its properties, schema its columns, and inspect what it consists of",
    "inspect_files": "inspect.files() lists the files",
    "lazy": "scan().to_polars() is a polars LazyFrame",
    "limit": "head(n) reads some rows",
    "load_as_version": _PAST,
    "metadata": "config has its properties, and schema its columns",
    "name": "config.name is its name",
    "num_rows": "count() or len(table) counts the rows",
    "optimize": "services.compact() merges log files, services.cluster() rewrites small files",
    "overwrite_partitions": "overwrite(data, dynamic=True) replaces the partitions of the data",
    "partitions": "inspect.partitions() lists the partitions",
    "path": "storage.uri is its path",
    "properties": "config.properties has them",
    "query": "to_arrow(filter='...') reads the rows of a condition; for SQL, name a scan() in a query of DuckDB",
    "read": "to_arrow() reads the rows",
    "reload": "refresh() reads the table's properties again; rows are always read as they are now",
    "rename_column": _ALTER,
    "rollback": "restore(to=<instant>) brings back an earlier commit, services.rollback() rolls back what failed",
    "sample": "head(n) reads some rows",
    "select": COLUMNS,
    "shape": "count() counts the rows, and len(schema) the columns",
    "show": "head() returns some rows, and str(table.to_pandas()) all of them",
    "snapshot": "scan() is the state of the table now",
    "snapshots": "history() lists the actions of the table",
    "sql": "name a scan() in a query of DuckDB: rides = table.scan(); duckdb.sql('SELECT ... FROM rides')",
    "to_delta": "to_arrow() returns an Arrow table",
    "to_dict": ROWS,
    "to_dicts": ROWS,
    "to_duckdb": "name a scan() in a query: rides = table.scan(); duckdb.sql('SELECT ... FROM rides')",
    "to_pyarrow": "to_arrow() returns an Arrow table",
    "to_pyarrow_dataset": "scan() is a pyarrow dataset",
    "to_pyarrow_table": "to_arrow() returns an Arrow table",
    "to_pylist": ROWS,
    "to_table": "to_arrow() returns an Arrow table",
    "update_schema": _ALTER,
    "vacuum": "services.clean() deletes old file slices",
    "version": "history() lists the commits with their instants; config.version is the version of the table format",
    "where": "to_arrow(filter='...') reads the rows of a condition",
    "write": "insert(data) adds rows, upsert(data) replaces those with the same key, overwrite(data) replaces all",
}
#: Names of a merge.
OF_MERGE: Final = {
    "when_matched_update_all": "when_matched_update() without values takes every column from the source",
    "when_not_matched_insert_all": "when_not_matched_insert() without values takes every column from the source",
    "when_matched": "when_matched_update(...) and when_matched_delete(...) are its clauses",
    "when_not_matched": "when_not_matched_insert(...) is its clause",
}
#: Names of a scan.
OF_SCAN: Final = {
    "collect": "to_arrow() reads the rows",
    "lazy": "to_polars() is a polars LazyFrame",
    "limit": "head(n) reads some rows",
    "select": "scan(columns=[...]) or to_polars().select(...) chooses columns",
    "sql": "name the scan in a query of DuckDB: duckdb.sql('SELECT ... FROM scan')",
    "to_duckdb": "name the scan in a query of DuckDB: duckdb.sql('SELECT ... FROM scan')",
    "where": "filter(...) chooses rows",
}

_KEYS: Final = ("ids", "key", "keys", "record_key", "record_keys")
_CONDITION: Final = ("condition", "expr", "filter", "filters", "partition_filters", "predicate", "row_filter", "where")
_ROWS: Final = ("batches", "dataframe", "df", "records", "rows", "source", "table")
#: What the other names of an argument mean, by the arguments one of which a method must have.
_ARGUMENTS: Final = {
    ("filter", "where"): dict.fromkeys(_CONDITION, "a condition is {}='...'")
    | dict.fromkeys(_KEYS, "records are chosen by {}='id IN (1, 2)'"),
    ("on",): dict.fromkeys(("predicate", "condition"), "the columns by which rows match are {}='id' or {}=['id', 'day']")
    | dict.fromkeys(("source_alias", "target_alias"), "the two sides are always source.column and target.column")
    | {"options": "they are given to its end, execute(options=...)"},
    ("data",): dict.fromkeys(_ROWS, "the rows are {}=...")
    | dict.fromkeys((*_KEYS, "on", "partition_by"), "the table has its key and partition fields, which HudiTable.create(...) states")
    | dict.fromkeys(
        ("mode", "save_mode"), "insert(data) adds rows, upsert(data) replaces those with the same key, overwrite(data) replaces all"
    ),
    ("as_of",): dict.fromkeys(("at", "snapshot_id", "timestamp", "version"), "a state in the past is {}=<instant or time>"),
    ("columns",): dict.fromkeys(("selected_fields", "usecols", "select"), "columns are {}=[...]") | {"limit": "head(n) reads some rows"},
    ("set",): dict.fromkeys(("new_values", "updates", "values"), "new values are {}={{'column': '<expression>'}}"),
    ("to",): dict.fromkeys(("instant", "target", "timestamp", "version"), "the commit is {}=<instant>"),
    ("add",): dict.fromkeys(("add_columns", "columns"), "new columns are {}={{'name': pyarrow.float64()}}"),
}


def advised(function: Callable[P, R]) -> Callable[P, R]:
    """Let a method refuse an argument by a name that is usual elsewhere with the name that it has here.

    Raises:
        TypeError: there is no such argument.

    Example:
        >>> table.to_pandas(filters=[("id", "=", 1)])
        Traceback (most recent call last):
        TypeError: to_pandas() has no argument 'filters': a condition is filter='...'
    """
    arguments = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*positional: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in arguments and (advice := _advice(name, arguments)):
                raise TypeError(f"{function.__name__}() has no argument '{name}': {advice}")
        return function(*positional, **named)

    return call


def missing(owner: object, names: Mapping[str, str], name: str) -> AttributeError:
    """Return the error of a name that an object does not have, with what does that here; Python adds the closest of the existing names."""
    kind = type(owner).__name__
    advice = names.get(name)
    return AttributeError(f"{kind} has no '{name}'" + (f": {advice}" if advice else ""), name=name, obj=owner)


def _advice(name: str, arguments: Mapping[str, Any]) -> str | None:
    for names, others in _ARGUMENTS.items():
        present = next((one for one in names if one in arguments), None)
        if present is not None and name in others:
            return others[name].replace("{}", present).replace("{{", "{").replace("}}", "}")
    return None
