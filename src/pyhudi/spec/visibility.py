"""Which instants a reader may see, as a small value that a task can carry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a reader of one timestamp takes for committed.

    `committed` are the completed data instants on the active timeline; below `archive_boundary` everything counts as archived
    and thus completed, unless it is `pending`; `until` is the greatest requested time that the moment sees, None for
    now.
    """

    committed: frozenset[str]
    archive_boundary: str | None = None
    until: str | None = None
    pending: frozenset[str] = frozenset()

    def is_visible(self, requested: str) -> bool:
        """Tell whether what the instant of that requested time wrote is visible.

        Only completed instants leave the active timeline for the archive, hence the second half.
        """
        if requested in self.committed:
            return True
        if requested in self.pending or (self.until is not None and requested > self.until):
            return False
        return self.archive_boundary is not None and requested < self.archive_boundary
