"""`log`: what is in a log file, field by field."""

from __future__ import annotations

import json
import posixpath

import click

from pyhudi.storage.open_storage import open_storage
from pyhudi.table.inspect.inspect_logs import log_anatomy, log_blocks


@click.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each block.")
def log(*, path: str, as_json: bool) -> None:
    """Show the blocks of the log file at PATH."""
    folder, name = posixpath.split(path)
    storage = open_storage(folder or ".")
    if as_json:
        for block in log_blocks(storage, name).to_pylist():
            click.echo(json.dumps(block))
    else:
        click.echo(log_anatomy(storage, name))
