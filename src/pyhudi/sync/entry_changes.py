"""What has to change in a catalog's table so that it describes a table as it is now.

Rules: `HiveSchemaUtil.getSchemaDifference`. A metastore compares columns by their position and refuses a list in which a type at a position
changes to one that is not wider. So columns stay in the order of the catalog, and new ones follow; Apache Hudi sends them in the order of
the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyhudi.errors import CatalogError
from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry


@dataclass(frozen=True, slots=True)
class Merged:
    """A table of the catalog as it shall be (`entry`) and as it is (`previous`)."""

    entry: CatalogEntry
    previous: CatalogEntry

    @property
    def has_new_columns(self) -> bool:
        """Whether names, types or comments of columns differ."""
        return self.entry.columns != self.previous.columns

    @property
    def is_changed(self) -> bool:
        """Whether anything differs."""
        return self.entry != self.previous


def merged_entry(known: CatalogEntry, described: CatalogEntry) -> Merged:
    """Return the catalog's table with what a description says; other properties stay, and so does whether it is managed."""
    entry = replace(
        known,
        columns=merged_columns(known.columns, described.columns),
        partition_columns=merged_columns(known.partition_columns, described.partition_columns),
        input_format=described.input_format,
        output_format=described.output_format,
        serde_class=described.serde_class,
        serde_properties={**known.serde_properties, **described.serde_properties},
        properties={**known.properties, **described.properties},
    )
    return Merged(entry, known)


def merged_columns(known: Sequence[CatalogColumn], described: Sequence[CatalogColumn]) -> tuple[CatalogColumn, ...]:
    """Return the columns of a description in the order of the catalog; a comment stays where none is given.

    A column that the catalog lacks, such as one of a new name, takes the position of one of its type that the table no longer has, so that
    those behind it stay at theirs. The others come last.

    Example:
        >>> known = [CatalogColumn("a", "int", "first"), CatalogColumn("b", "string"), CatalogColumn("c", "date")]
        >>> now = [CatalogColumn("d", "date"), CatalogColumn("a", "bigint"), CatalogColumn("e", "string"), CatalogColumn("c", "date")]
        >>> merged = merged_columns(known, now)
        >>> [(column.name, column.type, column.comment) for column in merged]
        [('a', 'bigint', 'first'), ('e', 'string', ''), ('c', 'date', ''), ('d', 'date', '')]
    """
    by_name = {column.name: column for column in described}
    comments = {column.name: column.comment for column in known}
    added = [column for column in described if column.name not in comments]
    order: list[CatalogColumn] = []
    for column in known:
        successor = by_name.get(column.name) or next((one for one in added if one.type == column.type), None)
        if successor is not None:
            order.append(successor)
            added = [one for one in added if one is not successor]
    return tuple(replace(column, comment=column.comment or comments.get(column.name, "")) for column in (*order, *added))


def with_advice_on_names(error: CatalogError, option: str) -> CatalogError:
    """Return what a catalog says of a name that it does not take, with the option that gives another one; other errors as they are."""
    if "not a valid" not in str(error):
        return error
    return CatalogError(f"{error}. Metastores take letters, digits and '_' in names: {option} gives another one")


def same_location(one: str, other: str) -> bool:
    """Tell whether two locations are one, whatever their schemes and authorities.

    Example:
        >>> same_location("file:/data/t", "/data/t/"), same_location("s3://bucket/t", "s3a://bucket/t"), same_location("/a", "/b")
        (True, True, False)
    """
    return path_of(one) == path_of(other)


def path_of(location: str) -> str:
    """Return the path of a location; of an object store the bucket is a part of it."""
    scheme, colon, rest = location.partition(":")
    if not colon or "/" in scheme:
        return location.rstrip("/")
    if not rest.startswith("//"):
        return rest.rstrip("/")
    authority, _, path = rest[2:].partition("/")
    prefix = authority if scheme.startswith(("s3", "gs", "abfs", "wasb")) else ""
    return f"{prefix}/{path}".rstrip("/")
