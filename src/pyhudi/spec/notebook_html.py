"""Values as HTML for notebooks: what `_repr_html_` of tables and results returns. All text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def properties_html(title: str, properties: Mapping[str, object]) -> str:
    """Return a title and a table of names and values; values that say nothing (None, empty) are left out.

    Example:
        >>> properties_html("<t>", {"rows": 2, "index": None})
        '<div><b>&lt;t&gt;</b><table><tr><th style="text-align:left">rows</th><td style="text-align:left">2</td></tr></table></div>'
    """
    rows = (
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(_text(value))}</td></tr>'
        for name, value in properties.items()
        if value is not None and value not in ("", ())
    )
    return f"<div><b>{escape(title)}</b><table>{''.join(rows)}</table></div>"


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
