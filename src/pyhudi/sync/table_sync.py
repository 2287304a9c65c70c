"""The synchronisation of one name of a table with one catalog.

Rules: `HiveSyncTool.syncHoodieTable`. The times of the last commit are written to the catalog last: a sync that was cut off leaves the
old ones, so that the next one does its work again. Different from Apache Hudi: the description of the table is compared at every sync, also
when there is no new commit, and all partitions are when an option that decides on them has changed; and a sync that changed something
looks again when commits or other syncs came in between, so that the one that knows less does not have the last word.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CatalogError
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.sync.catalog_sync import CatalogEntry, CatalogSync
from pyhudi.sync.entry_changes import merged_entry, same_location, with_advice_on_names
from pyhudi.sync.partition_sync import LocatedPartitions, located_partitions, sync_partitions
from pyhudi.sync.storage_partitions import TableState
from pyhudi.sync.sync_result import SyncedTable
from pyhudi.sync.sync_settings import TABLE, SyncSettings
from pyhudi.sync.table_description import PARTITION_OPTIONS, described_table, partition_options
from pyhudi.txn.release import VERSION

_log = logging.getLogger(__name__)
RECREATE: Final = "hoodie.datasource.hive_sync.recreate_table_on_error"
_WRITER: Final = "hudi_writer_version"
#: How often a sync looks again at most; while a concurrent writer never rests, the next sync goes on.
_MORE_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class TableSync:
    """One name of the table in one catalog."""

    catalog: CatalogSync
    settings: SyncSettings
    name: str
    read_optimized: bool

    @property
    def _qualified(self) -> str:
        return f"{self.settings.database}.{self.name}"

    def run(self, state: TableState) -> tuple[SyncedTable, TableState]:
        """Bring the catalog's table up to date; return what was done, and the state of the table that the catalog knows now.

        Raises:
            UsageError: the extractor cannot take the path of a partition.
            CatalogError: the catalog does not answer or refuses, or the name is that of something else.
        """
        before = self._entry()
        if before is not None and state.is_behind(before.properties):
            state = state.reloaded()
        done = self._attempt(state, before, before)
        change = done
        for _ in range(_MORE_ROUNDS):
            fresh = state.reloaded()
            if change.action == "unchanged" or fresh.markers() == state.markers():
                break
            change = self._attempt(fresh, self._entry(), before)
            done, state = done.followed_by(change), fresh
        return done, state

    def _entry(self) -> CatalogEntry | None:
        """Return the catalog's table.

        Raises:
            CatalogError: there is something of that name that is no Hudi table.
        """
        entry = self.catalog.table(self.name)
        if entry is not None and not entry.is_hudi:
            kind = "a view" if entry.is_view else f"a table at {entry.location} that is none of Hudi"
            raise CatalogError(
                f"{self._qualified} in the catalog is {kind}, and is left as it is: give the table another name with {TABLE}, or drop"
                f" {self._qualified} where it is no longer needed"
            )
        return entry

    def _attempt(self, state: TableState, entry: CatalogEntry | None, before: CatalogEntry | None) -> SyncedTable:
        schema = table_schema(state.storage, state.config, state.timeline)
        described = described_table(self.settings, state.storage, schema, read_optimized=self.read_optimized)
        try:
            return self._sync(state, described, entry, before)
        except CatalogError as error:
            if not self.settings.options.flag(RECREATE):
                raise
            if self._entry() is None:
                raise  # it is not an entry of the catalog that is in the way
            _log.warning("%s is recreated in the catalog: %s", self._qualified, error)
            return self._recreate(state, described)

    def _sync(self, state: TableState, described: CatalogEntry, entry: CatalogEntry | None, before: CatalogEntry | None) -> SyncedTable:
        """Make the table, or change it; `before` is how it was when this sync began, with the times of the commits known then."""
        if entry is None:
            target = located_partitions(self.settings, state, described.location, None)
            try:
                self.catalog.create_table(self.name, described)
            except CatalogError as error:
                entry = self._entry()
                if entry is None:
                    raise with_advice_on_names(error, TABLE) from error
                _log.info("%s was made by another sync meanwhile", self._qualified)
                return self._sync(state, described, entry, before)
            return self._finish(state, "created", target, None)
        if not same_location(entry.location, described.location):
            _log.warning("%s was a table at %s, and is recreated for %s", self._qualified, entry.location, described.location)
            return self._recreate(state, described)
        stated, known = ([column.name for column in one.partition_columns] for one in (described, entry))
        if stated != known:
            raise CatalogError(
                f"table {self._qualified} of the catalog has the partition columns {known}, not {stated}, and these cannot be changed:"
                f" {self._advice}"
            )
        merged = merged_entry(entry, described)
        # Partitions are located before the catalog is changed: an extractor that does not fit shall leave it as it was.
        # They get the scheme that the catalog has for the table: s3 and s3a are one location, and its readers may know one of them.
        target = located_partitions(self.settings, state, entry.location, {} if before is None else before.properties)
        if merged.is_changed:
            self._alter(merged.entry, cascade=merged.has_new_columns and bool(stated))
        return self._finish(state, "updated" if merged.is_changed else "unchanged", target, entry)

    @property
    def _advice(self) -> str:
        return f"{RECREATE}=true drops {self._qualified} from the catalog, not its files, and makes it again"

    def _alter(self, entry: CatalogEntry, *, cascade: bool) -> None:
        try:
            self.catalog.alter_table(self.name, entry, cascade=cascade)
        except CatalogError as error:
            if "refused" not in str(error):
                raise
            raise CatalogError(f"{error}. {self._advice}") from error

    def _recreate(self, state: TableState, described: CatalogEntry) -> SyncedTable:
        target = located_partitions(self.settings, state, described.location, None)
        self.catalog.drop_table(self.name)
        self.catalog.create_table(self.name, described)
        return self._finish(state, "recreated", target, None)

    def _finish(self, state: TableState, action: str, target: LocatedPartitions, entry: CatalogEntry | None) -> SyncedTable:
        """Bring the partitions up to date and write the times of the last commit; `entry` is None for a table that is new."""
        counts = sync_partitions(self.catalog, self.settings, state, self.name, target, is_new=entry is None)
        if counts.any and action == "unchanged":
            action = "updated"
        self._note_commit(state, {} if entry is None else entry.properties, is_changed=action != "unchanged")
        return SyncedTable(self.name, action, counts.added, counts.changed, counts.dropped, counts.touched)

    def _note_commit(self, state: TableState, previous: Mapping[str, str], *, is_changed: bool) -> None:
        """Write the times of the last commit, and which options decided on the partitions, where the catalog has others."""
        markers = {**state.markers(), PARTITION_OPTIONS: partition_options(self.settings)}
        if previous.items() >= markers.items():
            return
        if is_changed or not self.settings.options.flag("hoodie.datasource.meta_sync.condition.sync"):
            self.catalog.set_properties(self.name, {**markers, _WRITER: f"pyhudi {VERSION}"})
