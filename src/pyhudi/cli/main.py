"""The command itself, and what all of its commands share: errors of pyhudi are one line and an exit code, never a stack."""

from __future__ import annotations

import logging
from typing import Any

import click

from pyhudi.cli.archive_command import archive
from pyhudi.cli.clean_command import clean
from pyhudi.cli.cluster_command import cluster
from pyhudi.cli.compact_command import compact
from pyhudi.cli.drop_partitions_command import drop_partitions
from pyhudi.cli.hudi_classes import command_of
from pyhudi.cli.index_command import index
from pyhudi.cli.log_command import log
from pyhudi.cli.repair_command import repair
from pyhudi.cli.restore_command import restore, rollback
from pyhudi.cli.savepoint_command import savepoint
from pyhudi.cli.services_command import services
from pyhudi.cli.sessions.run_command import run
from pyhudi.cli.sessions.sql_command import sql
from pyhudi.cli.sessions.thriftserver_command import thriftserver
from pyhudi.cli.ttl_command import ttl
from pyhudi.cli.validate_command import validate
from pyhudi.cli.version_commands import change_table_type, downgrade, upgrade
from pyhudi.errors import HudiError, UsageError

_FAILED = 1
_MISUSED = 2
_INTERRUPTED = 130


class _Commands(click.Group):
    """Commands whose errors are printed as sentences, and which go by the names of Hudi's classes too."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command by its name, or by that of the class of Hudi that it stands for."""
        return super().get_command(context, command_of(name) or name)

    def invoke(self, context: click.Context) -> Any:
        """Run the command and end with exit code 1 for a failure, 2 for a wrong call, 130 for an interrupt."""
        try:
            return super().invoke(context)
        except HudiError as error:
            notes = getattr(error, "__notes__", [])
            click.echo("\n".join([f"error: {error}", *notes]), err=True)
            context.exit(_MISUSED if isinstance(error, UsageError) else _FAILED)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            context.exit(_INTERRUPTED)


@click.group(cls=_Commands)
@click.option("-v", "--verbose", is_flag=True, help="Show what pyhudi logs.")
@click.pass_context
def main(context: click.Context, *, verbose: bool) -> None:
    """Work on Apache Hudi tables.

    Exit codes: 0 for success, 1 when the work failed or a problem was found, 2 for a wrong call, 130 when it was interrupted.
    """
    if context.invoked_subcommand == run.name and not verbose:
        return  # the logging of a script is the script's own
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(message)s")


main.add_command(archive)
main.add_command(clean)
main.add_command(cluster)
main.add_command(change_table_type)
main.add_command(compact)
main.add_command(downgrade)
main.add_command(drop_partitions)
main.add_command(index)
main.add_command(log)
main.add_command(repair)
main.add_command(restore)
main.add_command(rollback)
main.add_command(run)
main.add_command(savepoint)
main.add_command(services)
main.add_command(sql)
main.add_command(thriftserver)
main.add_command(ttl)
main.add_command(upgrade)
main.add_command(validate)
