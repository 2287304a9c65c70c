"""`ttl`: partitions that have expired are dropped. Rules: `HoodieTTLJob`."""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import table_command
from pyhudi.service.partition_ttl.ttl_settings import DAYS_RETAIN, STRATEGY_TYPE

ttl: Final = table_command(
    "ttl",
    "Drop the expired partitions of the table at PATH.",
    lambda table, options, values: (table.services.ttl(options=options, dry_run=values["dry_run"]),),
    flags=(
        click.Option(["--days"], type=click.IntRange(min=1), help="Age in days from which on a partition has expired."),
        click.Option(["--policy"], help="KEEP_BY_TIME (age since the last write, the default) or KEEP_BY_CREATION_TIME."),
    ),
    option_keys={"days": DAYS_RETAIN, "policy": STRATEGY_TYPE},
)
