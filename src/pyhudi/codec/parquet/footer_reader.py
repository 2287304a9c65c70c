"""Footers of many Parquet files, most of which have the same schema: it is decoded once, and found again as the bytes that it takes.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`, whose fields 1 to 7 are version, schema, number of rows, row groups,
entries, library and order of bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyhudi.codec.parquet.compact_protocol import BINARY, TRUE, ThriftStruct, write_struct
from pyhudi.codec.parquet.page_files import TAIL_BYTES, footer_bytes, footer_length
from pyhudi.codec.parquet.stored_chunk import StoredGroup, read_group
from pyhudi.codec.parquet.thrift_fields import find_fields, read_field, read_items, read_until
from pyhudi.codec.varint import Buffer, read_unsigned
from pyhudi.errors import CorruptTableError

_SCHEMA, _ROW_GROUPS, _ENTRIES = 2, 4, 5
_KEY, _VALUE = 1, 2
_HEAD: Final = (1, _SCHEMA)
#: Files that have these in common can be joined: schema, library, and the order in which bounds are compared.
IN_COMMON: Final = (_SCHEMA, 6, 7)


@dataclass(frozen=True, slots=True)
class Footer:
    """A footer: its row groups, its key-value entries, and its other fields."""

    fields: ThriftStruct
    groups: list[StoredGroup]
    #: Keys and values; a bloom filter may have half a megabyte.
    entries: list[tuple[Buffer, Buffer]]


class FooterReader:
    """Reads footers, one after the other."""

    def __init__(self) -> None:
        self._head, self._tail, self._identity = b"", b"", b""
        self._fields: ThriftStruct = {}

    def read(self, footer: Buffer, what: str) -> Footer:
        """Return a footer; `what` names it in errors.

        Raises:
            CorruptTableError: it is none.
        """
        begins_alike = self._head and footer[: len(self._head)] == self._head
        try:
            if begins_alike:
                return _read_footer(footer, len(self._head), self._fields)
            whole = _read_footer(footer, 0, {})
        except IndexError:
            raise CorruptTableError(f"{what} ends within a struct of Thrift") from None
        except ValueError as error:
            raise CorruptTableError(f"{what} holds {error}") from None
        self._remember(footer, whole)
        return whole

    def identity(self, read: Callable[[int, int], Buffer], size: int, what: str) -> bytes:
        """Return bytes that are equal for files with the same schema, library and order of bounds.

        Of a file that begins and ends its footer as the one before, the rest of the footer is not read.

        Raises:
            CorruptTableError: a file has no footer.
        """
        head, tail = self._head, self._tail
        if head and tail and size > len(tail) + TAIL_BYTES:
            end = read(size - TAIL_BYTES - len(tail), len(tail) + TAIL_BYTES)
            length = footer_length(end, what)
            fits = len(head) + len(tail) <= length <= size - TAIL_BYTES
            if fits and end[: len(tail)] == tail and read(size - TAIL_BYTES - length, len(head)) == head:
                return self._identity
        footer = footer_bytes(read, size, what)
        self._remember(footer, self.read(footer, f"the footer of {what}"))
        return self._identity

    def _remember(self, footer: Buffer, whole: Footer) -> None:
        """Take the bytes in front of the number of rows, and those behind the entries, if they are as they are written here."""
        fields = whole.fields
        self._fields = {field: fields[field] for field in _HEAD if field in fields}
        head = write_struct(self._fields)[:-1]
        behind = {field: fields[field] for field in fields if field > _ENTRIES}
        tail = write_struct({_ENTRIES: (TRUE, True), **behind})[1:]
        self._head = head if footer[: len(head)] == head else b""
        self._tail = tail if whole.entries and footer[-len(tail) :] == tail else b""
        self._identity = write_struct({field: fields[field] for field in IN_COMMON if field in fields})


def _read_footer(footer: Buffer, at: int, head: ThriftStruct) -> Footer:
    """Return a footer whose first fields end at an offset."""
    before, groups, at = read_until(footer, at, _ROW_GROUPS, read_group, max(head, default=0))
    rest, _ = find_fields(footer, at, _ROW_GROUPS)
    entries = rest.pop(_ENTRIES, None)
    behind = {number: read_field(footer, begin, kind)[0] for number, (kind, begin, _, _) in rest.items()}
    pairs = [] if entries is None else read_items(footer, entries[1], _read_entry)[0]
    return Footer(head | before | behind, groups, pairs)


def _read_entry(footer: Buffer, at: int) -> tuple[tuple[Buffer, Buffer], int]:
    pair, end = find_fields(footer, at)
    return (_bytes_of(footer, pair.get(_KEY)), _bytes_of(footer, pair.get(_VALUE))), end


def _bytes_of(footer: Buffer, field: tuple[int, int, int, int] | None) -> Buffer:
    """Return bytes; those of a value that is not given are none."""
    if field is None:
        return b""
    kind, begin, end, _ = field
    if kind != BINARY:
        raise ValueError(f"a value of the type {kind} at {begin}, where text belongs")
    return footer[read_unsigned(footer, begin)[1] : end]
