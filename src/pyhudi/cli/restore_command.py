"""`restore`: back to a savepoint or any active commit, or on with a restore that was cut off. `rollback`: of one instant.

Rules: `SavepointsCommand` (`savepoint rollback`), `RestoresCommand`, `CommitsCommand` (`commit rollback`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.spec.files.file_group import join_path
from pyhudi.table.hudi_table import HudiTable


@click.command()
@path_argument
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


@click.command()
@path_argument
@click.argument("instant")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--dry-run", is_flag=True, help="Only show what would be rolled back, and which files deleted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def rollback(*, path: str, instant: str, storage_options: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Roll back INSTANT of the table at PATH: the latest completed commit, a failed write or a pending service."""
    for plan in HudiTable.open(path, pairs(storage_options)).services.rollback(instant, dry_run=dry_run):
        assert plan.instant is not None, "plans that were made here name their instant"
        files = [join_path(one.partition_path, name.rpartition("/")[2]) for one in plan.requests or () for name in one.files_to_delete]
        state = "planned" if dry_run else "completed"
        if as_json:
            click.echo(json.dumps({"state": state, "instant": plan.instant.time, "action": plan.instant.action, "files": files}))
            continue
        verb = "would be" if dry_run else "is"
        click.echo(f"{plan.instant.action} {plan.instant.time} {verb} rolled back: {len(files)} files deleted")
        for file in files if dry_run else ():
            click.echo(f"  {file}")
