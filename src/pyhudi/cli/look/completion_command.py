"""`completion SHELL`: the script that completes commands and flags in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(*, shell: str) -> None:
    """Print the completion script of SHELL; load it with `source <(pyhudi completion bash)`."""
    kind = get_completion_class(shell)
    assert kind is not None, "a shell that click knows"
    root = click.get_current_context().find_root()
    click.echo(kind(root.command, {}, "pyhudi", "_PYHUDI_COMPLETE").source())
