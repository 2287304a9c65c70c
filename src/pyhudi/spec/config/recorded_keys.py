"""The keys of Apache Hudi 1.2.0, as its bundle has them: facts for names that pyhudi does not list itself.

`scripts/record_options.py` makes the list, `hudi_keys.tsv`. It is read when a name is asked for that `pyhudi.spec.config.config_keys`
does not
hold, so that a process with known options never reads it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

_LIST: Final = "hudi_keys.tsv"
_COMMENT: Final = "#"
_COLUMNS: Final = 7


@dataclass(frozen=True, slots=True)
class RecordedKey:
    """One key as Apache Hudi states it.

    `kind` is flag, integer, number or text, as its default shows; `default` is empty when there is none. `others` are older names that
    it still answers to, `deprecated` is the release since which it should not be used, empty when it may.
    """

    name: str
    kind: str
    default: str
    values: tuple[str, ...]
    others: tuple[str, ...]
    since: str
    deprecated: str


@cache
def recorded_keys() -> Mapping[str, RecordedKey]:
    """Return every key by its name."""
    data = pkgutil.get_data(__package__, _LIST)
    assert data is not None, "the package's loader has no files"
    keys = (_parse(line) for line in data.decode().splitlines() if not line.startswith(_COMMENT))
    return {key.name: key for key in keys}


def current_name(name: str) -> str | None:
    """Return the name that Apache Hudi has for a key now, given in any case by that name or an older one; None when it has no such key.

    Example:
        >>> current_name("hoodie.cleaner.commits.retained")
        'hoodie.clean.commits.retained'
    """
    return _current_names().get(name.lower())


def is_older_name(name: str) -> bool:
    """Tell whether a name is one that Apache Hudi has replaced by another."""
    current = current_name(name)
    return current is not None and current.lower() != name.lower()


@cache
def _current_names() -> dict[str, str]:
    older = {other.lower(): key.name for key in recorded_keys().values() for other in key.others}
    return older | {name.lower(): name for name in recorded_keys()}


def _parse(line: str) -> RecordedKey:
    name, kind, default, values, others, since, deprecated = (line.split("\t") + [""] * _COLUMNS)[:_COLUMNS]
    return RecordedKey(name, kind, default, _list_keys(values), _list_keys(others), since, deprecated)


def _list_keys(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(",")) if cell else ()
