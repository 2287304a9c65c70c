"""A group of commands that suggests the closest name for one that does not exist."""

from __future__ import annotations

import click

from pyhudi.errors import did_you_mean


class CommandGroup(click.Group):
    """A click group whose error for an unknown command names the closest one; releases of click before 8.4 do not."""

    def resolve_command(self, context: click.Context, arguments: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of a command, the command, and the arguments that follow it.

        Raises:
            click.UsageError: there is no such command.
        """
        name = arguments[0]
        if not name.startswith("-") and not context.resilient_parsing and self.get_command(context, name) is None:
            context.fail(f"No such command '{name}'.{did_you_mean(name, self.list_commands(context))}")
        return super().resolve_command(context, arguments)
