"""`sql`: a shell for SQL on Hudi tables, with the flags of `spark-sql`."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

from pyhudi.cli.sessions.spark_flags import start_session, takes_spark_flags
from pyhudi.cli.sessions.statement_runner import StatementRunner
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import UsageError
from pyhudi.storage.named_files import read_named_text

_QUIT = ("quit", "exit")
_SCRIPT: Final = "file of statements"
_SOURCE: Final = re.compile(r"source\s+['\"]?(.*?)['\"]?", re.IGNORECASE | re.DOTALL)
#: Hive's name, which Spark's shell takes, too.
_IGNORE_ERRORS: Final = "hive.cli.errors.ignore"
_PROMPT, _CONTINUED = "pyhudi-sql> ", "         -> "


@click.command("sql")
@takes_spark_flags
@click.option("-e", "statements", multiple=True, metavar="STATEMENTS", help="Run these statements, and end.")
@click.option("-f", "script", metavar="FILE", help="Run the statements of a file, and end.")
@click.option("-i", "first", multiple=True, metavar="FILE", help="Run the statements of a file before anything else.")
@click.option("-S", "--silent", "silent", is_flag=True, help="Print rows and errors only.")
@click.option("--database", metavar="NAME", help="The database to begin in.")
@click.option("-d", "--define", "--hivevar", "variables", multiple=True, metavar="KEY=VALUE", help="A variable: ${KEY} in a statement.")
@click.option("--hiveconf", "hive_settings", multiple=True, metavar="KEY=VALUE", help="A setting of the session.")
def sql(**flags: Any) -> None:
    """Run SQL statements on Hudi tables: those of -e or -f, those of a pipe, or those that are typed.

    The first statement that fails ends a run of -e, -f, -i or a pipe with exit code 1.
    """
    if flags["statements"] and flags["script"]:
        raise UsageError("-e and -f contradict each other; leave one of them out")
    # Before Spark starts, which takes many seconds.
    inputs = [read_named_text(path, _SCRIPT) for path in flags["first"]]
    script = [read_named_text(flags["script"], _SCRIPT)] if flags["script"] else []
    settings = pairs((*flags["variables"], *flags["hive_settings"]))
    session = start_session(flags)
    for key, value in settings.items():
        session.conf.set(key, value)
    module = importlib.import_module("pyhudi.sql.query.shell")
    shell = module.SqlShell(session, _print_row, _print_note, is_silent=flags["silent"])
    runner = StatementRunner(shell.run, session.sparkContext.cancelAllJobs, _print_note)
    sources = _Sources(runner, module.split_statements, lambda: bool(shell.setting(_IGNORE_ERRORS) == "true"))
    if flags["database"] is not None:
        inputs.insert(0, f"USE {flags['database']}")
    if flags["statements"]:
        inputs += flags["statements"]
    elif script:
        inputs += script
    elif not sys.stdin.isatty():
        inputs.append(sys.stdin.read())
    for text in inputs:
        sources.run(text)
    if sys.stdin.isatty() and not flags["statements"] and not flags["script"]:
        _converse(sources)


@dataclass(frozen=True)
class _Sources:
    """Runs the statements of texts, those of the files that they name with SOURCE too."""

    runner: StatementRunner
    split: Any
    ignores_errors: Callable[[], bool]

    def run(self, text: str) -> None:
        """Run a text; the first statement that fails ends the process, as does `quit;`."""
        for statement, _ in self.split(text):
            if not self.run_one(statement) and not self.ignores_errors():
                sys.exit(1)

    def run_one(self, statement: str) -> bool:
        """Run one statement; return whether it succeeded."""
        if statement.lower() in _QUIT:
            sys.exit(0)
        if (source := _SOURCE.fullmatch(statement)) is None:
            return self.runner.run(statement)
        try:
            text = read_named_text(source[1], _SCRIPT)
        except UsageError as error:
            _print_note(f"error: {error}\n")
            return False
        return all(self.run_one(each) or self.ignores_errors() for each, _ in self.split(text))


def _converse(sources: _Sources) -> None:
    """Read statements from the terminal until its end, `quit;` or `exit;`; Ctrl-C ends a statement, not the shell."""
    importlib.import_module("readline")  # lets input() edit lines and remember them
    lines: list[str] = []
    while True:
        try:
            lines.append(input(_CONTINUED if lines else _PROMPT))
            statements = list(sources.split("\n".join(lines)))
            if statements and not statements[-1][1] and statements[-1][0].lower() not in _QUIT:
                continue
            lines.clear()
            for statement, _ in statements:
                sources.run_one(statement)
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt:
            lines.clear()
            click.echo("interrupted", err=True)


def _print_row(text: str) -> None:
    click.echo(text, nl=False)


def _print_note(text: str) -> None:
    click.echo(text, nl=False, err=True)
