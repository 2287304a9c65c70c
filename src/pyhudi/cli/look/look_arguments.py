"""Arguments of the commands that read a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from pyhudi.cli.look.rows_output import print_rows
from pyhudi.cli.options_text import pairs

if TYPE_CHECKING:
    import pyarrow as pa

    from pyhudi.table.hudi_table import HudiTable

_Command = TypeVar("_Command", bound=Callable[..., None])

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object for each row.")
storage_options = click.option(
    "--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage; may be given again."
)


def of_table(command: _Command) -> _Command:
    """Give a command the argument PATH, `--json` and `--storage-option`."""
    return click.argument("path")(as_json(storage_options(command)))


def open_table(path: str, options: Sequence[str]) -> HudiTable:
    """Return the table at a path.

    Raises:
        TableNotFound: there is no table.
    """
    from pyhudi.table.hudi_table import HudiTable  # noqa: PLC0415 - loads pyarrow, which `ls` and `show` do without

    return HudiTable.open(path, pairs(options) or None)


def print_table(table: pa.Table, *, as_json: bool) -> None:
    """Print the rows of an Arrow table."""
    print_rows(table.schema.names, table.to_pylist(), as_json=as_json)
