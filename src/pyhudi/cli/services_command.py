"""`services run`: one or many tables are kept in order by a policy, once or again and again."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
from collections.abc import Iterator, Sequence
from types import FrameType

import click

from pyhudi.cli.policy_file import load_policy_file
from pyhudi.cli.shared.command_group import CommandGroup
from pyhudi.cli.shared.options_text import pairs
from pyhudi.cli.shared_arguments import chosen_engine
from pyhudi.errors import UsageError
from pyhudi.spec.options import resolve
from pyhudi.table.runner.run_report import FAILED, NOTHING, RunReport, ServiceRun
from pyhudi.table.runner.run_services import run_services
from pyhudi.table.runner.service_policy import SERVICES, ServicePolicy, TablePolicy, check_services, parse_interval, parse_policy

_FAILED = 1
_INTERRUPTED = 130


@click.group(cls=CommandGroup)
def services() -> None:
    """Keep tables in order."""


@services.command()
@click.argument("paths", nargs=-1)
@click.option("--policy", "policy_file", metavar="FILE", help="Tables, services and options, in YAML, JSON or TOML.")
@click.option("--services", "names", metavar="NAMES", help=f"Services with commas in between: {', '.join(SERVICES)}.  [default: all]")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option for all PATHS; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--interval", metavar="TIME", help="Pause between two rounds, as 600, 10m or 1h; overrides that of the policy.")
@click.option("--once", is_flag=True, help="One round, whatever the policy says; so without any interval.")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="What runs the tasks.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the local engine.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each service of each table.")
def run(
    *,
    paths: Sequence[str],
    policy_file: str | None,
    names: str | None,
    options: Sequence[str],
    storage_options: Sequence[str],
    interval: str | None,
    once: bool,
    engine: str,
    threads: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Clean, compact, cluster, archive the tables at PATHS, or those of a policy, and drop expired partitions, as far as that is needed.

    What fails does not stop what comes after it: the exit code is 1 then. Ctrl-C ends the run when the service at work is done.
    """
    policy = _policy(paths, policy_file, names, pairs(options), pairs(storage_options))
    pause = None if once else policy.interval_s if interval is None else parse_interval(interval, "--interval")
    runner = chosen_engine(engine, threads)

    def tell(one: ServiceRun) -> None:
        click.echo(json.dumps(one.to_dict()) if as_json else str(one))

    failed = False
    with _stop_requests() as stop:
        while True:
            report = run_services(policy, dry_run=dry_run, engine=runner, stops=lambda: stop.is_set, tell=tell)
            failed = failed or report.failed
            click.echo(_summary(report, len(policy.tables)), err=True)
            if report.interrupted or pause is None or stop.wait(pause):
                break
        interrupted = stop.is_set
    if failed or interrupted:
        click.get_current_context().exit(_FAILED if failed else _INTERRUPTED)


def _policy(
    paths: Sequence[str], policy_file: str | None, names: str | None, options: dict[str, str], storage_options: dict[str, str]
) -> ServicePolicy:
    if (policy_file is None) == (not paths):
        raise UsageError("name the tables: PATHS, or --policy FILE, and not both")
    if policy_file is not None:
        if names is not None or options or storage_options:
            raise UsageError("--services, --option and --storage-option go with PATHS; a policy file states its own")
        return parse_policy(load_policy_file(policy_file))
    chosen = SERVICES if names is None else check_services(names.split(","), "--services")
    resolve(options)  # a key that is refused is told once, not by each service of each table
    return ServicePolicy(tuple(TablePolicy(path, chosen, options, storage_options) for path in dict.fromkeys(paths)))


class _Stop:
    """Whether the run has to end, as a handler of signals says.

    An event of `threading` is set under a lock. The thread that waits for it may hold that when the signal comes in, and would wait for
    itself.
    """

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.is_set = False

    def set(self) -> None:
        """Let the run end."""
        self.is_set = True
        self._requests.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the run has to end, and tell whether it has."""
        with contextlib.suppress(queue.Empty):
            self._requests.get(timeout=seconds)
        return self.is_set


@contextlib.contextmanager
def _stop_requests() -> Iterator[_Stop]:
    """Yield what Ctrl-C and a termination set; the second Ctrl-C interrupts at once."""
    stop = _Stop()

    def request_stop(number: int, frame: FrameType | None) -> None:
        if stop.is_set and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        stop.set()
        with contextlib.suppress(RuntimeError):  # the signal came in while a line was written
            click.echo("the run ends when the service at work is done", err=True)

    previous = {number: signal.signal(number, request_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _summary(report: RunReport, tables: int) -> str:
    failed, without_work = (sum(one.state == state for one in report.runs) for state in (FAILED, NOTHING))
    end = "; interrupted" if report.interrupted else ""
    return f"{tables} tables: {len(report.runs)} services looked at, {without_work} with nothing to do, {failed} failed{end}"
