"""Makes the command of a table service: arguments, options, engine, progress and output are the same for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import click

from pyhudi.cli.job_flags import MODE, OPTIONS, PATH, PLAN_FLAGS, job_mode, job_options, job_table, note_unused, with_retries
from pyhudi.cli.shared_arguments import job_engine, progress_of
from pyhudi.engine.engine_protocol import Engine
from pyhudi.service.service_engine import Progress
from pyhudi.service.table_service import ServiceMode, ServiceResult
from pyhudi.spec.options import resolve
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services
from pyhudi.write.options.non_blocking import check_mode

_ENGINE: Final = (
    click.Option(["--engine"], type=click.Choice(["local", "spark"]), help="What runs the tasks.  [default: local]"),
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
    instant = click.Option(["--instant", "--instant-time", "-it", "instant"], help=f"Run the pending {noun} of this requested time.")
    plan = (*MODE, instant, *PLAN_FLAGS)

    def run(table: HudiTable, options: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
        with progress_of(values["progress"]) as progress:
            return method(table.services, values)(
                values["instant"],
                mode=job_mode(values),
                dry_run=values["dry_run"],
                options=options,
                engine=job_engine(values),
                progress=progress,
            )

    return _command(name, summary, run, (*plan, *flags), (*_ENGINE,), _PROGRESS, f"One JSON object for each {noun}.", nothing, option_keys)


def table_command(
    name: str,
    summary: str,
    run: Callable[[HudiTable, Mapping[str, str], Mapping[str, Any]], Sequence[TableResult]],
    *,
    flags: Sequence[click.Option] = (),
    option_keys: Mapping[str, str] | None = None,
    nothing: str = "",
) -> click.Command:
    """Return a command on the table at PATH that `run` does, given the table, its `hoodie.*` options and the values of all options.

    `nothing` is what it says where there are no results; other arguments as in `service_command`.
    """
    return _command(name, summary, run, flags, (), (), "One JSON object.", nothing, option_keys)


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
        options = job_options(values)
        options |= {key: str(values[flag]) for flag, key in (option_keys or {}).items() if values[flag] is not None}
        note_unused(values, has_engine=bool(engine))
        table = job_table(values)
        check_mode(resolve(options), table.config)
        results = with_retries(values, lambda: run(table, options, values))
        for result in results:
            click.echo(json.dumps(result.to_dict()) if values["as_json"] else str(result))
        if not results and not values["as_json"]:
            click.echo(nothing)

    return click.Command(name, callback=callback, params=[*PATH, *flags, *OPTIONS, *engine, *output, *progress], help=summary)
