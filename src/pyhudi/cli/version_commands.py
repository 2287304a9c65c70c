"""`upgrade`, `downgrade` and `change-table-type`: what a table is, changed as a whole.

Rules: `UpgradeOrDowngradeCommand` (`upgrade table --toVersion`, `downgrade table --toVersion`), `TableCommand` (`table change-table-type`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import click

from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.cli.shared_arguments import chosen_engine, progress_of
from pyhudi.service.upgrade import VersionChange
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services

_COMMON = (
    click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again."),
    click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage."),
    click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="What runs the compaction."),
    click.option("--threads", type=click.IntRange(min=1), help="Threads of the local engine."),
    click.option("--dry-run", is_flag=True, help="Only show what would be done."),
    click.option("--json", "as_json", is_flag=True, help="One JSON object."),
    click.option("--progress/--no-progress", default=None, help="Show how far the compaction is; by default on a terminal."),
)


def _common_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_COMMON):
        command = option(command)
    return command


@click.command()
@path_argument
@click.option("--to", "--toVersion", "to", default="9", show_default=True, help="Table version, as a number or a name such as NINE.")
@_common_options
def upgrade(*, path: str, to: str, as_json: bool, **arguments: object) -> None:
    """Move the table at PATH to a later table version; readers may continue meanwhile, older Hudi releases cannot read it afterwards."""
    _show(_changed(path, lambda services: services.upgrade, to, **arguments), as_json=as_json)  # type: ignore[arg-type]


@click.command()
@path_argument
@click.option("--to", "--toVersion", "to", required=True, help="Table version, as a number or a name such as SIX.")
@_common_options
def downgrade(*, path: str, to: str, as_json: bool, **arguments: object) -> None:
    """Move the table at PATH to an earlier table version; what that version cannot express is refused."""
    _show(_changed(path, lambda services: services.downgrade, to, **arguments), as_json=as_json)  # type: ignore[arg-type]


@click.command("change-table-type")
@path_argument
@click.option("--target-type", required=True, help="COPY_ON_WRITE (COW) or MERGE_ON_READ (MOR).")
@click.option("--enable-compaction", type=bool, default=True, show_default=True, help="Compact the log files that stand in the way.")
@_common_options
def change_table_type(*, path: str, target_type: str, enable_compaction: bool, as_json: bool, **arguments: object) -> None:
    """Make the table at PATH copy-on-write or merge-on-read."""

    def change(services: Services) -> Callable[..., object]:
        return lambda to, **others: services.change_type(to, compact=enable_compaction, **others)

    result = _changed(path, change, target_type, **arguments)  # type: ignore[arg-type]
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))  # type: ignore[attr-defined]


def _changed(
    path: str,
    method: Callable[[Services], Callable[..., object]],
    to: str,
    *,
    options: Sequence[str],
    storage_options: Sequence[str],
    engine: str,
    threads: int | None,
    dry_run: bool,
    progress: bool | None,
) -> object:
    table = HudiTable.open(path, pairs(storage_options))
    with progress_of(progress) as callback:
        return method(table.services)(
            to,
            dry_run=dry_run,
            options=pairs(options),
            engine=None if dry_run else chosen_engine(engine, threads),
            progress=callback,
        )


def _show(change: object, *, as_json: bool) -> None:
    assert isinstance(change, VersionChange), "both methods return one"
    click.echo(json.dumps(change.to_dict()) if as_json else str(change))
