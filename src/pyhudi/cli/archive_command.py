"""`archive`: old instants leave the active timelines of a table and of its metadata table.

Rules: `ArchivedCommitsCommand` (`trigger archival`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from pyhudi.cli.pairs import pairs
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.option("--min-commits", type=click.IntRange(min=1), help="Completed commits that stay active; by default 20.")
@click.option("--max-commits", type=click.IntRange(min=1), help="Completed commits from which on older ones are archived; by default 30.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def archive(
    *,
    path: str,
    min_commits: int | None,
    max_commits: int | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Archive old instants of the table at PATH."""
    given = pairs(options)
    for key, value in (("hoodie.keep.min.commits", min_commits), ("hoodie.keep.max.commits", max_commits)):
        if value is not None:
            given[key] = str(value)
    result = HudiTable.open(path, pairs(storage_options)).services.archive(options=given, dry_run=dry_run)
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))
