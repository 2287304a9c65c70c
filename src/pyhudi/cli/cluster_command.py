"""`cluster`: file groups are rewritten, or buckets of consistent hashing resized; `rescale-buckets`: fixed numbers of buckets are changed.

Rules: `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import service_command, table_command

cluster: Final = service_command(
    "cluster",
    "Join small files of the table at PATH and order its rows, or resize its buckets of consistent hashing. Readers may go on meanwhile.",
    lambda services, _: services.cluster,
    noun="clustering",
    nothing="nothing to cluster",
    flags=(
        click.Option(["--sort-columns"], help="Columns by which rows are ordered, with commas in between."),
        click.Option(["--layout"], help="How they are ordered: linear, z-order or hilbert."),
    ),
    option_keys={"sort_columns": "hoodie.clustering.plan.strategy.sort.columns", "layout": "hoodie.layout.optimize.strategy"},
)

rescale_buckets: Final = table_command(
    "rescale-buckets",
    "Give partitions of the table at PATH other numbers of buckets, where they have fixed ones.",
    lambda table, options, values: (
        table.services.rescale_buckets(
            values["expressions"], default=values["default"], add=values["add"], dry_run=values["dry_run"], options=options
        ),
    ),
    flags=(
        click.Option(["--expressions"], required=True, help="REGEX,COUNT;REGEX,COUNT: the first one found in a partition path decides."),
        click.Option(["--default"], type=click.IntRange(min=1), help="Number of buckets of other partitions.  [default: as it is]"),
        click.Option(["--add"], is_flag=True, help="Put the expressions before those of the table, instead of replacing these."),
    ),
)
