"""`ttl`: partitions that have expired are dropped. Rules: `HoodieTTLJob`."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from pyhudi.cli.shared_arguments import pairs
from pyhudi.service.partition_ttl.ttl_settings import DAYS_RETAIN, STRATEGY_TYPE
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.option("--days", type=click.IntRange(min=1), help="Age in days from which on a partition has expired.")
@click.option("--policy", help="KEEP_BY_TIME (age since the last write, the default) or KEEP_BY_CREATION_TIME.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--dry-run", is_flag=True, help="Only show what would be dropped.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def ttl(
    *,
    path: str,
    days: int | None,
    policy: str | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Drop the expired partitions of the table at PATH."""
    given = pairs(options)
    for key, value in ((DAYS_RETAIN, days), (STRATEGY_TYPE, policy)):
        if value is not None:
            given[key] = str(value)
    result = HudiTable.open(path, pairs(storage_options)).services.ttl(options=given, dry_run=dry_run)
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))
