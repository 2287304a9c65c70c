"""The table of a command, and Arrow rows on standard output. Loads pyarrow, which `ls` and `show` do without."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from pyhudi.cli.look.rows_output import print_rows
from pyhudi.cli.shared.options_text import pairs
from pyhudi.table.hudi_table import HudiTable


def open_table(path: str, options: Sequence[str]) -> HudiTable:
    """Return the table at a path.

    Raises:
        TableNotFound: there is no table.
    """
    return HudiTable.open(path, pairs(options) or None)


def print_table(table: pa.Table, *, as_json: bool) -> None:
    """Print the rows of an Arrow table."""
    print_rows(table.schema.names, table.to_pylist(), as_json=as_json)
