"""`compact`: the log files of a merge-on-read table become base files, in a process of its own concurrently with the writers.

Rules: `HoodieCompactor` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from typing import Final

import click

from pyhudi.cli.service_command import service_command

compact: Final = service_command(
    "compact",
    "Merge the log files of the table at PATH into base files. Writers may go on meanwhile.",
    lambda services, flags: services.log_compact if flags["log_only"] else services.compact,
    noun="compaction",
    nothing="nothing to compact",
    flags=(
        click.Option(["--log", "log_only"], is_flag=True, help="Log compaction: stitch log files together, leave base files alone."),
        click.Option(["--strategy", "-st"], help="Class of the compaction strategy; several are parted by commas."),
    ),
    option_keys={"strategy": "hoodie.compaction.strategy"},
)
