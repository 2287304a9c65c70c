"""`log`: what is in a log file, field by field."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence

import click

from pyhudi.cli.look.look_arguments import storage_options as storage_option
from pyhudi.cli.shared.error_report import path_argument
from pyhudi.cli.shared.options_text import pairs
from pyhudi.storage.open_storage import open_storage
from pyhudi.table.inspect.inspect_logs import log_anatomy, log_blocks


@click.command()
@path_argument
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each block.")
@storage_option
def log(*, path: str, as_json: bool, storage_options: Sequence[str]) -> None:
    """Show the blocks of the log file at PATH."""
    folder, name = posixpath.split(path)
    storage = open_storage(folder or ".", pairs(storage_options) or None)
    if as_json:
        for block in log_blocks(storage, name).to_pylist():
            click.echo(json.dumps(block))
    else:
        click.echo(log_anatomy(storage, name))
