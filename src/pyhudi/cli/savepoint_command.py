"""`savepoint create`, `list` and `delete`.

Rules: `SavepointsCommand` (`savepoint create`, `savepoints show`, `savepoint delete`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from pyhudi.cli.shared.command_group import CommandGroup
from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services

_Command = TypeVar("_Command", bound=Callable[..., None])
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only show what would be done.")


def _common(command: _Command) -> _Command:
    storage = click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
    return storage(click.option("--json", "as_json", is_flag=True, help="JSON.")(command))


@click.group(cls=CommandGroup)
def savepoint() -> None:
    """Keep the files of a commit, so that the table can be restored to it."""


@savepoint.command()
@path_argument
@click.argument("instant", required=False)
@click.option("--user", default="", help="Who makes it, for the record.")
@click.option("--comment", default="", help="Why, for the record.")
@_DRY_RUN
@_common
def create(
    *, path: str, instant: str | None, user: str, comment: str, dry_run: bool, as_json: bool, storage_options: Sequence[str]
) -> None:
    """Make a savepoint of the commit INSTANT of the table at PATH, by default of the latest one."""
    made = _services(path, storage_options).savepoint(instant, user=user, comment=comment, dry_run=dry_run)
    click.echo(json.dumps(made.to_dict()) if as_json else str(made))


@savepoint.command("list")
@path_argument
@_common
def list_them(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """List the savepoints of the table at PATH, the oldest first."""
    for one in _services(path, storage_options).savepoints():
        click.echo(json.dumps(one.to_dict()) if as_json else str(one))


@savepoint.command()
@path_argument
@click.argument("instant")
@_DRY_RUN
@_common
def delete(*, path: str, instant: str, dry_run: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """Delete the savepoint of the commit INSTANT of the table at PATH."""
    _services(path, storage_options).delete_savepoint(instant, dry_run=dry_run)
    done = {"instant": instant, "state": "planned" if dry_run else "deleted"}
    click.echo(json.dumps(done) if as_json else f"savepoint {instant} {'would be' if dry_run else 'is'} deleted")


def _services(path: str, storage_options: Sequence[str]) -> Services:
    return HudiTable.open(path, pairs(storage_options)).services
