"""`locks audit enable`, `disable`, `status`, `validate` and `cleanup`.

Rules: `LockAuditingCommand` (`locks audit enable`, ...).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from pyhudi.cli.shared.command_group import CommandGroup
from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.service.lock_audit_service import LockAuditCleanup, LockAuditReport, LockAuditStatus
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services

_Command = TypeVar("_Command", bound=Callable[..., None])
_FAILED = 1


def _common(command: _Command) -> _Command:
    storage = click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
    return path_argument(storage(click.option("--json", "as_json", is_flag=True, help="JSON.")(command)))


@click.group(cls=CommandGroup)
def locks() -> None:
    """Work on the lock of a table."""


@locks.group(cls=CommandGroup)
def audit() -> None:
    """Record who holds the lock of a table on an object store, and check it."""


@audit.command()
@_common
def enable(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Begin to record who takes, renews and releases the lock of the table at PATH."""
    _show(_services(path, storage_options).set_lock_audit(enabled=True), as_json=as_json)


@audit.command()
@click.option("--delete-files", is_flag=True, help="Delete the records.")
@_common
def disable(*, path: str, delete_files: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """End the records of the lock of the table at PATH."""
    _show(_services(path, storage_options).set_lock_audit(enabled=False, keep_files=not delete_files), as_json=as_json)


@audit.command()
@_common
def status(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show whether the lock of the table at PATH is recorded."""
    _show(_services(path, storage_options).lock_audit(), as_json=as_json)


@audit.command()
@_common
@click.pass_context
def validate(context: click.Context, *, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Check that no two writers held the lock of the table at PATH at a time. Exits with 1 if two did."""
    report = _services(path, storage_options).validate_lock_audit()
    _show(report, as_json=as_json)
    if report.result == "FAILED":
        context.exit(_FAILED)


@audit.command()
@click.option("--age-days", type=click.IntRange(min=0), default=7, show_default=True, help="Files older than so many days.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@_common
def cleanup(*, path: str, age_days: int, dry_run: bool, as_json: bool, storage_options: Sequence[str]) -> None:
    """Delete old records of the lock of the table at PATH."""
    _show(_services(path, storage_options).clean_lock_audit(age_days, dry_run=dry_run), as_json=as_json)


def _show(result: LockAuditStatus | LockAuditReport | LockAuditCleanup, *, as_json: bool) -> None:
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))


def _services(path: str, storage_options: Sequence[str]) -> Services:
    return HudiTable.open(path, pairs(storage_options)).services
