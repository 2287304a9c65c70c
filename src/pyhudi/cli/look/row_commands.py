"""`head`, `query`, `find`, `changes` and `diff`: rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cli.look.look_arguments import of_table
from pyhudi.cli.look.rows_output import print_rows
from pyhudi.cli.look.table_access import open_table, print_table
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.progress import progress_bar
from pyhudi.table.scan.optional_package import load_package

_KEY, _PATH = "_hoodie_record_key", "_hoodie_partition_path"
_META = "_hoodie_"
_CHANGE = "change"


@click.command()
@of_table
@click.option("-n", "--rows", type=click.IntRange(min=0), default=10, show_default=True, help="So many rows at most.")
@click.option("--columns", metavar="A,B", help="Only these columns.")
@click.option("--filter", "condition", metavar="SQL", help="Only rows that a condition is true for, such as \"city = 'oslo'\".")
@click.option("--as-of", metavar="TIME", help="The table at an earlier time.")
def head(
    *, path: str, rows: int, columns: str | None, condition: str | None, as_of: str | None, as_json: bool, storage_options: Sequence[str]
) -> None:
    """Show some rows of the table at PATH."""
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    print_table(open_table(path, storage_options).scan(names, condition, as_of).head(rows), as_json=as_json)


@click.command()
@of_table
@click.argument("sql")
@click.option("--as-of", metavar="TIME", help="The table at an earlier time.")
def query(*, path: str, sql: str, as_of: str | None, as_json: bool, storage_options: Sequence[str]) -> None:
    """Run a SELECT on the table at PATH, which is called `t` in it. Needs DuckDB."""
    duckdb = load_package("duckdb", "pyhudi query")
    rows = open_table(path, storage_options).scan(as_of=as_of)
    with duckdb.connect() as connection:
        connection.register("t", rows)
        try:
            relation: Any = connection.sql(sql)
            if relation is None:
                raise UsageError("the statement has no result: pyhudi query runs a SELECT")
            with progress_bar("query"):
                table = pa.table(relation)
        except duckdb.Error as error:
            raise UsageError(f"DuckDB: {error}") from None
    print_table(table, as_json=as_json)


@click.command()
@of_table
@click.argument("key")
def find(*, path: str, key: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Find the record with the record key KEY (`_hoodie_record_key`), its file and its commit; exit code 1 when there is none."""
    table = open_table(path, storage_options)
    if not table.config.populate_meta_fields:
        raise UnsupportedError(f"table {table.config.name} stores no record keys; use pyhudi head --filter with its key columns")
    rows = table.to_arrow(filter=pc.field(_KEY) == key, meta_columns=True)
    print_table(rows, as_json=as_json)
    if not rows.num_rows:
        click.echo(f"there is no record with the key '{key}'", err=True)
        click.get_current_context().exit(1)


@click.command()
@of_table
@click.option("--since", metavar="TIME", help="Commits that completed later.  [default: all]")
@click.option("--until", metavar="TIME", help="Commits that completed by then.  [default: now]")
@click.option("--cdc", is_flag=True, help="What happened to each record, of a table that captures its changes.")
def changes(*, path: str, since: str | None, until: str | None, cdc: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the rows of the table at PATH that were written between two times."""
    table = open_table(path, storage_options)
    print_table(table.changes(since, until, "cdc" if cdc else "latest_state"), as_json=as_json)


@click.command()
@of_table
@click.argument("earlier")
@click.argument("later", required=False)
def diff(*, path: str, earlier: str, later: str | None, as_json: bool, storage_options: Sequence[str]) -> None:
    """Compare the table at PATH at the times EARLIER and LATER, by default now, by record key.

    The column `change` is + for records that were added, - for removed ones; of changed records both versions are there, as < and >.
    """
    table = open_table(path, storage_options)
    if not table.config.record_key_fields or not table.config.populate_meta_fields:
        raise UnsupportedError(f"table {table.config.name} stores no record keys: its rows cannot be compared")
    before = table.to_arrow(as_of=earlier, meta_columns=True)
    after = table.to_arrow(as_of=later, meta_columns=True)
    names = [name for name in after.schema.names if not name.startswith(_META)]
    rows = _differences(_by_key(before.to_pylist(), names), _by_key(after.to_pylist(), names))
    print_rows([_CHANGE, *names], rows, as_json=as_json)


def _by_key(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row[_PATH], row[_KEY]): {name: row.get(name) for name in names} for row in rows}


def _differences(before: dict[tuple[str, str], dict[str, Any]], after: dict[tuple[str, str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            yield {_CHANGE: "+" if old is None else "-", **(new or old or {})}
        elif str(old) != str(new):  # as text, since NaN is no change
            yield {_CHANGE: "<", **old}
            yield {_CHANGE: ">", **new}
