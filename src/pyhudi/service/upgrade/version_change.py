"""What a change of the table version does, or would on a dry run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True, repr=False)
class VersionChange(ShownResult):
    """The change of a table from one version to another.

    Attributes:
        origin: the version that the table had; equal to `to` when there was nothing to do.
        to: the version that it has then.
        rolled_back: requested times of the failed writes that are rolled back first.
        compacted: requested times of the compactions that ran first; on a dry run those that are pending.
        instants: how many instants of the active timeline get new files.
        archived: how many archived instants are put into the archive of the other layout.
        properties: entries of `hoodie.properties` that are set, by name.
        removed: names of the entries that are removed.
        indexes_dropped: partitions of the metadata table that the version does not have.
        indexes_rebuilt: partitions of the metadata table that are rebuilt.
        dry_run: whether nothing was done.
    """

    origin: int
    to: int
    rolled_back: tuple[str, ...] = ()
    compacted: tuple[str, ...] = ()
    instants: int = 0
    archived: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    indexes_dropped: tuple[str, ...] = ()
    indexes_rebuilt: tuple[str, ...] = ()
    dry_run: bool = False

    def __str__(self) -> str:
        if self.origin == self.to:
            return f"the table has version {self.to} already"
        verb = "would change" if self.dry_run else "changed"
        dropped = f"; dropped indexes: {', '.join(self.indexes_dropped)}" if self.indexes_dropped else ""
        return (
            f"{verb} from version {self.origin} to {self.to}: {self.instants} active and {self.archived} archived instants converted,"
            f" {len(self.properties)} properties set, {len(self.removed)} removed{dropped}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return {
            "origin": self.origin,
            "to": self.to,
            "rolled_back": list(self.rolled_back),
            "compacted": list(self.compacted),
            "instants": self.instants,
            "archived": self.archived,
            "properties": dict(self.properties),
            "removed": list(self.removed),
            "indexes_dropped": list(self.indexes_dropped),
            "indexes_rebuilt": list(self.indexes_rebuilt),
            "dry_run": self.dry_run,
        }
