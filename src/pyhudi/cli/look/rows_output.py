"""Rows on standard output: a table on a terminal, aligned columns in a pipe, JSON lines with `--json`."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import click

Row: TypeAlias = Mapping[str, object]

#: Where a value is cut that would fill a terminal; pipes and JSON get all of it.
_CELL_MAX = 60


def print_rows(columns: Sequence[str], rows: Iterable[Row], *, as_json: bool) -> None:
    """Print rows with their columns; no rows are a line of the names, or nothing in JSON."""
    if as_json:
        for row in rows:
            click.echo(json.dumps({name: json_value(row.get(name)) for name in columns}, ensure_ascii=False))
        return
    cells = [[text_value(row.get(name)) for name in columns] for row in rows]
    if sys.stdout.isatty():
        _print_on_terminal(columns, cells)
    else:
        _print_plain(columns, cells)


def print_properties(properties: Mapping[str, object], *, as_json: bool) -> None:
    """Print one value for each name, one on a line."""
    if as_json:
        click.echo(json.dumps({name.replace(" ", "_"): json_value(value) for name, value in properties.items()}, ensure_ascii=False))
        return
    width = max(map(len, properties), default=0)
    for name, value in properties.items():
        title = name.ljust(width) if _is_plain() else click.style(name.ljust(width), bold=True)
        click.echo(f"{title}  {text_value(value)}")


def json_value(value: object) -> object:
    """Return a value as JSON has it: exact decimals, times and numbers that JSON lacks are strings.

    Example:
        >>> json_value({"a": [1, float("inf")], "b": None})
        {'a': [1, 'inf'], 'b': None}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def text_value(value: object) -> str:
    """Return a value as one line of text; control characters, which could change the terminal, are escaped.

    Example:
        >>> text_value(None), text_value(["a", 1]), text_value(True)
        ('', '["a", 1]', 'true')
    """
    plain = json_value(value)
    text = "" if plain is None else json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict | bool) else str(plain)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _print_plain(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[at]) for line in (columns, *cells)) for at in range(len(columns))]
    for line in (columns, *cells):
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _print_on_terminal(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Print a table, or one row below the other where the terminal is too narrow for it."""
    lines = [[text if len(text) <= _CELL_MAX else f"{text[: _CELL_MAX - 1]}…" for text in line] for line in cells]
    widths = [max(len(line[at]) for line in (columns, *lines)) for at in range(len(columns))]
    if sum(widths) + 2 * len(widths) > shutil.get_terminal_size().columns:
        for line in cells:
            print_properties(dict(zip(columns, line, strict=True)), as_json=False)
            click.echo()
        return
    from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second, and no script needs it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style=None if _is_plain() else "bold")
    for name in columns:
        table.add_column(Text(name), no_wrap=True)
    for line in lines:
        table.add_row(*map(Text, line))
    Console(no_color=_is_plain()).print(table)


def _is_plain() -> bool:
    """Tell whether styles are not to be printed: the user asks for none (https://no-color.org), or the terminal has none."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
