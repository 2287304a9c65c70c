"""`restore`: back to a savepoint or any active commit, or on with a restore that was cut off.

Rules: `SavepointsCommand` (`savepoint rollback`), `RestoresCommand`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from pyhudi.cli.shared_arguments import pairs
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.argument("instant", required=False)
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--dry-run", is_flag=True, help="Only show which instants would be rolled back, and which files deleted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def restore(*, path: str, instant: str | None, storage_options: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Restore the table at PATH to the commit INSTANT; without it, continue with a restore that was cut off."""
    result = HudiTable.open(path, pairs(storage_options)).services.restore(instant, dry_run=dry_run)
    if as_json:
        click.echo(json.dumps(result.to_dict()))
        return
    click.echo(str(result))
    for file in result.files if dry_run else ():
        click.echo(f"  {file}")
