"""How a table decides which of two records with the same key stays.

Rules: `RecordMergeMode`, RFC-97.
"""

from __future__ import annotations

import enum

from pyhudi.errors import UnsupportedError


class MergeMode(enum.StrEnum):
    """Values of `hoodie.record.merge.mode`."""

    COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
    EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"
    CUSTOM = "CUSTOM"

    def check_served(self) -> None:
        """Refuse what this release cannot merge.

        Raises:
            UnsupportedError: the mode is CUSTOM.
        """
        if self is MergeMode.CUSTOM:
            raise UnsupportedError(
                "hoodie.record.merge.mode=CUSTOM merges records by Java classes of its own, which this release does not serve; "
                "COMMIT_TIME_ORDERING and EVENT_TIME_ORDERING are served."
            )
