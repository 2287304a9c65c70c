"""The synchronisation of a table with the catalogs that its options name.

Rules: `HiveSyncTool.syncHoodieTable`. The times of the last commit are written to the catalog last: a sync that was cut off leaves the
old ones, so that the next one does its work again. Different from Apache Hudi: the description of the table is compared at every sync, also
when there is no new commit, and all partitions are when an option that decides on them has changed.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.errors import CatalogError, HudiError
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.sync.catalog_sync import CatalogEntry, CatalogSync
from pyhudi.sync.entry_changes import Merged, merged_entry, same_location
from pyhudi.sync.open_catalog import catalog_name, open_catalog
from pyhudi.sync.partition_sync import LocatedPartitions, located_partitions, sync_partitions
from pyhudi.sync.storage_partitions import TableState
from pyhudi.sync.sync_result import SyncedTable, SyncResult
from pyhudi.sync.sync_settings import CatalogKind, SyncSettings, sync_settings
from pyhudi.sync.table_description import PARTITION_OPTIONS, described_table, partition_options
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.release import VERSION

_log = logging.getLogger(__name__)
RECREATE: Final = "hoodie.datasource.hive_sync.recreate_table_on_error"
_WRITER: Final = "hudi_writer_version"


def sync_table(storage: Storage, options: Options) -> tuple[SyncResult, ...]:
    """Synchronise a table with its catalogs, all of them also when one fails.

    Args:
        storage: the table.
        options: `hoodie.datasource.hive_sync.*` and `hoodie.meta.sync.*`.

    Returns:
        One result for each catalog.

    Raises:
        OptionError: an option is wrong, contradicts another, or needs a package that is not installed.
        UsageError: the extractor cannot take the path of a partition.
        CatalogError: a catalog does not answer or refuses; what it got so far stays, and the next sync continues.
    """
    config = TableConfig(load_properties(storage))
    settings = sync_settings(options, config)
    results: list[SyncResult] = []
    errors: list[HudiError] = []
    for kind in settings.catalogs:
        try:
            results.append(_sync_catalog(storage, settings.of_catalog(kind), kind))
        except HudiError as error:
            if not options.flag("hoodie.datasource.hive_sync.ignore_exceptions"):
                errors.append(error)
                continue
            _log.warning("table %s is not synchronised with %s: %s", storage.uri, catalog_name(settings, kind), error)
            results.append(SyncResult(catalog_name(settings, kind), settings.database, None, (), str(error)))
    for other in errors[1:]:
        errors[0].add_note(f"another catalog failed too: {other}")
    if errors:
        raise errors[0]
    return tuple(results)


def _sync_catalog(storage: Storage, settings: SyncSettings, kind: CatalogKind | str) -> SyncResult:
    use_metadata_table = settings.options.flag("hoodie.meta.sync.metadata_file_listing")
    state = TableState(storage, settings.config, load_timeline(storage, settings.config), use_metadata_table)
    with contextlib.closing(open_catalog(settings, kind)) as catalog:
        _check_database(catalog, settings)
        tables = [_TableSync(catalog, settings, state, name, read_optimized).run() for name, read_optimized in settings.names()]
    last = state.timeline.last_completed()
    return SyncResult(catalog_name(settings, kind), settings.database, None if last is None else last.requested, tuple(tables))


def _check_database(catalog: CatalogSync, settings: SyncSettings) -> None:
    if catalog.has_database():
        return
    if not settings.options.flag("hoodie.datasource.hive_sync.auto_create_database"):
        raise CatalogError(
            f"the catalog has no database {settings.database}: create it, or set hoodie.datasource.hive_sync.auto_create_database=true"
        )
    catalog.create_database()


@dataclass(frozen=True, slots=True)
class _TableSync:
    """One name of the table in one catalog."""

    catalog: CatalogSync
    settings: SyncSettings
    state: TableState
    name: str
    read_optimized: bool

    @property
    def _qualified(self) -> str:
        return f"{self.settings.database}.{self.name}"

    def run(self) -> SyncedTable:
        """Bring the catalog's table up to date."""
        schema = table_schema(self.state.storage, self.state.config, self.state.timeline)
        described = described_table(self.settings, self.state.storage, schema, read_optimized=self.read_optimized)
        try:
            return self._sync(described, self.catalog.table(self.name))
        except CatalogError as error:
            if not self.settings.options.flag(RECREATE):
                error.add_note(
                    f"{RECREATE}=true drops {self.settings.database}.{self.name} from the catalog, not its files, and makes it again"
                )
                raise
            if self.catalog.table(self.name) is None:
                raise  # it is not an entry of the catalog that is in the way
            _log.warning("%s is recreated in the catalog: %s", self._qualified, error)
            return self._recreate(described)

    def _sync(self, described: CatalogEntry, entry: CatalogEntry | None) -> SyncedTable:
        if entry is None:
            target = self._target(described.location, None)
            self.catalog.create_table(self.name, described)
            return self._finish("created", target, None)
        if not same_location(entry.location, described.location):
            _log.warning("%s was a table at %s, and is recreated for %s", self._qualified, entry.location, described.location)
            return self._recreate(described)
        stated, known = ([column.name for column in one.partition_columns] for one in (described, entry))
        if stated != known:
            raise CatalogError(
                f"table {self._qualified} of the catalog has the partition columns {known}, not {stated}, and these cannot be changed"
            )
        merged = merged_entry(entry, described)
        target = self._target(described.location, merged)
        if merged.is_changed:
            self.catalog.alter_table(self.name, merged.entry, cascade=merged.has_new_columns and bool(stated))
        return self._finish("updated" if merged.is_changed else "unchanged", target, merged)

    def _recreate(self, described: CatalogEntry) -> SyncedTable:
        target = self._target(described.location, None)
        self.catalog.drop_table(self.name)
        self.catalog.create_table(self.name, described)
        return self._finish("recreated", target, None)

    def _target(self, base: str, merged: Merged | None) -> LocatedPartitions:
        """Return the partitions, before the catalog is changed: an extractor that does not fit shall leave it as it was."""
        return located_partitions(self.settings, self.state, base, merged)

    def _finish(self, action: str, target: LocatedPartitions, merged: Merged | None) -> SyncedTable:
        """Bring the partitions up to date and write the times of the last commit; `merged` is None for a table that is new."""
        counts = sync_partitions(self.catalog, self.settings, self.name, target, is_new=merged is None)
        self._note_commit({} if merged is None else merged.previous.properties, is_changed=counts.any or action != "unchanged")
        result = SyncedTable(self.name, action, counts.added, counts.changed, counts.dropped, counts.touched)
        return replace(result, action="updated") if counts.any and action == "unchanged" else result

    def _note_commit(self, previous: Mapping[str, str], *, is_changed: bool) -> None:
        """Write the times of the last commit, and which options decided on the partitions, where the catalog has others."""
        markers = {**self.state.markers(), PARTITION_OPTIONS: partition_options(self.settings)}
        if previous.items() >= markers.items():
            return
        if is_changed or not self.settings.options.flag("hoodie.datasource.meta_sync.condition.sync"):
            self.catalog.set_properties(self.name, {**markers, _WRITER: f"pyhudi {VERSION}"})
