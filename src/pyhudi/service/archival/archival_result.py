"""What an archival says when it is planned or done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyhudi.service.table_service import COMPLETED, PLANNED
from pyhudi.spec.instant import Instant
from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True, repr=False)
class ArchivalResult(ShownResult):
    """The instants that left the active timelines of a table and of its metadata table, or would: `state` is `planned` for a dry run.

    `kept_because` says what keeps the next commit of the table where it is; empty when there are few enough.
    """

    instants: tuple[Instant, ...] = ()
    metadata_instants: tuple[Instant, ...] = ()
    kept_because: str = ""
    state: str = COMPLETED

    def __str__(self) -> str:
        retained = f"; the next one stays: {self.kept_because}" if self.kept_because else ""
        verb = "would archive" if self.state == PLANNED else "archived"
        return f"{verb} {_count(self.instants)}, of the metadata table {_count(self.metadata_instants)}{retained}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return {
            "state": self.state,
            "instants": [instant.requested for instant in self.instants],
            "metadata_instants": [instant.requested for instant in self.metadata_instants],
            "kept_because": self.kept_because,
        }


def _count(instants: tuple[Instant, ...]) -> str:
    if not instants:
        return "nothing"
    return f"{len(instants)} instants, {instants[0].requested} to {instants[-1].requested}"
