"""Results and settings as a prompt and a notebook show them: one line, or an HTML table. All text is escaped in HTML."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final, cast

#: Values are cut there in notebooks: lists of partitions and files can be long.
_MOST_CHARACTERS: Final = 300


class ShownResult(ABC):
    """The result of an action: one line at a prompt, a table in a notebook."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str: ...

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes by name, for JSON."""
        return dataclasses.asdict(cast("Any", self))  # each subclass is a dataclass

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        return properties_html(str(self), self.to_dict())


def properties_html(title: str, properties: Mapping[str, object]) -> str:
    """Return a title and a table of names and values; values that say nothing (None, empty) are left out.

    Example:
        >>> properties_html("<t>", {"rows": 2, "index": None})
        '<div><b>&lt;t&gt;</b><table><tr><th style="text-align:left">rows</th><td style="text-align:left">2</td></tr></table></div>'
    """
    rows = (
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(_text(value))}</td></tr>'
        for name, value in properties.items()
        if value is not None and value not in ("", (), [], {})
    )
    return f"<div><b>{escape(title)}</b><table>{''.join(rows)}</table></div>"


def rows_html(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title and a table of rows below the names of their columns.

    Example:
        >>> rows_html("1 <row>", ["n"], [[2]])[:60]
        '<div><b>1 &lt;row&gt;</b><table><tr><th style="text-align:le'
    """
    lines = [_line("th", names), *(_line("td", row) for row in rows)]
    return f"<div><b>{escape(title)}</b><table>{''.join(lines)}</table></div>"


def _line(tag: str, cells: Sequence[object]) -> str:
    fields = (f'<{tag} style="text-align:left">{escape(_text(cell))}</{tag}>' for cell in cells)
    return f"<tr>{''.join(fields)}</tr>"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
