"""Footers of many Parquet files, most of which have the same schema: it is decoded once, and found again as the bytes that it takes.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`, whose fields 1 to 7 are version, schema, number of rows, row groups,
entries, library and order of bounds.
"""

from __future__ import annotations

from typing import Final

from pyhudi.codec.parquet.compact_protocol import TRUE, ThriftStruct, read_struct, write_struct
from pyhudi.codec.varint import Buffer

_SCHEMA, _ENTRIES = 2, 5
_HEAD: Final = (1, _SCHEMA)
#: Files that have these in common can be joined: schema, library, and the order in which bounds are compared.
IN_COMMON: Final = (_SCHEMA, 6, 7)


class FooterReader:
    """Decodes footers, one after the other."""

    def __init__(self) -> None:
        self._head, self._tail, self._identity = b"", b"", b""
        self._fields: ThriftStruct = {}

    def read(self, footer: Buffer, what: str) -> ThriftStruct:
        """Return a footer; `what` names it in errors.

        Raises:
            CorruptTableError: it is none.
        """
        if self._head and footer[: len(self._head)] == self._head:
            return self._fields | read_struct(footer, what, len(self._head), after=_SCHEMA)[0]
        fields, _ = read_struct(footer, what)
        self._remember(footer, fields)
        return fields

    def identity(self, footer: Buffer, what: str) -> bytes:
        """Return bytes that are equal for files with the same schema, library and order of bounds; errors as in `read`."""
        begins_alike = self._head and footer[: len(self._head)] == self._head
        if begins_alike and self._tail and footer[-len(self._tail) :] == self._tail:
            return self._identity
        fields, _ = read_struct(footer, what)
        self._remember(footer, fields)
        return self._identity

    def _remember(self, footer: Buffer, fields: ThriftStruct) -> None:
        """Take the bytes in front of the number of rows, and those behind the entries, if they are as they are written here."""
        self._fields = {field: fields[field] for field in _HEAD if field in fields}
        head = write_struct(self._fields)[:-1]
        behind = {field: fields[field] for field in fields if field > _ENTRIES}
        tail = write_struct({_ENTRIES: (TRUE, True), **behind})[1:]
        self._head = head if footer[: len(head)] == head else b""
        self._tail = tail if _ENTRIES in fields and footer[-len(tail) :] == tail else b""
        self._identity = write_struct({field: fields[field] for field in IN_COMMON if field in fields})
