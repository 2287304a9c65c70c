"""`archive`: old instants leave the active timelines of a table and of its metadata table.

Rules: `ArchivedCommitsCommand` (`trigger archival`).
"""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import table_command

_MIN: Final = "Completed commits that stay active; by default 20."
_MAX: Final = "Completed commits from which on older ones are archived; by default 30."

archive: Final = table_command(
    "archive",
    "Archive old instants of the table at PATH.",
    lambda table, options, values: (table.services.archive(options=options, dry_run=values["dry_run"]),),
    flags=(
        click.Option(["--min-commits"], type=click.IntRange(min=1), help=_MIN),
        click.Option(["--max-commits"], type=click.IntRange(min=1), help=_MAX),
    ),
    option_keys={"min_commits": "hoodie.keep.min.commits", "max_commits": "hoodie.keep.max.commits"},
)
