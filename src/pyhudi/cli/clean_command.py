"""`clean`: file slices that no retained state needs are deleted, in a process of its own while writers continue.

Rules: `HoodieCleaner`, whose flags `--target-base-path`, `--props`, `--hoodie-conf` and `--spark-master` are taken too.
"""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import service_command

_RETAINED = "for the policy of that name, which is taken when no other is given"

clean: Final = service_command(
    "clean",
    "Delete the file slices of the table at PATH that no retained state needs. Readers and writers may go on meanwhile.",
    lambda services, _: services.clean,
    noun="clean",
    nothing="nothing to clean",
    flags=(
        click.Option(["--policy"], help="KEEP_LATEST_COMMITS, KEEP_LATEST_BY_HOURS or KEEP_LATEST_FILE_VERSIONS."),
        click.Option(["--retain-commits"], type=click.IntRange(min=1), help=f"Commits whose states stay readable, {_RETAINED}."),
        click.Option(["--retain-hours"], type=click.IntRange(min=1), help=f"Hours for which states stay readable, {_RETAINED}."),
        click.Option(["--retain-file-versions"], type=click.IntRange(min=1), help=f"Versions of each file group that stay, {_RETAINED}."),
    ),
    option_keys={
        "policy": "hoodie.clean.policy",
        "retain_commits": "hoodie.clean.commits.retained",
        "retain_hours": "hoodie.clean.hours.retained",
        "retain_file_versions": "hoodie.clean.fileversions.retained",
    },
)
