"""What a synchronisation did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True)
class SyncedTable:
    """One table of a catalog: what happened to it (`created`, `recreated`, `updated`, `unchanged`), and to how many partitions."""

    name: str
    action: str
    added: int = 0
    changed: int = 0
    dropped: int = 0
    touched: int = 0

    def followed_by(self, later: SyncedTable) -> SyncedTable:
        """Return what this and a later change did together."""
        action = later.action if self.action == "unchanged" or later.action == "recreated" else self.action
        counts = (getattr(self, name) + getattr(later, name) for name in ("added", "changed", "dropped", "touched"))
        return SyncedTable(self.name, action, *counts)

    def __str__(self) -> str:
        """Return a sentence."""
        counts = {"added": self.added, "changed": self.changed, "dropped": self.dropped, "touched": self.touched}
        partitions = ", ".join(f"{count} {verb}" for verb, count in counts.items() if count)
        return f"{self.name} {self.action}" + (f" (partitions: {partitions})" if partitions else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        counts = {"added": self.added, "changed": self.changed, "dropped": self.dropped, "touched": self.touched}
        return {"name": self.name, "action": self.action, **counts}


@dataclass(frozen=True, slots=True, repr=False)
class SyncResult(ShownResult):
    """A synchronisation of a table with one catalog.

    Attributes:
        catalog: which one, such as `hive metastore thrift://localhost:9083`.
        database: the database in the catalog.
        instant: requested time of the newest commit that the catalog knows now; None for a table without commits.
        tables: the tables of the catalog.
        leftovers: entries of the catalog that describe this table and that no sync brings up to date, since its type or the strategy has
            changed: `_ro` and `_rt` of a table that was merge-on-read.
        error: why the sync failed, where `hoodie.datasource.hive_sync.ignore_exceptions` lets it.
    """

    catalog: str
    database: str
    instant: str | None
    tables: tuple[SyncedTable, ...]
    leftovers: tuple[str, ...] = ()
    error: str | None = None

    def __str__(self) -> str:
        """Return a sentence."""
        if self.error is not None:
            return f"not synchronised with {self.catalog}: {self.error}"
        left = f"; left over: {', '.join(self.leftovers)}" if self.leftovers else ""
        return f"synchronised with {self.catalog}, database {self.database}: {'; '.join(map(str, self.tables))}{left}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return {
            "catalog": self.catalog,
            "database": self.database,
            "instant": self.instant,
            "tables": [table.to_dict() for table in self.tables],
            "leftovers": list(self.leftovers),
            "error": self.error,
        }
