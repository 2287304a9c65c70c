"""Brings the partitions of a catalog's table up to date. Rules: `HoodieSyncClient.getPartitionEvents`, `HiveSyncTool.syncAllPartitions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyhudi.errors import UsageError
from pyhudi.sync.catalog_sync import CatalogSync, Values
from pyhudi.sync.entry_changes import same_location
from pyhudi.sync.partition_values import partition_values
from pyhudi.sync.storage_partitions import PartitionChanges, TableState
from pyhudi.sync.sync_settings import SyncSettings
from pyhudi.sync.table_description import PARTITION_OPTIONS, partition_options


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """How many partitions were added, changed, dropped and touched."""

    added: int = 0
    changed: int = 0
    dropped: int = 0
    touched: int = 0

    @property
    def any(self) -> bool:
        """Whether anything was done."""
        return bool(self.added or self.changed or self.dropped or self.touched)


@dataclass(frozen=True, slots=True)
class LocatedPartitions:
    """Locations by partition values: of all partitions of a table if `is_complete`, else of those written to; `emptied` lost all rows.

    `base` is the location of the table.
    """

    base: str
    live: Mapping[Values, str]
    emptied: Mapping[Values, str]
    is_complete: bool


def located_partitions(settings: SyncSettings, state: TableState, base: str, known: Mapping[str, str] | None) -> LocatedPartitions:
    """Return the partitions that a catalog is to be compared with; the catalog is not asked.

    Args:
        settings: how values are taken from paths.
        state: the table in storage.
        base: the location of the table.
        known: the properties of the table in the catalog, with the times of the commits that it knows; None when it is new.

    Raises:
        UsageError: the extractor cannot take a path, or takes the same values from two.
    """
    if not settings.partition_fields or settings.options.flag("hoodie.meta.sync.no_partition_metadata"):
        return LocatedPartitions(base, {}, {}, is_complete=False)
    changes = _changes(settings, state, known)
    live, emptied = (_locations(settings, base, paths) for paths in (changes.live, changes.emptied))
    return LocatedPartitions(base, live, emptied, changes.is_complete)


def sync_partitions(
    catalog: CatalogSync, settings: SyncSettings, state: TableState, name: str, target: LocatedPartitions, *, is_new: bool
) -> PartitionCounts:
    """Add, change and drop partitions of a table of the catalog; `is_new` says that it has none.

    Raises:
        CatalogError: the catalog does not answer or refuses.
    """
    known: dict[Values, str] = {}
    if not is_new and (target.is_complete or target.live or target.emptied):
        known = catalog.partitions(name, None if target.is_complete else [*target.live, *target.emptied])
    added = {values: one for values, one in target.live.items() if values not in known}
    changed = {values: one for values, one in target.live.items() if values in known and not same_location(known[values], one)}
    touched: dict[Values, str] = {}
    if settings.options.flag("hoodie.meta.sync.touch.partitions.enabled") and not target.is_complete:
        touched = {values: one for values, one in target.live.items() if values in known and values not in changed}
    surplus = _surplus(settings, state, target, known)
    if added:
        catalog.add_partitions(name, added)
    if changed or touched:
        catalog.change_partitions(name, {**changed, **touched})
    if surplus:
        catalog.drop_partitions(name, sorted(surplus))
    return PartitionCounts(len(added), len(changed), len(surplus), len(touched))


def _surplus(settings: SyncSettings, state: TableState, target: LocatedPartitions, known: Mapping[Values, str]) -> set[Values]:
    """Return which partitions of the catalog to drop: not those that the sync of a later commit has added."""
    surplus = known.keys() - target.live.keys()
    if not surplus:
        return surplus
    fresh = state.reloaded()
    if fresh.markers() == state.markers():
        return surplus
    return surplus - _locations(settings, target.base, fresh.all_partitions().live).keys()


def _changes(settings: SyncSettings, state: TableState, known: Mapping[str, str] | None) -> PartitionChanges:
    if known is None or not settings.options.flag("hoodie.meta.sync.incremental"):
        return state.all_partitions()
    if known.get(PARTITION_OPTIONS) != partition_options(settings):
        return state.all_partitions()
    return state.partitions_since(known)


def _locations(settings: SyncSettings, base: str, paths: Iterable[str]) -> dict[Values, str]:
    """Return where partitions are, by their values."""
    result: dict[Values, str] = {}
    origins: dict[Values, str] = {}
    for path in sorted(paths):
        values = partition_values(
            settings.extractor, settings.extractor_class, path, settings.partition_fields, decode=settings.decodes_values
        )
        if values is None:
            continue
        if values in result:
            raise UsageError(
                f"the extractor {settings.extractor_class} takes the same values {list(values)} from the partition paths"
                f" '{origins[values]}' and '{path}': the catalog could show one of them only; give another extractor"
            )
        result[values], origins[values] = f"{base.rstrip('/')}/{path}", path
    return result
