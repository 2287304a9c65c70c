"""`drop-partitions`: partitions are dropped in one commit. Rules: `HoodieDropPartitionsTool` (modes delete and dry_run)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import click

from pyhudi.cli.service_command import TableResult, table_command
from pyhudi.errors import UsageError
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_table import write


@dataclass(frozen=True, slots=True)
class DroppedPartitions:
    """Partitions that were, or would be, dropped, and how many files of the newest state they have."""

    state: str
    instant: str | None
    partitions: tuple[str, ...]
    files: int

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes by name, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say in a few lines which partitions are dropped."""
        verb = "would be" if self.state == "planned" else "are"
        return f"{len(self.partitions)} partitions with {self.files} files {verb} dropped" + "".join(
            f"\n  {one}" for one in self.partitions
        )


def _drop(table: HudiTable, options: Mapping[str, str], values: Mapping[str, Any]) -> Sequence[TableResult]:
    selected = tuple(dict.fromkeys(part.strip() for part in values["partitions"].split(",") if part.strip()))
    known = {row["partition_path"]: row for row in table.inspect.partitions().to_pylist()}
    missing = [path for path in selected if path not in known]
    if missing or not selected:
        name = f"partition '{missing[0]}'" if missing else "--partitions that it could drop"
        raise UsageError(f"table {table.storage.uri} has no {name}; nothing was dropped")
    files = sum(1 for row in table.inspect.files().to_pylist() if row["partition_path"] in selected)
    if values["dry_run"] or str(values["mode"]).lower() == "dry_run":
        return (DroppedPartitions("planned", None, selected, files),)
    done = write(table, Operation.DELETE_PARTITION, None, options=options, partitions=selected)
    return (DroppedPartitions("completed", done.instant, selected, files),)


drop_partitions: Final = table_command(
    "drop-partitions",
    "Drop partitions of the table at PATH; their files go with the cleans that come.",
    _drop,
    flags=(
        click.Option(["--partitions", "-p", "partitions"], required=True, help="Partition paths with commas in between."),
        click.Option(
            ["--mode", "-m", "mode"],
            type=click.Choice(["delete", "dry_run"], case_sensitive=False),
            default="delete",
            show_default=True,
            help="dry_run is the same as --dry-run.",
        ),
    ),
)
