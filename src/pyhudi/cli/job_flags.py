"""The flags of Hudi's utility classes, under all their spellings, for the commands that stand for these classes.

Rules: the `Config` classes of `HoodieCleaner`, `HoodieCompactor`, `HoodieClusteringJob`, `HoodieTTLJob`, `HoodieIndexer`,
`HoodieDropPartitionsTool`, `HoodieRepairTool`, `HoodieMetadataTableValidator`. What a flag asks for is done, or a line on standard error
says that it has no effect here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from pyhudi.cli.hudi_classes import runs_plans_by_default
from pyhudi.cli.shared.error_report import note_table
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import ConflictError, StorageError, UnknownOutcomeError, UsageError
from pyhudi.javacompat.properties import parse_properties
from pyhudi.service.table_service import MODES, ServiceMode
from pyhudi.storage.named_files import read_named_file
from pyhudi.table.hudi_table import HudiTable

_Result = TypeVar("_Result")
#: Hudi's names of modes.
_MODE_NAMES: Final[Mapping[str, ServiceMode]] = {"schedule": "schedule", "execute": "execute", "both": "both", "scheduleandexecute": "both"}

PATH: Final = (click.Argument(["path"], required=False, callback=note_table, is_eager=True),)
OPTIONS: Final = (
    click.Option(["--option", "options"], multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again."),
    click.Option(["--storage-option", "storage_options"], multiple=True, metavar="KEY=VALUE", help="An option of the storage."),
    click.Option(
        ["--base-path", "--target-base-path", "-sp", "base_path"],
        metavar="PATH",
        callback=note_table,
        is_eager=True,
        help="PATH, as Hudi's classes take it.",
    ),
    click.Option(["--props", "props"], metavar="FILE", help="A file of hoodie.* options; --hoodie-conf and --option override it."),
    click.Option(["--hoodie-conf", "hoodie_confs"], multiple=True, metavar="KEY=VALUE", help="The same as --option."),
    click.Option(["--table-name", "-tn", "table_name"], help="The name that the table must have."),
    click.Option(["--retry", "-rt", "retry"], type=click.IntRange(min=0), default=0, help="Tries after a conflict or a failed storage."),
    click.Option(["--spark-master", "-ms", "spark_master"], help="Run the tasks on the Spark of this master (--engine spark)."),
    click.Option(["--spark-memory", "-sm", "spark_memory"], help="Memory of Spark's driver and executors."),
    click.Option(["--parallelism", "-pc", "-pl", "parallelism"], type=click.IntRange(min=1), help="The same as --threads."),
    click.Option(["--schema-file", "-sf", "schema_file"], hidden=True),
    click.Option(["--assume-date-partitioning", "-dp", "date_partitioning"], is_flag=True, hidden=True),
)
MODE_CHOICES: Final = (*MODES, "scheduleAndExecute")
MODE: Final = (
    click.Option(
        ["--mode", "-m", "mode"],
        type=click.Choice(MODE_CHOICES, case_sensitive=False),
        help="Plan (schedule), run what is planned (execute), or both, which scheduleAndExecute means too.  [default: both]",
    ),
    click.Option(["--schedule", "-sc", "-sch", "schedule"], is_flag=True, help="The same as --mode schedule."),
)
_RETRY_LAST: Final = "--retry-last-failed-job"
_MAX_TIME: Final = "--job-max-processing-time-ms"
_SKIP_CLEAN: Final = "--skip-clean"
#: Flags of the classes that run plans, which ask for what the commands do in any case.
PLAN_FLAGS: Final = (
    click.Option([_RETRY_LAST, "--retry-last-failed-clustering-job", "-rc", "retry_last"], is_flag=True, hidden=True),
    click.Option([_MAX_TIME, "-jt", "max_time_ms"], type=click.IntRange(min=0), hidden=True),
    click.Option([_SKIP_CLEAN, "skip_clean"], is_flag=True, hidden=True),
)


def job_mode(values: Mapping[str, Any]) -> ServiceMode:
    """Return the mode that the flags ask for; with an instant it is run, and what is planned by classes that plan only on request."""
    stated = values["mode"]
    if values["schedule"]:
        if stated is not None and stated.lower() != "schedule":
            raise UsageError(f"--schedule contradicts --mode {stated}; leave one of them out")
        return "schedule"
    if stated is None and runs_plans_by_default(click.get_current_context().info_name or ""):
        return "execute"
    if stated is None or (stated == "both" and values.get("instant")):
        return "execute" if values.get("instant") else "both"
    return _MODE_NAMES[stated.lower()]


def job_table(values: Mapping[str, Any]) -> HudiTable:
    """Open the table that the arguments name.

    Raises:
        UsageError: no path is given, two different ones are, or the table has another name.
    """
    path, base_path = values["path"], values["base_path"]
    if path is None and base_path is None:
        raise UsageError("name the table: PATH, or --base-path PATH")
    if path is not None and base_path is not None and path != base_path:
        raise UsageError(f"two tables are named: {path}, and by --base-path {base_path}")
    table = HudiTable.open(path or base_path, pairs(values["storage_options"]))
    if values["table_name"] is not None and values["table_name"] != table.config.name:
        raise UsageError(f"the table at {table.storage.uri} is named {table.config.name}, not {values['table_name']}")
    return table


def options_of_file(path: str | None) -> dict[str, str]:
    """Return the options of the properties file that `--props` names; none where it names none.

    Raises:
        UsageError: the file cannot be read.
    """
    if path is None:
        return {}
    return dict(parse_properties(read_named_file(path, "file of --props")))


def job_options(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the `hoodie.*` options: those of the file, then `--hoodie-conf`, then `--option`.

    Raises:
        UsageError: the file cannot be read.
        OptionError: one is no KEY=VALUE.
    """
    return {**options_of_file(values["props"]), **pairs(values["hoodie_confs"]), **pairs(values["options"])}


def note_unused(values: Mapping[str, Any], *, has_engine: bool) -> None:
    """Say on standard error which of the flags that were given have no effect."""
    unused = {
        "--schema-file": values["schema_file"] and "the schema is the table's own",
        "--assume-date-partitioning": values["date_partitioning"] and "partitions are known by their metafiles",
        _RETRY_LAST: values.get("retry_last") and "what is pending is run before anything is planned, in any case",
        _MAX_TIME: values.get("max_time_ms") is not None and "a run has failed when its process has died, however long it took",
        _SKIP_CLEAN: values.get("skip_clean") and "the command runs no clean",
    }
    if not has_engine:
        reason = "the command has no tasks for an engine"
        unused |= {f"--{name.replace('_', '-')}": values[name] and reason for name in ("spark_master", "spark_memory", "parallelism")}
    for flag, why in unused.items():
        if why:
            click.echo(f"{flag} has no effect: {why}", err=True)


def with_retries(values: Mapping[str, Any], action: Callable[[], _Result]) -> _Result:
    """Run an action, and again as often as `--retry` says when another process was in the way or the storage failed."""
    for left in range(values["retry"], 0, -1):
        try:
            return action()
        except UnknownOutcomeError:
            raise
        except (ConflictError, StorageError) as error:
            click.echo(f"tried again, {left} times at most: {error}", err=True)
    return action()
