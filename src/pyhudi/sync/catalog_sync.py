"""What a catalog has to do to take part in the synchronisation, and the values that go to it and come from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

#: The values of a partition, one for each partition column.
Values: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column with its type as Hive writes it."""

    name: str
    type: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A table as a catalog describes it. `is_managed` is true for a managed table: dropping it in Hive deletes its files.

    `is_view` is true for a view, which has no files.
    """

    columns: tuple[CatalogColumn, ...]
    partition_columns: tuple[CatalogColumn, ...]
    location: str
    input_format: str
    output_format: str
    serde_class: str
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    is_managed: bool = False
    is_view: bool = False

    @property
    def is_hudi(self) -> bool:
        """Whether this is a Hudi table: by its input format, by Spark's data source, or because a sync has written to it."""
        formats = self.input_format.lower()
        is_source = self.properties.get("spark.sql.sources.provider", "").lower() == "hudi"
        return not self.is_view and (is_source or "hudi" in formats or "hoodie" in formats or "last_commit_time_sync" in self.properties)


class CatalogSync(Protocol):
    """One database of a catalog. All methods raise `CatalogError` when the catalog does not answer or refuses."""

    def has_database(self) -> bool:
        """Tell whether the database exists."""
        ...

    def create_database(self) -> None:
        """Create the database; nothing happens when another process was faster."""
        ...

    def table(self, name: str) -> CatalogEntry | None:
        """Return a table with what it was created with, None when there is none; something else of that name is left as it is."""
        ...

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        """Create a table."""
        ...

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        """Give a table the columns, formats and properties of an entry; properties that the entry lacks stay.

        Partition columns keep their names, and may have other types and comments.
        `cascade` says that the columns have changed, so that the partitions get them too.
        """
        ...

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        """Add properties to a table, or change them."""
        ...

    def drop_table(self, name: str) -> None:
        """Drop a table, not its files."""
        ...

    def partitions(self, name: str, among: Collection[Values] | None = None) -> dict[Values, str]:
        """Return the locations of the partitions by their values: of all, or of some as far as they exist."""
        ...

    def add_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Add partitions by their values and locations, with the columns and formats of the table; one that exists stays."""
        ...

    def change_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        """Give partitions other locations, and a new time of change."""
        ...

    def drop_partitions(self, name: str, partitions: Sequence[Values]) -> None:
        """Drop partitions, not their files; one that does not exist is passed over."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...
