"""The command itself, and what all of its commands share: errors of pyhudi are one line and an exit code, never a stack."""

from __future__ import annotations

import contextlib
import importlib
import logging
from typing import Any, Final, NoReturn

import click

from pyhudi.cli.hudi_classes import command_of
from pyhudi.cli.shared.command_group import CommandGroup
from pyhudi.cli.shared.error_report import report_error
from pyhudi.errors import HudiError, UsageError
from pyhudi.progress import without_progress

_FAILED = 1
_MISUSED = 2
_INTERRUPTED = 130
#: The command that runs scripts.
_SCRIPTS = "run"
_JSON = "--json"


#: The module of each command, which is loaded when the command is called: `pyhudi show` does without most of pyhudi.
_MODULES: Final = {
    "archive": "archive_command",
    "bootstrap": "bootstrap_command",
    "change-table-type": "version_commands",
    "changes": "look.row_commands",
    "clean": "clean_command",
    "cluster": "cluster_command",
    "commit": "look.table_commands",
    "compact": "compact_command",
    "completion": "look.completion_command",
    "diff": "look.row_commands",
    "downgrade": "version_commands",
    "drop-partitions": "drop_partitions_command",
    "find": "look.row_commands",
    "head": "look.row_commands",
    "health": "look.table_commands",
    "history": "look.table_commands",
    "index": "index_command",
    "indexes": "look.table_commands",
    "locks": "locks.locks_command",
    "log": "look.log_command",
    "ls": "look.show_commands",
    "query": "look.row_commands",
    "repair": "repair_command",
    "rescale-buckets": "cluster_command",
    "restore": "restore_command",
    "rollback": "restore_command",
    "run": "sessions.run_command",
    "savepoint": "savepoint_command",
    "schema": "look.table_commands",
    "services": "services_command",
    "show": "look.show_commands",
    "sizes": "look.table_commands",
    "slices": "look.table_commands",
    "sql": "sessions.sql_command",
    "stats": "look.table_commands",
    "sync": "catalogs.sync_command",
    "thriftserver": "sessions.thriftserver_command",
    "ttl": "ttl_command",
    "upgrade": "version_commands",
    "validate": "validate_command",
}


class _Commands(CommandGroup):
    """Commands whose errors are printed as sentences, and which go by the names of Hudi's classes too."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command by its name, or by that of the class of Hudi that it stands for."""
        known, *words = command_of(name)
        if known not in _MODULES:
            return super().get_command(context, name)
        module = importlib.import_module(f"pyhudi.cli.{_MODULES[known]}")
        command: click.Command | None = getattr(module, known.replace("-", "_"))
        for word in words:
            assert isinstance(command, click.Group), "only a group has commands"
            command = command.get_command(context, word)
        return command

    def list_commands(self, context: click.Context) -> list[str]:  # noqa: ARG002 - click's argument
        """Return the names of the commands."""
        return sorted(_MODULES)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Take the arguments apart; those of a command that prints JSON are refused in JSON, too."""
        try:
            return super().parse_args(context, args)
        except click.UsageError as error:
            if _JSON not in args:
                raise
            return self._refuse(context, error)

    def invoke(self, context: click.Context) -> Any:
        """Run the command and end with exit code 1 for a failure, 2 for a wrong call, 130 for an interrupt."""
        as_json = _JSON in context.args
        silent = context.params["quiet"] or as_json
        try:
            with without_progress() if silent else contextlib.nullcontext():
                return super().invoke(context)
        except HudiError as error:
            code = _MISUSED if isinstance(error, UsageError) else _FAILED
            report_error(context, type(error).__name__, str(error), code, notes=getattr(error, "__notes__", []), as_json=as_json)
            context.exit(code)
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "pyspark" or context.invoked_subcommand == _SCRIPTS:
                raise  # a script's own imports are the script's own error
            problem = importlib.import_module("pyhudi.spark.pyspark_release").problem_of_pyspark(f"pyhudi {context.invoked_subcommand}")
            report_error(context, type(error).__name__, str(problem or error), _FAILED, as_json=as_json)
            context.exit(_FAILED)
        except KeyboardInterrupt:
            report_error(context, "KeyboardInterrupt", "interrupted", _INTERRUPTED, lead="", as_json=as_json)
            context.exit(_INTERRUPTED)
        except click.ClickException as error:
            if not as_json:
                raise
            self._refuse(context, error)

    @staticmethod
    def _refuse(context: click.Context, error: click.ClickException) -> NoReturn:
        report_error(context, "UsageError", error.format_message(), error.exit_code, as_json=True)
        context.exit(error.exit_code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(package_name="pyhudi", message="pyhudi %(version)s")
@click.option("-v", "--verbose", is_flag=True, help="Show what pyhudi logs.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; nor does --json, or a standard error that is no terminal.")
@click.pass_context
def main(context: click.Context, *, verbose: bool, quiet: bool) -> None:  # noqa: ARG001 - `invoke` looks at it
    """Work on Apache Hudi tables.

    Exit codes: 0 for success, 1 when the work failed or a problem was found, 2 for a wrong call, 130 when it was interrupted.
    """
    if context.invoked_subcommand == _SCRIPTS and not verbose:
        return  # the logging of a script is the script's own
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(message)s")
    logging.getLogger().addFilter(_is_no_interrupt)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Leave out the trace that py4j logs of a Ctrl-C, which ends the command in one word."""
    return not record.exc_info or record.exc_info[0] is not KeyboardInterrupt
