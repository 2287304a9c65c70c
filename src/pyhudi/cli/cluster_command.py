"""`cluster`: small files are joined, rows are ordered, or buckets of consistent hashing split and merged, in a process of its own.

Rules: `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import service_command

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
