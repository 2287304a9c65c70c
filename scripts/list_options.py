"""Writes docs/options.md from the table of keys in the source: `python -m scripts.list_options`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyhudi.spec.config.config_key import ConfigKey, Kind, Status
from pyhudi.spec.config.config_keys import KEYS, find_key
from pyhudi.spec.config.recorded_keys import RecordedKey, recorded_keys
from scripts.import_graph import ROOT

TARGET = ROOT / "docs" / "options.md"

INTRODUCTION = """\
---
hide:
  - toc
---

# Options

Every key of Apache Hudi 1.2.0, with its older names; SQL has short names for some. A key is one of four kinds:

- [served](#served): it does what it says;
- [harmless](#harmless): it tunes a JVM or an engine and changes neither rows nor files; it is accepted and logged once;
- [not served yet](#not-served-yet): it asks for a service that this release does not have, and changes no row of a write. It is accepted
  with one warning in the log (`pyhudi.options`), and refused where `pyhudi.options.unserved` is `refuse`;
- [refused](#refused): it would change which rows are stored, where, or what the table is, in a way that this release does not serve. It is
  refused before anything is written.

A key of the last two kinds is accepted without a warning at a value at which it asks for nothing, such as Apache Hudi's default.

An unknown name that begins with `hoodie.` is warned of, with the nearest one; a misspelling of a key that decides on rows, files or
writers is refused, and so is an unknown name that begins with `pyhudi.`. Other names are Spark's, or go
into the commit's metadata where they begin with `_`; one that looks like a misspelt short name is warned of. An older name is accepted and
logged once. A name that ends with `*` stands for all that begin so: modules beside Apache Hudi's bundle for Spark read them.

A default in brackets is Apache Hudi's, where pyhudi's is another ([why](differences.md#other-defaults)).
[Configuration](configuration.md) says where a setting can be made, and which one takes precedence.

This page is made from the source by `make options`.
"""
_PREFIX = "hoodie."
_KINDS = {"flag": Kind.FLAG.value, "integer": Kind.INTEGER.value, "number": "a number", "text": ""}


def render() -> str:
    """The page as Markdown, the same for the same source."""
    parts = [
        INTRODUCTION,
        *_served(key for key in KEYS if key.status is Status.SERVED),
        "\n## Harmless",
        *_by_reason(Status.HARMLESS),
        "\n## Not served yet",
        *_by_reason(Status.UNSERVED),
        "\n## Refused",
        *_by_reason(Status.REFUSED),
    ]
    return "\n".join(parts) + "\n"


def _served(keys: Iterable[ConfigKey]) -> Iterable[str]:
    yield "## Served\n"
    yield "| key | does | values | default | other names | since |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for key in keys:
        record = recorded_keys().get(key.name)
        values = ", ".join(_code(choice) for choice in key.choices) or ("" if key.kind is Kind.TEXT else key.kind.value)
        names = ", ".join(_code(name) for name in key.aliases)
        yield f"| {_code(key.name)} | {_cell(key.doc)} | {values} | {_default(key, record)} | {names} | {record.since if record else ''} |"


def _default(key: ConfigKey, record: RecordedKey | None) -> str:
    mdt = "" if key.default is None else _code(key.default)
    if record is None or record.default.lower() == (key.default or "").lower():
        return mdt
    return f"{mdt} ({_code(record.default)})" if record.default else mdt


def _by_reason(status: Status) -> Iterable[str]:
    """A table for each reason, with its keys: many keys share one."""
    names = _names_by_reason(status)
    for reason, keys in names.items():
        yield f"\n### {_heading(reason)}\n"
        refuses = status in (Status.UNSERVED, Status.REFUSED)
        yield "| key | values | default | other names |" + (" accepted at |" if refuses else "")
        yield "| --- | --- | --- | --- |" + (" --- |" if refuses else "")
        for name, key in keys.items():
            yield _row(name, recorded_keys().get(name)) + (
                f" {', '.join(_code(value) for value in key.harmless_values)} |" if refuses else ""
            )


def _heading(reason: str) -> str:
    """Return a reason as a heading; one that begins with the name of a key begins in lower case."""
    return _cell(reason if reason.startswith(_PREFIX) else reason[0].upper() + reason[1:])


def _names_by_reason(status: Status) -> Mapping[str, dict[str, ConfigKey]]:
    """Return reasons in the source's order, each with the names it holds for; a family of Apache Hudi's keys stands for these."""
    known = {name: key for name in recorded_keys() if (key := find_key(name)) is not None}
    result: dict[str, dict[str, ConfigKey]] = defaultdict(dict)
    for key in KEYS:
        if key.status is not status:
            continue
        if not key.is_family or key.is_open:
            result[key.reason][key.name.replace("**", "*")] = key
        if key.is_family:
            result[key.reason] |= {name: family for name, family in known.items() if family is key}
    return result


def _row(name: str, record: RecordedKey | None) -> str:
    if record is None:
        return f"| {_code(name)} |  |  |  |"
    values = ", ".join(_code(value) for value in record.values) or _KINDS[record.kind]
    others = ", ".join(_code(other) for other in record.others)
    return f"| {_code(name)} | {values} | {_code(record.default) if record.default else ''} | {others} |"


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else "empty"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(target: Path = TARGET) -> None:
    """Write the page to its place."""
    target.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
