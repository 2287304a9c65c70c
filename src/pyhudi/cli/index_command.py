"""`index`: indexes of a table are made, in a process of their own concurrently with the writers, or dropped.

Rules: `HoodieIndexer` (modes schedule, execute, scheduleAndExecute, dropindex).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from pyhudi.cli.shared_arguments import pairs
from pyhudi.service.indexes import IndexChange
from pyhudi.service.table_service import MODES
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.argument("name", required=False)
@click.argument("columns", nargs=-1)
@click.option("--mode", type=click.Choice(MODES), default="both", show_default=True, help="Plan, run what is planned, or both.")
@click.option("--instant", help="Run the pending build of this requested time.")
@click.option("--using", help="Type of the index: column_stats or bloom_filters of an expression; a secondary index without it.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the index, as expr=lower; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--drop", is_flag=True, help="Drop the index of this name.")
@click.option("--rebuild", is_flag=True, help="Rebuild the metadata table and all indexes.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def index(
    *,
    path: str,
    name: str | None,
    columns: Sequence[str],
    mode: str,
    instant: str | None,
    using: str | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    drop: bool,
    rebuild: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the index NAME of COLUMNS of the table at PATH; without a name, run what is planned. Writers may go on meanwhile."""
    table = HudiTable.open(path, pairs(storage_options))
    runs = name is None and not rebuild and mode == "both"
    change = table.services.index(
        name,
        tuple(columns),
        using=using,
        options=pairs(options),
        drop=drop,
        rebuild=rebuild,
        dry_run=dry_run,
        mode="execute" if runs else mode,  # type: ignore[arg-type]  # click has checked it
        instant=instant,
    )
    click.echo(json.dumps(asdict(change)) if as_json else _describe(change))


def _describe(change: IndexChange) -> str:
    done = {"built": change.built, "planned": change.planned, "dropped": change.dropped}
    return "; ".join(f"{what} {', '.join(names)}" for what, names in done.items() if names) or "nothing to build"
