"""Writes docs/options.md from the table of keys in the source: `python -m scripts.list_options`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyhudi.spec.config.key import ConfigKey, Kind, Status
from pyhudi.spec.config_keys import KEYS
from scripts.import_graph import ROOT

TARGET = ROOT / "docs" / "options.md"

INTRODUCTION = """\
# Options

Options are Hudi's `hoodie.*` keys, with their older names; SQL has short names for some. A key is one of three kinds:

- [served](#served): it does what it says;
- [harmless](#harmless): it tunes a JVM or an engine and changes neither rows nor files; it is accepted and logged once;
- [refused](#refused): it would change rows or files in a way that this release does not serve. It is refused before anything is written,
  unless its value is one at which it asks for nothing.

A name that is none of Hudi's is refused too, and the nearest one is suggested. A name that ends with `*` stands for all that begin so.

This page is made from the source by `make options`.
"""


def render() -> str:
    """The page as Markdown, the same for the same source."""
    by_status: dict[Status, list[ConfigKey]] = defaultdict(list)
    for key in KEYS:
        by_status[key.status].append(key)
    parts = [
        INTRODUCTION,
        *_served(by_status[Status.SERVED]),
        "\n## Harmless\n",
        *_by_reason(by_status[Status.HARMLESS]),
        "\n## Refused\n",
        "Values in brackets are accepted: they ask for nothing.\n",
        *_by_reason(by_status[Status.REFUSED]),
    ]
    return "\n".join(parts) + "\n"


def _served(keys: Iterable[ConfigKey]) -> Iterable[str]:
    yield "## Served\n"
    yield "| key | does | values | default | other names |"
    yield "| --- | --- | --- | --- | --- |"
    for key in keys:
        values = ", ".join(_code(choice) for choice in key.choices) or ("" if key.kind is Kind.TEXT else key.kind.value)
        default = "" if key.default is None else _code(key.default)
        names = ", ".join(_code(name) for name in key.aliases)
        yield f"| {_code(key.name)} | {_cell(key.doc)} | {values} | {default} | {names} |"


def _by_reason(keys: Iterable[ConfigKey]) -> Iterable[str]:
    """One line for each reason, with its keys: many keys share one."""
    by_reason: dict[str, list[ConfigKey]] = defaultdict(list)
    for key in keys:
        by_reason[key.reason].append(key)
    yield "| why | keys |"
    yield "| --- | --- |"
    for reason, alike in by_reason.items():
        yield f"| {_cell(reason)} | {', '.join(_code(key.name) + _accepted(key) for key in alike)} |"


def _accepted(key: ConfigKey) -> str:
    return f" ({', '.join(_code(value) for value in key.harmless_values)})" if key.harmless_values else ""


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else "empty"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(target: Path = TARGET) -> None:
    """Write the page to its place."""
    target.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
