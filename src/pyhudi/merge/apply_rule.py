"""What becomes of a record when a later version comes, stated on two versions: slow and obvious. Which version wins: `merge_rules`.

Rules: `BufferedRecordMerger` and its kinds; docs/format/merging.md. A slice is merged by applying the versions in its logs, in their
order, to the row of its base file, as if each had rewritten it. Apache Hudi merges the versions of the logs with each other first, which
lets a late partial update mix values into a newer row, and fills a re-inserted record from the row that was deleted before; here it does
not. The kernels do the same on columns; a property test holds the two equal.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Any, Final

from pyhudi.merge.custom import RecordMerger
from pyhudi.merge.merge_rules import RecordVersion, incoming_wins
from pyhudi.merge.partial_update import FillPolicy, Record, fill_missing, overlay_values
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spec.table.merge_mode import MergeMode


class _Marker(enum.Enum):
    ABSENT = "not brought"


#: An ordering value that a version does not bring: it counts as equal to the one that is there.
ABSENT: Final = _Marker.ABSENT


def apply_incoming(
    stored: RecordVersion | None,
    incoming: RecordVersion,
    mode: MergeMode,
    fill_policy: FillPolicy | None = None,
    merger: RecordMerger | None = None,
) -> RecordVersion:
    """Return the live version when `incoming` comes to `stored`: `stored` itself when that has no effect.

    Args:
        stored: what was there, None for nothing; a delete stays there as what later versions must beat.
        incoming: what comes.
        mode: the table's merge mode.
        fill_policy: which values are filled from the version that loses.
        merger: merges two versions that are no deletes, in the mode CUSTOM.
    """
    incoming = replace(incoming, ordering=_fill_ordering(incoming.ordering, None if stored is None else stored.ordering))
    if stored is None or stored.by_commit_time or incoming.by_commit_time:
        return incoming
    both_live = not (stored.deletes or incoming.deletes)
    if both_live and merger is not None:
        return _by_merger(stored, incoming, merger)
    if not incoming_wins(stored, incoming, mode):
        return (
            _merge_late(stored, incoming, fill_policy)
            if both_live and fill_policy is not None and incoming.present_columns is None
            else stored
        )
    return _merge_newer(stored, incoming, fill_policy) if both_live else incoming


def _fill_ordering(values: tuple[Any, ...], stored: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Return the ordering values, those that were not brought taken from what is there."""
    stored_values = (None,) * len(values) if stored is None else stored
    return tuple(old if value is ABSENT else value for value, old in zip(values, stored_values, strict=True))


def _merge_newer(stored: RecordVersion, incoming: RecordVersion, fill_policy: FillPolicy | None) -> RecordVersion:
    record = overlay_values(incoming.record, incoming.present_columns, stored.record)
    if fill_policy is not None:
        record = {**fill_missing(record, stored.record, fill_policy), **_meta(incoming.record)}
    return replace(incoming, record=record, present_columns=None)


def _merge_late(stored: RecordVersion, incoming: RecordVersion, fill_policy: FillPolicy) -> RecordVersion:
    record = {**fill_missing(stored.record, incoming.record, fill_policy), **_meta(stored.record)}
    return stored if record == stored.record else replace(stored, record=record)


def _by_merger(stored: RecordVersion, incoming: RecordVersion, merger: RecordMerger) -> RecordVersion:
    merged = merger.merge(stored.record, overlay_values(incoming.record, incoming.present_columns, stored.record))
    if merged is stored.record:
        return stored
    if merged is None:
        return replace(incoming, deletes=True)
    return replace(incoming, record={**merged, **_meta(incoming.record)})


def _meta(record: Record) -> dict[str, Any]:
    return {name: record[name] for name in META_COLUMNS if name in record}
