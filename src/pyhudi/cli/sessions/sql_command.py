"""`sql`: a shell for SQL on Hudi tables, with the flags of `spark-sql`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from pyhudi.cli.sessions.spark_flags import start_session, takes_spark_flags
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import UsageError

_QUIT = ("quit", "exit")
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
    inputs = [_text_of(path) for path in flags["first"]]
    script = [_text_of(flags["script"])] if flags["script"] else []
    settings = pairs((*flags["variables"], *flags["hive_settings"]))
    session = start_session(flags)
    for key, value in settings.items():
        session.conf.set(key, value)
    shell_module = importlib.import_module("pyhudi.sql.query.shell")
    shell = shell_module.SqlShell(session, _print_row, _print_note, is_silent=flags["silent"])
    if flags["database"] is not None:
        inputs.insert(0, f"USE {flags['database']}")
    if flags["statements"]:
        inputs += flags["statements"]
    elif script:
        inputs += script
    elif not sys.stdin.isatty():
        inputs.append(sys.stdin.read())
    _run_all(shell, shell_module.split_statements, inputs)
    if sys.stdin.isatty() and not flags["statements"] and not flags["script"]:
        _converse(shell, shell_module.split_statements, session)


def _run_all(shell: Any, split_statements: Any, inputs: Sequence[str]) -> None:
    for text in inputs:
        for statement, _ in split_statements(text):
            if statement.lower() in _QUIT:
                sys.exit(0)
            if not shell.run(statement):
                sys.exit(1)


def _converse(shell: Any, split_statements: Any, session: Any) -> None:
    """Read statements from the terminal until its end, `quit;` or `exit;`; Ctrl-C ends a statement, not the shell."""
    importlib.import_module("readline")  # lets input() edit lines and remember them
    lines: list[str] = []
    while True:
        try:
            lines.append(input(_CONTINUED if lines else _PROMPT))
            statements = list(split_statements("\n".join(lines)))
            if statements and not statements[-1][1] and statements[-1][0].lower() not in _QUIT:
                continue
            lines.clear()
            for statement in _until_quit(statements):
                shell.run(statement)
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt:
            lines.clear()
            session.sparkContext.cancelAllJobs()
            click.echo("interrupted", err=True)


def _until_quit(statements: Sequence[tuple[str, bool]]) -> Iterator[str]:
    for statement, _ in statements:
        if statement.lower() in _QUIT:
            raise EOFError
        yield statement


def _text_of(path: str) -> str:
    """Return the text of a file of statements.

    Raises:
        UsageError: there is no such file, or it is no text.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8: {error.reason} at byte {error.start}") from error


def _print_row(text: str) -> None:
    click.echo(text, nl=False)


def _print_note(text: str) -> None:
    click.echo(text, nl=False, err=True)
