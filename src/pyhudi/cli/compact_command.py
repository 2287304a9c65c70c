"""`compact`: the log files of a merge-on-read table become base files, in a process of its own beside the writers.

Rules: `HoodieCompactor` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

import click

from pyhudi.cli.engines import chosen_engine, show_progress
from pyhudi.cli.pairs import pairs
from pyhudi.service.compaction.compaction_result import CompactionResult
from pyhudi.service.table_service import MODES
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.option("--mode", type=click.Choice(MODES), default="both", show_default=True, help="Plan, run what is planned, or both.")
@click.option("--instant", help="Run the pending compaction of this requested time.")
@click.option("--log", "log_only", is_flag=True, help="Log compaction: stitch log files together, leave base files alone.")
@click.option("--strategy", help="Class of the compaction strategy; several are parted by commas.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="What runs the tasks.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the local engine.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each compaction.")
@click.option("--progress/--no-progress", default=None, help="Show how far it is; by default on a terminal.")
def compact(
    *,
    path: str,
    mode: str,
    instant: str | None,
    log_only: bool,
    strategy: str | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    engine: str,
    threads: int | None,
    dry_run: bool,
    as_json: bool,
    progress: bool | None,
) -> None:
    """Merge the log files of the table at PATH into base files. Writers may go on meanwhile."""
    given = pairs(options)
    if strategy is not None:
        given["hoodie.compaction.strategy"] = strategy
    table = HudiTable.open(path, pairs(storage_options))
    run = table.services.log_compact if log_only else table.services.compact
    show = sys.stderr.isatty() if progress is None else progress
    results = run(
        instant,
        mode="execute" if instant is not None and mode == "both" else mode,  # type: ignore[arg-type]  # click has checked it
        dry_run=dry_run,
        options=given,
        engine=chosen_engine(engine, threads),
        progress=show_progress if show else None,
    )
    _print(results, as_json=as_json)


def _print(results: Sequence[CompactionResult], *, as_json: bool) -> None:
    say: Callable[[CompactionResult], str] = (lambda result: json.dumps(result.to_dict())) if as_json else str
    for result in results:
        click.echo(say(result))
    if not results and not as_json:
        click.echo("nothing to compact")
