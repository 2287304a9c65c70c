"""Arguments of the commands that read a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., None])

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object for each row.")
storage_options = click.option(
    "--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage; may be given again."
)


def of_table(command: _Command) -> _Command:
    """Give a command the argument PATH, `--json` and `--storage-option`."""
    return click.argument("path")(as_json(storage_options(command)))
