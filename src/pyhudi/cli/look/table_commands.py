"""`schema`, `history`, `commit`, `slices`, `sizes`, `stats`, `indexes` and `health`: what a table consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cli.look.look_arguments import of_table
from pyhudi.cli.look.rows_output import Row, print_rows
from pyhudi.cli.look.table_access import open_table, print_table
from pyhudi.errors import SchemaError, UsageError, did_you_mean
from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.schema.meta_columns import META_FIELDS
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.timeline.instant_details import find_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline


@click.command()
@of_table
def schema(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the columns of the table at PATH."""
    rows = [
        {"column": field.name, "type": str(field.type), "nullable": field.nullable} for field in open_table(path, storage_options).schema
    ]
    print_rows(["column", "type", "nullable"], rows, as_json=as_json)


@click.command()
@of_table
@click.option("-n", "--actions", type=click.IntRange(min=1), default=20, show_default=True, help="The latest actions, so many.")
@click.option("--all", "whole", is_flag=True, help="All actions, archived ones too.")
def history(*, path: str, actions: int, whole: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the actions of the table at PATH, the latest last."""
    rows = open_table(path, storage_options).history()
    print_table(rows if whole else rows.slice(max(0, rows.num_rows - actions)), as_json=as_json)


@click.command()
@of_table
@click.argument("instant")
def commit(*, path: str, instant: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the files that the commit INSTANT of the table at PATH wrote."""
    table = open_table(path, storage_options)
    metadata = find_commit_metadata(table.storage, table.config, load_full_timeline(table.storage, table.config), instant)
    if metadata is None:
        raise UsageError(f"table {table.storage.uri} has no completed commit {instant}; pyhudi history lists them")
    print_rows(["partition", "file", "inserted", "updated", "deleted", "bytes"], _written(metadata), as_json=as_json)


def _written(metadata: CommitMetadata) -> Iterator[Row]:
    for partition, stats in metadata.stats.items():
        for stat in stats:
            yield {
                "partition": partition,
                "file": stat.path,
                "inserted": stat.num_inserts,
                "updated": stat.num_update_writes,
                "deleted": stat.num_deletes,
                "bytes": stat.total_write_bytes,
            }


@click.command()
@of_table
@click.option("--all", "whole", is_flag=True, help="Earlier file slices, too.")
def slices(*, path: str, whole: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the latest file slices of the table at PATH: base and log files of each file group."""
    rows = open_table(path, storage_options).inspect.slices()
    print_table(rows if whole else rows.filter(pc.field("latest")), as_json=as_json)


@click.command()
@of_table
def sizes(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the file groups, files and bytes of each partition of the table at PATH."""
    print_table(open_table(path, storage_options).inspect.partitions(), as_json=as_json)


@click.command()
@of_table
@click.option("--column", "columns", multiple=True, help="Only this column; may be given again.")
def stats(*, path: str, columns: Sequence[str], as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the statistics of the columns in the files of the table at PATH."""
    table = open_table(path, storage_options)
    known = [*(field.name for field in META_FIELDS), *table.schema.names]
    for name in columns:
        if name.split(".", maxsplit=1)[0] not in known:  # statistics of a field of a struct have its path
            raise SchemaError(f"table {table.storage.uri} has no column '{name}'.{did_you_mean(name, known)}")
    rows = table.inspect.column_stats()
    print_table(rows.filter(pc.field("column").isin(pa.array(columns, pa.string()))) if columns else rows, as_json=as_json)


@click.command()
@of_table
def indexes(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the indexes of the table at PATH: the partitions of its metadata table, and what they are of."""
    table = open_table(path, storage_options)
    definitions = load_definitions(table.storage, table.config)
    states = dict.fromkeys(table.config.metadata_partitions, "built") | dict.fromkeys(table.config.metadata_partitions_inflight, "building")
    rows = [
        {"index": name, "state": state, "columns": list(definitions[name].source_fields) if name in definitions else []}
        for name, state in states.items()
    ]
    print_rows(["index", "state", "columns"], rows, as_json=as_json)


@click.command()
@of_table
def health(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show what is wrong with the table at PATH; exit code 1 when something is."""
    rows = open_table(path, storage_options).inspect.health()
    print_table(rows, as_json=as_json)
    if rows.num_rows:
        click.get_current_context().exit(1)
