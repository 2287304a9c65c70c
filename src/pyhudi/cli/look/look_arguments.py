"""Arguments of the commands that read a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import TableNotFound
from pyhudi.table.find_tables import holds_tables

_Command = TypeVar("_Command", bound=Callable[..., None])

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object for each row.")
storage_options = click.option(
    "--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage; may be given again."
)


def of_table(command: _Command) -> _Command:
    """Give a command the argument PATH, `--json` and `--storage-option`; for a folder of tables its error names `pyhudi ls`."""

    @functools.wraps(command)
    def run(*, path: str, storage_options: Sequence[str], **arguments: Any) -> None:
        try:
            command(path=path, storage_options=storage_options, **arguments)
        except TableNotFound as error:
            if holds_tables(path, pairs(storage_options) or None):
                error.add_note(f"There are tables in this folder: `pyhudi ls {path}` lists them.")
            raise

    return path_argument(as_json(storage_options(run)))  # type: ignore[return-value]
