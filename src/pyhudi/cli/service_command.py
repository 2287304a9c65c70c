"""Makes the command of a table service: arguments, options, engine, progress and output are the same for all of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import click

from pyhudi.cli.shared_arguments import chosen_engine, pairs, show_progress
from pyhudi.engine.engine_protocol import Engine
from pyhudi.service.service_engine import Progress
from pyhudi.service.table_service import MODES, ServiceMode, ServiceResult
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services

_PATH: Final = (click.Argument(["path"]),)
_OPTIONS: Final = (
    click.Option(["--option", "options"], multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again."),
    click.Option(["--storage-option", "storage_options"], multiple=True, metavar="KEY=VALUE", help="An option of the storage."),
)
_ENGINE: Final = (
    click.Option(["--engine"], type=click.Choice(["local", "spark"]), default="local", show_default=True, help="What runs the tasks."),
    click.Option(["--threads"], type=click.IntRange(min=1), help="Threads of the local engine."),
)
_PROGRESS: Final = (click.Option(["--progress/--no-progress"], default=None, help="Show how far it is; by default on a terminal."),)


class ServiceMethod(Protocol):
    """A method of `table.services` that plans and runs a service."""

    def __call__(
        self,
        instant: str | None,
        *,
        mode: ServiceMode,
        dry_run: bool,
        options: Mapping[str, str],
        engine: Engine | None,
        progress: Progress | None,
    ) -> Sequence[ServiceResult]:
        """Return the results."""
        ...


class TableResult(Protocol):
    """What a service reports."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        ...


def service_command(
    name: str,
    summary: str,
    method: Callable[[Services, Mapping[str, Any]], ServiceMethod],
    *,
    noun: str,
    nothing: str,
    flags: Sequence[click.Option] = (),
    option_keys: Mapping[str, str] | None = None,
) -> click.Command:
    """Return the command of a service that is planned and run (`pyhudi.service.service_executor`).

    Args:
        name: of the command.
        summary: its help.
        method: returns the method of `table.services` to call, given the values of `flags`.
        noun: what one run of the service is called.
        nothing: is printed when there is nothing to do.
        flags: further options of the command.
        option_keys: the `hoodie.*` options that flags stand for, by the name of the flag's parameter.
    """
    plan = (
        click.Option(["--mode"], type=click.Choice(MODES), default="both", show_default=True, help="Plan, run what is planned, or both."),
        click.Option(["--instant"], help=f"Run the pending {noun} of this requested time."),
    )

    def run(table: HudiTable, options: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
        mode, instant = values["mode"], values["instant"]
        show = sys.stderr.isatty() if values["progress"] is None else values["progress"]
        return method(table.services, values)(
            instant,
            mode="execute" if instant is not None and mode == "both" else mode,
            dry_run=values["dry_run"],
            options=options,
            engine=chosen_engine(values["engine"], values["threads"]),
            progress=show_progress if show else None,
        )

    return _command(name, summary, run, (*plan, *flags), (*_ENGINE,), _PROGRESS, f"One JSON object for each {noun}.", nothing, option_keys)


def table_command(
    name: str,
    summary: str,
    run: Callable[[HudiTable, Mapping[str, str], Mapping[str, Any]], Sequence[TableResult]],
    *,
    flags: Sequence[click.Option] = (),
    option_keys: Mapping[str, str] | None = None,
) -> click.Command:
    """Return a command on the table at PATH that `run` does, given the table, its `hoodie.*` options and the values of all options.

    Arguments as of `service_command`.
    """
    return _command(name, summary, run, flags, (), (), "One JSON object.", "", option_keys)


def _command(
    name: str,
    summary: str,
    run: Callable[[HudiTable, Mapping[str, str], Mapping[str, Any]], Sequence[TableResult]],
    flags: Sequence[click.Option],
    engine: Sequence[click.Option],
    progress: Sequence[click.Option],
    json_help: str,
    nothing: str,
    option_keys: Mapping[str, str] | None,
) -> click.Command:
    output = (
        click.Option(["--dry-run"], is_flag=True, help="Only show what would be done."),
        click.Option(["--json", "as_json"], is_flag=True, help=json_help),
    )

    def callback(**values: Any) -> None:
        options = pairs(values["options"])
        options |= {key: str(values[flag]) for flag, key in (option_keys or {}).items() if values[flag] is not None}
        results = run(HudiTable.open(values["path"], pairs(values["storage_options"])), options, values)
        for result in results:
            click.echo(json.dumps(result.to_dict()) if values["as_json"] else str(result))
        if not results and not values["as_json"]:
            click.echo(nothing)

    return click.Command(name, callback=callback, params=[*_PATH, *flags, *_OPTIONS, *engine, *output, *progress], help=summary)
