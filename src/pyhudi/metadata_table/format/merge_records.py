"""What two records of one key make together.

Rules: `HoodieMetadataPayload.preCombine`, `HoodieTableMetadataUtil.mergeColumnStatsRecords`;
docs/format/metadata-table.md#merging-of-metadata-records. A delete block's key removes whatever is older; that is the reader's business,
not this module's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, FileEntry, FileList, MetadataRecord, SecondaryEntry


@dataclass(frozen=True, slots=True)
class Joined:
    """What the changes of a key come to, whatever record they meet: first the key goes, if it `wipes`, then comes the record, if any."""

    record: MetadataRecord | None
    wipes: bool


def merge(older: MetadataRecord | None, newer: MetadataRecord) -> MetadataRecord | None:
    """Return what stands for the key after both, None for nothing.

    Raises:
        CorruptTableError: the records are of different kinds.
    """
    if older is not None and _kind(older) != _kind(newer):
        raise CorruptTableError(f"the metadata table holds records of the kinds {_kind(older)} and {_kind(newer)} under one key")
    if isinstance(newer, SecondaryEntry):
        return None if newer.is_deleted else newer
    if isinstance(older, FileList) and isinstance(newer, FileList):
        return _merge_lists(older, newer)
    if isinstance(older, ColumnStats) and isinstance(newer, ColumnStats):
        return _merge_stats(older, newer)
    return newer


def join(changes: Iterable[MetadataRecord | None]) -> Joined:
    """Return what changes of a key do to any record before them, None among them being deletes; oldest first.

    That is more than `merge` says of two of them: what was deleted stays deleted in what comes before.

    Raises:
        CorruptTableError: as in `merge`.

    Example:
        >>> join([SecondaryEntry(), None])
        Joined(record=None, wipes=True)
    """
    record: MetadataRecord | None = None
    wipes = False
    for change in changes:
        if change is None:
            record, wipes = None, True
        elif record is None:
            record = change
        else:
            wipes = wipes or _hides_older(record)
            record = _join_bounds(record, change)
    return Joined(record, record is None or (wipes and not _hides_older(record)))


def _join_bounds(older: MetadataRecord, newer: MetadataRecord) -> MetadataRecord:
    merged = merge(older, newer)
    if isinstance(merged, FileList) and isinstance(newer, FileList):
        removed = {name: entry for name, entry in newer.entries.items() if entry.is_deleted}
        return FileList(merged.type, {**merged.entries, **removed})
    return newer if merged is None else merged


def _hides_older(record: MetadataRecord) -> bool:
    """Tell whether nothing of an older record is left once this one has come."""
    return not isinstance(record, FileList | ColumnStats) or are_whole_stats(record)


def are_whole_stats(record: MetadataRecord) -> bool:
    """Tell whether a record is statistics that take nothing from older ones: exact bounds, as those of most partitions, or a deletion."""
    return isinstance(record, ColumnStats) and (record.is_deleted or record.is_tight_bound)


def merge_all(older: MetadataRecord | None, changes: Iterable[MetadataRecord | None]) -> MetadataRecord | None:
    """Return what stands for a key after changes one after the other, None among them being deletes; errors as in `merge`.

    Lists of files, which may be long, are copied once for all changes.
    """
    is_live = older
    entries: dict[str, FileEntry] | None = None
    for change in changes:
        if isinstance(is_live, FileList) and isinstance(change, FileList) and is_live.type is change.type:
            if entries is None:
                entries = dict(is_live.entries)
                is_live = FileList(is_live.type, entries)
            _add(entries, change.entries)
        else:
            is_live, entries = None if change is None else merge(is_live, change), None
    return is_live


def merge_onto(record: MetadataRecord | None, changes: Iterable[MetadataRecord | None]) -> MetadataRecord | None:
    """Return what a record of a base file (None: there is none) becomes through the changes; errors as in `merge`."""
    return merge_all(None if record is None else merge(None, record), changes)


def is_tombstone(record: MetadataRecord) -> bool:
    """Tell whether a record only says that something is deleted: where nothing older can come any more, it says nothing."""
    return isinstance(record, ColumnStats | BloomFilterRecord | SecondaryEntry) and record.is_deleted


def _kind(record: MetadataRecord) -> str:
    return record.type.name if isinstance(record, FileList | ColumnStats) else type(record).__name__


def _merge_lists(older: FileList, newer: FileList) -> FileList:
    entries = dict(older.entries)
    _add(entries, newer.entries)
    return FileList(newer.type, entries)


def _add(entries: dict[str, FileEntry], newer: Mapping[str, FileEntry]) -> None:
    """A deletion removes the live entry it meets; one that meets none is kept, for older records still to come."""
    for name, entry in newer.items():
        known = entries.get(name)
        if known is None:
            entries[name] = entry
        elif known.is_deleted == entry.is_deleted:
            size = entry.size if entry.is_deleted else max(known.size, entry.size)
            entries[name] = FileEntry(size, entry.is_deleted)
        elif entry.is_deleted:
            del entries[name]
        else:
            entries[name] = entry


def _merge_stats(older: ColumnStats, newer: ColumnStats) -> ColumnStats:
    if older.is_deleted or are_whole_stats(newer):
        return newer
    with_bounds = older if newer.minimum is None and older.minimum is not None else newer
    return replace(
        newer,
        value_type=with_bounds.value_type,
        type_info=with_bounds.type_info,
        minimum=_extreme(min, older.minimum, newer.minimum),
        maximum=_extreme(max, older.maximum, newer.maximum),
        value_count=_sum(older.value_count, newer.value_count),
        null_count=_sum(older.null_count, newer.null_count),
        total_size=_sum(older.total_size, newer.total_size),
        total_uncompressed_size=_sum(older.total_uncompressed_size, newer.total_uncompressed_size),
    )


def _extreme(choose: Any, *values: object) -> object:
    present = [value for value in values if value is not None]
    try:
        return choose(present, default=None)
    except TypeError:
        kinds = " and ".join(sorted({type(value).__name__ for value in present}))
        raise CorruptTableError(f"the metadata table holds bounds of the kinds {kinds} for one column") from None


def _sum(older: int | None, newer: int | None) -> int | None:
    return newer if older is None else older + (newer or 0)
