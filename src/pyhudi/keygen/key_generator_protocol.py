"""How record keys and partition paths come from the fields of a record, given the strings of their values.

Rules: `BuiltinKeyGenerator`, `KeyGenUtils`. The implementations state the rule on one record; `pyhudi.kernels.keys.key_kernels`
does it on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.errors import KeyFieldError
from pyhudi.keygen.timestamp_partition import TimestampText
from pyhudi.keygen.value_text import value_text
from pyhudi.spec.files.partition_path import build, parse

NULL_PART = "__null__"
EMPTY_PART = "__empty__"

Strings = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class KeyFields:
    """Keys of fields: the bare value of one, or composite (`f1:v1,f2:v2`) when a key names its fields.

    With `timestamps_as_text` a timestamp is in keys as a clock shows it, else as a number.
    """

    key_fields: tuple[str, ...]
    is_composite: bool
    timestamps_as_text: bool = False

    def record_key(self, values: Strings, *, row: int) -> str:
        """Return the key of one record; `row` is its number, for messages.

        Raises:
            KeyFieldError: the values make no key.
        """
        if self.is_composite:
            return composite_key(self.key_fields, values, row=row)
        return bare_key(self.key_fields[0], values[0], row=row)


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of the partition path, and how its value becomes text: as in keys, or as a timestamp by a date pattern."""

    name: str
    timestamp: TimestampText | None = None
    timestamps_as_text: bool = False

    def text(self, value: Any, *, row: int, single_precision: bool = False) -> str | None:
        """Return the text of one value, before URL encoding and the field's name.

        Raises:
            KeyFieldError: the value is no moment by the table's settings; names row, field and value.
            TypeError: there is no text for values of this kind.
        """
        if self.timestamp is not None:
            return self.timestamp.text(value, field=self.name, row=row)
        return value_text(value, single_precision=single_precision, timestamps_as_text=self.timestamps_as_text)


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """Partition fields and how the strings of their values become a path.

    With `exclusive` the path is all that tells the values: the files leave the partition columns out.
    """

    fields: tuple[PartitionField, ...] = ()
    hive_style: bool = False
    url_encode: bool = False
    slash_dates: bool = False
    exclusive: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in self.fields)

    def path(self, values: Strings) -> str:
        """Return the partition path of one record.

        Raises:
            KeyFieldError: the path would not be a place inside the table, or would not tell the values though nothing else does.
        """
        if not self.fields:
            return ""
        slashed = [field.name for field in self.fields if field.timestamp is None] if self.slash_dates else ()
        path = build(self.names, values, hive_style=self.hive_style, url_encode=self.url_encode, slashed=slashed)
        self.check_reversible(path, values)
        return path

    def check_reversible(self, path: str, values: Strings) -> None:
        """Refuse a path from which the values could not be read again, if nothing else tells them.

        Raises:
            KeyFieldError: it is such a path.
        """
        if not self.exclusive:
            return
        recorded = parse(path, self.names, hive_style=self.hive_style, url_encode=self.url_encode)
        if recorded != tuple(value or None for value in values):
            raise KeyFieldError(f"partition path '{path}' tells other values than these, and the files leave the partition columns out")


def bare_key(field: str, value: str | None, *, row: int) -> str:
    """Return the key of a record that is the bare value of one field.

    Raises:
        KeyFieldError: it is null or empty.
    """
    if not value:
        missing = "a null" if value is None else "an empty text"
        raise KeyFieldError(f"Row {row} has {missing} in the record key field '{field}'.")
    return value


def composite_key(fields: Sequence[str], values: Strings, *, row: int) -> str:
    """Return the key of a record that names its fields.

    Raises:
        KeyFieldError: all values are null or empty.

    Example:
        >>> composite_key(["a", "b"], ["1", None], row=0)
        'a:1,b:__null__'
    """
    if not any(values):
        raise KeyFieldError(f"Row {row} has null or empty strings in all of its record key fields, {', '.join(fields)}.")
    parts = (NULL_PART if value is None else value or EMPTY_PART for value in values)
    return ",".join(f"{field}:{part}" for field, part in zip(fields, parts, strict=True))
