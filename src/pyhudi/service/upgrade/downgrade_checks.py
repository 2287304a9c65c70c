"""What another table version cannot express: a change to it is refused by name, before anything is written.

Rules: `EightToSevenDowngradeHandler`, `NineToEightDowngradeHandler`, `UpgradeDowngradeUtils`. Apache Hudi drops some of these settings
silently; then rows would merge otherwise, or get other keys. Indexes are derived from the rows, so those that a version lacks are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.errors import UnsupportedError
from pyhudi.spec.instant import Action
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import PAYLOADS
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.timeline.timeline import Timeline

_FINISH_FIRST = frozenset({Action.RESTORE, Action.INDEXING})


def check_version_change(config: TableConfig, timeline: Timeline, to: TableVersion, uri: str) -> None:
    """Refuse a change of version that would lose something, or that something pending forbids.

    Args:
        config: the table's properties, with the encoding of its keys where that is known.
        timeline: its active timeline.
        to: the version it is to have.
        uri: of the table, for the error.

    Raises:
        UnsupportedError: names the property or the instant.
    """
    for reason in (*_properties(config, to), *_pending(timeline)):
        raise UnsupportedError(f"table {uri} cannot be moved from version {config.version} to {int(to)}: {reason} Nothing was changed.")


def _properties(config: TableConfig, to: TableVersion) -> Iterator[str]:
    stored = config.properties
    payload = stored.get(keys.LEGACY_PAYLOAD_CLASS) or stored.get(keys.PAYLOAD_CLASS, "")
    if to >= TableVersion.NINE and stored.get(keys.COMPLEX_KEY_ENCODING) == "VALUE_ONLY":
        yield (
            f"its record keys of the one field {config.record_key_fields[0]} are bare values (generator COMPLEX), which version 9 reads and"
            " writes as 'field:value', so that upserts would double rows. Write the rows to a new table instead."
        )
    if to < TableVersion.NINE:
        partial = stored.get(keys.PARTIAL_UPDATE_MODE, "")
        if partial and payload not in PAYLOADS:
            yield f"{keys.PARTIAL_UPDATE_MODE}={partial} is unknown before version 9, and no payload class says the same."
        if len(config.ordering_fields) > 1 and not (payload in PAYLOADS and PAYLOADS[payload].ordering):
            yield f"it has the ordering fields {', '.join(config.ordering_fields)}, and before version 9 a table has one."
        if config.slash_dates:
            yield f"{keys.SLASH_DATES}=true is unknown before version 9, whose writers would make other partition folders."
    if to < TableVersion.EIGHT and config.merge_mode is MergeMode.CUSTOM and not payload:
        yield (
            f"it merges by the strategy {stored.get(keys.MERGE_STRATEGY_ID, '') or 'CUSTOM'}, and in version 6 only a payload class"
            f" ({keys.PAYLOAD_CLASS}) can say how to merge."
        )


def _pending(timeline: Timeline) -> Iterator[str]:
    for instant in timeline.pending():
        if instant.action in _FINISH_FIRST:
            yield f"{instant.action} {instant.requested} is pending. Finish it, or roll it back, first."
