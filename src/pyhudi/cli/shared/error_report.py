"""How an error is printed on standard error: as a sentence, or with `--json` as one JSON object on a line, which is the last one.

`path_argument` and the like note in the context of click which table a command works on, so that the object can name it even where other
arguments are wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import click

_TABLE: Final = "pyhudi.cli.table"


def note_table(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001 - click's arguments
    """Note the table of a command; the callback of the parameters that name it."""
    if value is not None:
        context.meta[_TABLE] = value
    return value


#: PATH of commands that are made by decorators, which need it.
path_argument: Final = click.argument("path", callback=note_table, is_eager=True)


def report_error(
    context: click.Context, kind: str, message: str, exit_code: int, *, notes: Sequence[str] = (), lead: str = "error: ", as_json: bool
) -> None:
    """Print an error.

    Args:
        context: the context of the command `pyhudi`, from which the called one and its table are taken.
        kind: the name of the error's class.
        message: what is wrong.
        exit_code: what the command ends with.
        notes: further sentences.
        lead: what a sentence begins with.
        as_json: whether to print a JSON object.
    """
    if not as_json:
        click.echo("\n".join([f"{lead}{message}", *notes]), err=True)
        return
    error = {
        "error": kind,
        "message": message,
        "command": context.invoked_subcommand,
        "table": context.meta.get(_TABLE),
        "exit_code": exit_code,
        "notes": list(notes),
    }
    click.echo(json.dumps(error, ensure_ascii=False), err=True)
