"""How record keys and partition paths come from the fields of a record, given the texts of their values.

Rules: `BuiltinKeyGenerator`, `KeyGenUtils`. The implementations state the rule on one record; `pyhudi.kernels.keys`
does it on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pyhudi.errors import KeyFieldError
from pyhudi.spec.partition_path import build

NULL_PART = "__null__"
EMPTY_PART = "__empty__"

Texts = Sequence[str | None]


class KeyGenerator(Protocol):
    """Makes keys and partition paths of the texts of the fields' values, null as None."""

    @property
    def key_fields(self) -> tuple[str, ...]:
        """Fields of the record key; empty when keys are made up."""
        ...

    @property
    def is_composite(self) -> bool:
        """True when a key names its fields (`f1:v1,f2:v2`), False when it is the bare value."""
        ...

    @property
    def layout(self) -> PartitionLayout:
        """Where records go."""
        ...

    def record_key(self, values: Texts, *, row: int) -> str:
        """Return the key of one record; `row` is its number, for messages and for keys that are made up.

        Raises:
            KeyFieldError: the values make no key.
        """
        ...


@dataclass(frozen=True, slots=True)
class KeyFields:
    """Fields of the record key; `is_composite` when a key names them (`f1:v1,f2:v2`)."""

    key_fields: tuple[str, ...]
    is_composite: bool


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """Partition fields and how their values become a path."""

    fields: tuple[str, ...] = ()
    hive_style: bool = False
    url_encode: bool = False

    def path(self, values: Texts) -> str:
        """Return the partition path of one record.

        Raises:
            KeyFieldError: the path would not be a place inside the table.
        """
        if not self.fields:
            return ""
        return build(self.fields, values, hive_style=self.hive_style, url_encode=self.url_encode)


def bare_key(field: str, value: str | None, *, row: int) -> str:
    """Return the key of a record that is the bare value of one field.

    Raises:
        KeyFieldError: it is null or empty.
    """
    if not value:
        found = "a null" if value is None else "an empty text"
        raise KeyFieldError(f"Row {row} has {found} in the record key field '{field}'.")
    return value


def composite_key(fields: Sequence[str], values: Texts, *, row: int) -> str:
    """Return the key of a record that names its fields.

    Raises:
        KeyFieldError: all values are null or empty.

    Example:
        >>> composite_key(["a", "b"], ["1", None], row=0)
        'a:1,b:__null__'
    """
    if not any(values):
        raise KeyFieldError(f"Row {row} has null or empty texts in all of its record key fields, {', '.join(fields)}.")
    parts = (NULL_PART if value is None else value or EMPTY_PART for value in values)
    return ",".join(f"{field}:{part}" for field, part in zip(fields, parts, strict=True))
