"""One `hoodie.*` key: its names, what values it takes, and what this release does with it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

_FAMILY, _OPEN = "*", "**"


class Kind(enum.Enum):
    """What values a key takes; the value is how a message words it."""

    TEXT = "any text"
    FLAG = "true or false"
    INTEGER = "a whole number"
    COUNT = "a whole number of 0 or more"
    POSITIVE = "a whole number above 0"
    NUMBER = "a number of 0 or more"
    FRACTION = "a number between 0 and 1, both excluded"


class Status(enum.Enum):
    """What this release does with a key."""

    SERVED = "served"
    #: Tunes a JVM or an engine, and changes neither rows nor files: accepted, and logged once.
    HARMLESS = "harmless"
    #: Asks for a service that is not there yet, and changes no row of a write: accepted with one warning, refused on request.
    UNSERVED = "not served yet"
    #: Would change which rows are stored, where, or what the table is, in a way that is not served.
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """A key with its other names; `default` is what holds when nobody gives it, None where that depends.

    `choices` limit the values (compared without case). An unserved or refused key asks for nothing at its
    `harmless_values`: those are accepted as they are. A name that ends with `.*` or `.**` is a family, the second an open one.
    """

    name: str
    status: Status
    kind: Kind = Kind.TEXT
    default: str | None = None
    doc: str = ""
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    harmless_values: tuple[str, ...] = ()
    reason: str = ""

    @property
    def is_family(self) -> bool:
        """Whether the name stands for all that begin so."""
        return self.name.endswith(_FAMILY)

    @property
    def is_open(self) -> bool:
        """Whether a family takes in names that Apache Hudi's own list does not have."""
        return self.name.endswith(_OPEN)

    @property
    def prefix(self) -> str:
        """How the names of a family begin."""
        return self.name.rstrip("*")


def served(
    name: str,
    doc: str,
    kind: Kind = Kind.TEXT,
    default: str | None = None,
    *,
    aliases: tuple[str, ...] = (),
    choices: tuple[str, ...] = (),
) -> ConfigKey:
    """Return a key that this release serves."""
    return ConfigKey(name, Status.SERVED, kind, default, doc, aliases, choices)


def harmless(reason: str, names: str, kind: Kind = Kind.TEXT, choices: tuple[str, ...] = ()) -> Iterable[ConfigKey]:
    """Yield harmless keys, from names parted by blanks; a name that ends with `.*` or `.**` is a family.

    Values that Apache Hudi cannot run with are refused by `kind` and `choices`: a script that has one is wrong somewhere.
    """
    for name in names.split():
        yield ConfigKey(name, Status.HARMLESS, kind, choices=choices, reason=reason)


def refused(reason: str, names: str) -> Iterable[ConfigKey]:
    """Yield refused keys, from names parted by blanks: `name`, `name=value,value` with harmless values, or a family
    `name.*` or `name.**`.
    """
    return _of_status(Status.REFUSED, reason, names)


def unserved(reason: str, names: str) -> Iterable[ConfigKey]:
    """Yield keys of services that are not there yet, written as for `refused`.

    Only what changes no row of a write may be here: not which rows are stored, nor where (partition paths, keys, index), how they are
    merged, what the table is, and who writes it at the same time.
    """
    return _of_status(Status.UNSERVED, reason, names)


def _of_status(status: Status, reason: str, names: str) -> Iterable[ConfigKey]:
    for entry in names.split():
        name, _, values = entry.partition("=")
        accepted = tuple(values.split(",")) if values else ()
        yield ConfigKey(name, status, harmless_values=accepted, reason=reason)
