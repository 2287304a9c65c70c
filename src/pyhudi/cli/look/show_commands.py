"""`ls` and `show`: which tables there are, and what one is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from pyhudi.cli.look.look_arguments import as_json as json_option
from pyhudi.cli.look.look_arguments import of_table
from pyhudi.cli.look.look_arguments import storage_options as storage_option
from pyhudi.cli.look.rows_output import print_properties, print_rows
from pyhudi.cli.shared.options_text import pairs
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import check_served
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.find_tables import list_tables
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline


@click.command()
@click.argument("folder", default=".")
@click.option("--depth", type=click.IntRange(min=0), default=3, show_default=True, help="Levels of folders that are looked at.")
@json_option
@storage_option
def ls(*, folder: str, depth: int, as_json: bool, storage_options: Sequence[str]) -> None:
    """List the tables below FOLDER, by default the current one."""
    options = pairs(storage_options) or None
    rows = []
    for path in list_tables(folder, options, depth=depth):
        config = TableConfig(load_properties(open_storage(path, options)))
        rows.append({"path": path, "name": config.name, "type": config.table_type, "version": config.version})
    print_rows(["path", "name", "type", "version"], rows, as_json=as_json)


@click.command()
@of_table
def show(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show what the table at PATH is: type, version, keys, columns, last commit."""
    storage = open_storage(path, pairs(storage_options) or None)
    config = TableConfig(load_properties(storage))
    check_served(config.version, for_write=False)
    properties: dict[str, object] = {
        "name": config.name,
        "path": storage.uri,
        "type": config.table_type,
        "version": config.version,
        "record key": list(config.record_key_fields),
        "partitioned by": list(config.partition_fields),
        "ordered by": list(config.ordering_fields),
        "indexes": list(config.metadata_partitions),
    }
    properties |= _timeline_properties(storage, config)
    print_properties(properties if as_json else {name: _line(value) for name, value in properties.items()}, as_json=as_json)


def _timeline_properties(storage: Storage, config: TableConfig) -> dict[str, object]:
    """Return what the active timeline says: columns, number of commits, last commit, pending actions."""
    timeline = load_timeline(storage, config)
    commits = timeline.data_instants()
    pending = [f"{instant.action.value} {instant.requested}" for instant in timeline.pending()]
    result: dict[str, object] = {"active commits": len(commits), "pending": pending}
    if not commits:
        return result
    last = load_commit_metadata(storage, config, timeline, commits[-1])
    stats = tuple(last.all_stats())
    result["last commit"] = {
        "instant": commits[-1].requested,
        "completed": commits[-1].completed,
        "operation": last.operation,
        "inserted": sum(stat.num_inserts for stat in stats),
        "updated": sum(stat.num_update_writes for stat in stats),
        "deleted": sum(stat.num_deletes for stat in stats),
    }
    if last.schema_json is not None:
        result["columns"] = [field["name"] for field in json.loads(last.schema_json)["fields"]]
    return result


def _line(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items() if item)
    return value
