"""`cluster`: buckets of hash rings are split and merged, in a process of its own.

Rules: `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from pyhudi.cli.engines import chosen_engine, show_progress
from pyhudi.cli.pairs import pairs
from pyhudi.service.table_service import MODES
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.option("--mode", type=click.Choice(MODES), default="both", show_default=True, help="Plan, run what is planned, or both.")
@click.option("--instant", help="Run the pending clustering of this requested time.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="What runs the tasks.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the local engine.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each clustering.")
@click.option("--progress/--no-progress", default=None, help="Show how far it is; by default on a terminal.")
def cluster(
    *,
    path: str,
    mode: str,
    instant: str | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    engine: str,
    threads: int | None,
    dry_run: bool,
    as_json: bool,
    progress: bool | None,
) -> None:
    """Split large buckets of the table at PATH, and merge small ones; it is laid out by consistent hashing. Readers may go on meanwhile."""
    show = sys.stderr.isatty() if progress is None else progress
    results = HudiTable.open(path, pairs(storage_options)).services.cluster(
        instant,
        mode="execute" if instant is not None and mode == "both" else mode,  # type: ignore[arg-type]  # click has checked it
        dry_run=dry_run,
        options=pairs(options),
        engine=chosen_engine(engine, threads),
        progress=show_progress if show else None,
    )
    for result in results:
        click.echo(json.dumps(result.to_dict()) if as_json else str(result))
    if not results and not as_json:
        click.echo("nothing to resize")
