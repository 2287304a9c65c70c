"""`index`: indexes of a table are made, in a process of their own concurrently with the writers, or dropped.

Rules: `HoodieIndexer` (modes schedule, execute, scheduleAndExecute, dropindex; `--index-types`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from pyhudi.cli.job_flags import MODE, MODE_CHOICES, OPTIONS, PATH, job_mode, job_options, job_table, note_unused, with_retries
from pyhudi.errors import UsageError
from pyhudi.service.indexes import IndexChange
from pyhudi.table.hudi_table import HudiTable

_DROP_MODE: Final = "dropindex"
#: The indexes that `--index-types` can name; the files are listed by every metadata table.
_TYPES: Final = ("COLUMN_STATS", "PARTITION_STATS", "BLOOM_FILTERS", "RECORD_INDEX")


def _run(**values: Any) -> None:
    note_unused(values, has_engine=False)
    if str(values["mode"]).lower() == _DROP_MODE:
        values |= {"mode": None, "drop": True}
    table = job_table(values)
    for change in with_retries(values, lambda: _changes(table, job_options(values), values)):
        click.echo(json.dumps(change.to_dict()) if values["as_json"] else str(change))


def _changes(table: HudiTable, options: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[IndexChange]:
    mode, name, drop, dry_run = job_mode(values), values["name"], values["drop"], values["dry_run"]
    if values["index_types"] is not None:
        if name is not None or values["rebuild"]:
            raise UsageError("--index-types names the indexes: leave out NAME and --rebuild")
        names = [part.strip().upper() for part in values["index_types"].split(",") if part.strip().upper() != "FILES"]
        unknown = next((one for one in names if one not in _TYPES), None)
        if unknown is not None:
            raise UsageError(f"--index-types: '{unknown}' is none of {', '.join(_TYPES)}; others are made by their NAME")
        if mode != "execute":
            given = {"if_exists" if drop else "if_not_exists": True}
            return [table.services.index(one.lower(), drop=drop, dry_run=dry_run, mode=mode, **given) for one in names]  # type: ignore[arg-type]
    runs = name is None and not values["rebuild"] and mode == "both"
    change = table.services.index(
        name,
        tuple(values["columns"]),
        using=values["using"],
        options=options,
        drop=drop,
        rebuild=values["rebuild"],
        dry_run=dry_run,
        mode="execute" if runs else mode,
        instant=values["instant"],
    )
    return (change,)


_MODE_OPTION, *_OTHER_MODES = MODE

index: Final = click.Command(
    "index",
    callback=_run,
    params=[
        *PATH,
        click.Argument(["name"], required=False),
        click.Argument(["columns"], nargs=-1),
        click.Option(
            ["--mode", "-m", "mode"],
            type=click.Choice([*MODE_CHOICES, _DROP_MODE], case_sensitive=False),
            help=f"{_MODE_OPTION.help} {_DROP_MODE}: as --drop.",
        ),
        *_OTHER_MODES,
        click.Option(["--instant", "--instant-time", "-it", "instant"], help="Run the pending build of this requested time."),
        click.Option(["--index-types", "-ixt", "index_types"], help=f"Indexes to make, with commas in between: {', '.join(_TYPES)}."),
        click.Option(["--using"], help="Type of the index: column_stats or bloom_filters of an expression; a secondary index without it."),
        *OPTIONS,
        click.Option(["--drop"], is_flag=True, help="Drop the index of this name."),
        click.Option(["--rebuild"], is_flag=True, help="Rebuild the metadata table and all indexes."),
        click.Option(["--dry-run"], is_flag=True, help="Only show what would be done."),
        click.Option(["--json", "as_json"], is_flag=True, help="One JSON object for each index."),
    ],
    help="Make the index NAME of COLUMNS of the table at PATH; without a name, run what is planned. Writers may go on meanwhile.",
)
