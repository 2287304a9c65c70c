"""`repair`: partition metafiles, table properties, files of cleans, duplicate rows, runs that died, files that no commit names.

Rules: `RepairsCommand` (`repair deduplicate`, `repair addpartitionmeta`, `repair migrate-partition-meta`, `repair overwrite-hoodie-props`,
`repair corrupted clean files`), and `HoodieRepairTool`. Unlike there, a repair runs unless `--dry-run` is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from pyhudi.cli.service_command import TableResult, table_command
from pyhudi.cli.shared.command_group import CommandGroup
from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import UsageError
from pyhudi.kernels.merge.retained_rows import DuplicateRule
from pyhudi.storage.named_files import read_named_file
from pyhudi.storage.open_storage import open_storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.repair.repair_services import RepairServices
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds


@click.group(cls=CommandGroup)
def repair() -> None:
    """Repair a table."""


def _add(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    return table.services.add_partition_metafiles(dry_run=values["dry_run"])


def _migrate(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    return table.services.migrate_partition_metafiles(dry_run=values["dry_run"])


def _clean_files(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    return (table.services.repair_clean_files(dry_run=values["dry_run"]),)


def _stale(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    return table.services.cleanup_stale(values["minutes"], include_writes=values["include_writes"], dry_run=values["dry_run"])


def _deduplicate(table: HudiTable, options: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    done = table.services.deduplicate(
        values["partition"],
        rule=values["rule"],
        output=values["output"],
        dry_run=values["dry_run"],
        options=options,
    )
    return (done,)


def _plan(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    return table.services.repair_clustering_plan(
        values["instant"], values["file"], dry_run=values["dry_run"], backup=not values["no_backup"], allow_empty=values["allow_empty"]
    )


def _dangling(table: HudiTable, _: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    dry_run, backup, bounds = values["dry_run"] or values["mode"] == "dry_run", values["backup"], (values["start"], values["end"])
    if values["mode"] != "undo":
        return (table.services.remove_dangling_files(*bounds, backup=backup, dry_run=dry_run),)
    if backup is None or any(bounds):
        raise UsageError("--mode undo takes --backup-path, the folder that the repair named, and restores all its files: give that alone")
    return (table.services.restore_dangling_files(backup, dry_run=dry_run),)


_NO_PARTITIONS: Final = "there are no partitions"
repair.add_command(
    table_command(
        "partition-metafiles", "Write the partition metafiles that are missing in the table at PATH.", _add, nothing=_NO_PARTITIONS
    )
)
repair.add_command(
    table_command(
        "migrate-partition-metafiles",
        "Replace text partition metafiles by those of the format of base files.",
        _migrate,
        nothing=_NO_PARTITIONS,
    )
)
repair.add_command(table_command("clean-files", "Remove the empty files of cleans that a writer left which died.", _clean_files))
repair.add_command(
    table_command(
        "stale",
        "Revert runs of services, and writes if asked for, that have been inflight for long.",
        _stale,
        flags=(
            click.Option(
                ["--minutes"], type=click.IntRange(min=0), default=180, show_default=True, help="Age from which on they are dead."
            ),
            click.Option(["--include-writes"], is_flag=True, help="Commits and deltacommits too; their rows were never visible."),
        ),
        nothing="nothing has been inflight for so long",
    )
)
repair.add_command(
    table_command(
        "clustering-plan",
        "Take files that cannot be read out of the plan of a clustering that has not begun.",
        _plan,
        flags=(
            click.Option(["--instant"], required=True, help="The requested time of the clustering."),
            click.Option(["--file"], multiple=True, help="A file whose slice leaves the plan; without any, those that are not readable."),
            click.Option(["--no-backup"], is_flag=True, help="Store no copy of the plan as it was."),
            click.Option(["--allow-empty"], is_flag=True, help="The plan may lose all its slices."),
        ),
        nothing="all base files of the plan are readable",
    )
)
repair.add_command(
    table_command(
        "dangling-files",
        "Remove data files that no commit names from the table at PATH, after they were copied to a folder.",
        _dangling,
        flags=(
            click.Option(
                ["--mode", "-m", "mode"],
                type=click.Choice(["dry_run", "repair", "undo"], case_sensitive=False),
                default="repair",
                show_default=True,
                help="undo copies the files back.",
            ),
            click.Option(["--start-instant-time", "-si", "start"], help="The first instant whose files are looked at."),
            click.Option(["--end-instant-time", "-ei", "end"], help="The last one."),
            click.Option(
                ["--backup-path", "-bp", "backup"],
                metavar="FOLDER",
                help="An empty or new folder for the copies.  [default: one in the folder for temporary files]",
            ),
        ),
    )
)
repair.add_command(
    table_command(
        "deduplicate",
        "Leave one row of each record key in a partition of the table at PATH.",
        _deduplicate,
        flags=(
            click.Option(["--partition"], default="", help="The partition path; leave it out for a table without partitions."),
            click.Option(
                ["--rule"],
                type=click.Choice([rule.value for rule in DuplicateRule]),
                default="insert_type",
                show_default=True,
                help="insert_type: the newest commit's row stays; the others choose between rows of one commit too, the last one stays.",
            ),
            click.Option(["--output"], help="An empty folder for copies of the files without duplicates."),
        ),
    )
)


@repair.command("properties")
@path_argument
@click.argument("file")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each property.")
def properties(*, path: str, file: str, storage_options: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Replace all properties of the table at PATH, which may be damaged, by those in FILE."""
    content = read_named_file(file, "properties file")
    services = RepairServices(open_storage(path, pairs(storage_options)), SystemClock(), SystemIds())
    for change in services.overwrite_properties(content, dry_run=dry_run):
        if as_json or change.old != change.new:
            click.echo(json.dumps(change.to_dict()) if as_json else str(change))
