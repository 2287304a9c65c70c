"""Which merge modes this release can merge by. Rules: `RecordMergeMode`, RFC-97."""

from __future__ import annotations

from pyhudi.errors import UnsupportedError
from pyhudi.spec.merge_mode import MergeMode

__all__ = ["MergeMode", "check_served"]


def check_served(mode: MergeMode) -> None:
    """Refuse what this release cannot merge.

    Raises:
        UnsupportedError: the mode is CUSTOM.
    """
    if mode is MergeMode.CUSTOM:
        raise UnsupportedError(
            "hoodie.record.merge.mode=CUSTOM merges records by Java classes of its own, which this release does not "
            "serve; COMMIT_TIME_ORDERING and EVENT_TIME_ORDERING are served."
        )
