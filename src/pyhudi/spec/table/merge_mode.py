"""Which of two records with one key wins: the merge mode, and how it follows from older settings.

Rules: `RecordMergeMode`, `HoodieTableConfig.inferMergingConfigs`, RFC-97. Before version 9 the payload class decided.
"""

from __future__ import annotations

import enum

from pyhudi.errors import UnsupportedError

_MODEL = "org.apache.hudi.common.model."
EVENT_TIME_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
#: Says that the mode CUSTOM merges by a payload class, or by a merger that has no id of its own.
PAYLOAD_STRATEGY = "00000000-0000-0000-0000-000000000000"
CUSTOM_STRATEGY = "1897ef5f-18bc-4557-939c-9d6a8afd1519"


class MergeMode(enum.StrEnum):
    """Rule by which the surviving record is chosen."""

    COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
    EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"
    CUSTOM = "CUSTOM"

    @property
    def strategy_id(self) -> str | None:
        """The id under which version 8 stores the mode's merger; None for custom ones."""
        return _STRATEGIES.get(self)

    @property
    def payload_class(self) -> str | None:
        """The payload class that version 8 stores in addition to the mode; None for custom ones."""
        return _DEFAULT_PAYLOADS.get(self)


_STRATEGIES = {
    MergeMode.EVENT_TIME_ORDERING: EVENT_TIME_STRATEGY,
    MergeMode.COMMIT_TIME_ORDERING: COMMIT_TIME_STRATEGY,
}
_DEFAULT_PAYLOADS = {
    MergeMode.EVENT_TIME_ORDERING: _MODEL + "DefaultHoodieRecordPayload",
    MergeMode.COMMIT_TIME_ORDERING: _MODEL + "OverwriteWithLatestAvroPayload",
}
_PAYLOADS = {
    _MODEL + "DefaultHoodieRecordPayload": MergeMode.EVENT_TIME_ORDERING,
    _MODEL + "EventTimeAvroPayload": MergeMode.EVENT_TIME_ORDERING,
    _MODEL + "OverwriteWithLatestAvroPayload": MergeMode.COMMIT_TIME_ORDERING,
}


def parse_merge_mode(text: str) -> MergeMode:
    """Return the mode that a table or an option names.

    Raises:
        UnsupportedError: no mode has this name.
    """
    try:
        return MergeMode(text.strip().upper())
    except ValueError:
        known = ", ".join(MergeMode)
        raise UnsupportedError(f"hoodie.record.merge.mode={text} is unknown; known are {known}") from None


def infer_merge_mode(*, payload_class: str | None, strategy_id: str | None, has_ordering: bool) -> MergeMode:
    """Return the mode of a table or write that does not name one.

    A payload class decides first: version 6 stored the event-time strategy with payloads of any kind.

    Example:
        >>> infer_merge_mode(payload_class=None, strategy_id=None, has_ordering=True)
        <MergeMode.EVENT_TIME_ORDERING: 'EVENT_TIME_ORDERING'>
    """
    if payload_class:
        return _PAYLOADS.get(payload_class, MergeMode.CUSTOM)
    if strategy_id:
        by_strategy = {strategy: mode for mode, strategy in _STRATEGIES.items()}
        return by_strategy.get(strategy_id, MergeMode.CUSTOM)
    return MergeMode.EVENT_TIME_ORDERING if has_ordering else MergeMode.COMMIT_TIME_ORDERING
