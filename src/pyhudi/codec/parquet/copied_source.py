"""Parquet files whose row groups are copied to others: footer, entries, and whether a copy is possible.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.codec.parquet.footer_reader import IN_COMMON, Footer, FooterReader
from pyhudi.codec.parquet.page_files import flat_columns, footer_bytes, items_of, number_of, struct_of
from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError

# The numbers of fields in `parquet.thrift`.
_SCHEMA, _NUM_ROWS, _ENCRYPTION = 2, 3, 8
_NUM_CHILDREN = 5
#: Ordinals of row groups are numbers of 16 bits.
GROUPS_MAX: Final = 1 << 15
#: Numbers of codecs in `parquet.thrift`, by the values of `hoodie.parquet.compression.codec`.
CODECS: Final[Mapping[str, int]] = {"uncompressed": 0, "snappy": 1, "gzip": 2, "brotli": 4, "zstd": 6, "lz4_raw": 7}


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """A Parquet file whose row groups are copied: `read(offset, length)` returns its bytes, `what` names it in errors.

    Unless `verified` is false, pages are compared with their CRCs, and the offset index with the pages, before they are copied.
    """

    read: Callable[[int, int], Buffer]
    footer: Footer
    what: str
    verified: bool = True

    @classmethod
    def of(cls, read: Callable[[int, int], Buffer], size: int, what: str, footers: FooterReader | None = None) -> ParquetSource:
        """Return a file of `size` bytes; `footers` has decoded those of files that are likely to be like it.

        Raises:
            CorruptTableError: it has no readable footer.
        """
        return cls(read, (footers or FooterReader()).read(footer_bytes(read, size, what), f"the footer of {what}"), what)

    @classmethod
    def of_memory(cls, read: Callable[[int, int], Buffer], size: int) -> ParquetSource:
        """Return a file of `size` bytes in memory, which this process has just encoded; its pages are not verified."""
        return replace(cls.of(read, size, "a row group in memory"), verified=False)

    @property
    def group_rows(self) -> list[int]:
        """How many rows each row group has."""
        return [group.rows for group in self.footer.groups]

    @property
    def stated_rows(self) -> int:
        """How many rows the file has by its footer."""
        return number_of(self.footer.fields, _NUM_ROWS)

    def entries(self) -> dict[str, Buffer]:
        """Return the key-value entries of the footer, whose values are text as bytes.

        Raises:
            CorruptTableError: the keys are no text.
        """
        try:
            return {str(key, "utf-8"): value for key, value in self.footer.entries}
        except ValueError:
            raise CorruptTableError(f"{self.what} has entries in its footer that are no text. Restore the file from a copy.") from None

    def column_number(self, name: str) -> int | None:
        """Return the number of a top-level column that is no group; None when there is none of this name."""
        column = flat_columns(self.footer.fields).get(name)
        return None if column is None else column.number

    def can_be_copied_to(self, template: ParquetSource, codec: int | None = None) -> bool:
        """Tell whether row groups may be copied to a file with the schema of `template` whose chunks are compressed with `codec`, if given.

        The schemas must be equal to the last field, and so must be the order in which bounds are compared and the library that wrote the
        files. Encrypted chunks, chunks in other files and chunks with a bloom filter are not copied.
        """
        fields, groups = self.footer.fields, self.footer.groups
        if any(fields.get(field) != template.footer.fields.get(field) for field in IN_COMMON):
            return False
        if _ENCRYPTION in fields or len(groups) >= GROUPS_MAX:
            return False
        leaves = sum(_NUM_CHILDREN not in struct_of(element) for element in items_of(fields, _SCHEMA))
        if any(len(group.chunks) != leaves for group in groups):
            return False
        return all(chunk.is_plain and codec in (None, chunk.codec) for group in groups for chunk in group.chunks)
