"""Keeping the metadata table in step with its table: what a writer calls while it holds the table's lock.

Rules: `HoodieBackedTableMetadataWriter`; docs/format/metadata-table.md#initialization, #what-each-action-records,
#services-of-the-metadata-table; docs/design/0070-hfile-and-metadata-table.md.

    find, prepare   before an action's instant is put on the timeline: the metadata table is there, whole, and knows all
    record_*        before the action's instant completes
    maintain        when it has completed
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_partitions import (
    EXPRESSION_PREFIX,
    FILES,
    PARTITION_STATS,
    RECORD_INDEX,
    SECONDARY_PREFIX,
)
from pyhudi.metadata_table.format.metadata_settings import DEFAULTS, MetadataSettings
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.index_kind import PartitionKind
from pyhudi.metadata_table.indexes.index_kinds import with_kinds
from pyhudi.metadata_table.read.instant_times import last_delta_commit
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.services.metadata_clean import AFTER_COMPACTION, clean_if_due
from pyhudi.metadata_table.services.metadata_compaction import compact_if_due, compact_partitions, delta_commits, may_compact
from pyhudi.metadata_table.services.metadata_log_compaction import log_compact_if_due, unjoined_delta_commits
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class MetadataSync:
    """A table and its metadata table under the table's lock; `view` shows the table as it is before the action."""

    storage: Storage
    config: TableConfig
    view: FileSystemView
    mdt: MetadataWriterTable
    settings: MetadataSettings = DEFAULTS

    def record_commit(self, instant: str, metadata: CommitMetadata, schema: pa.Schema | None) -> MetadataSync:
        """Record a commit, deltacommit, compaction, clustering or overwrite that is about to complete, and return the table with it.

        Args:
            instant: its requested time.
            metadata: what it did.
            schema: the table's data columns with it, with the history of its schema if it has one; None when it does not say.

        Raises:
            CorruptTableError: the metadata table is damaged, or a written file has no whole footer.
            StorageError: the storage failed; the action must not complete.
        """
        table = DataTable(self.view, self.mdt, schema, self.settings)
        changes = {name: kind.of_commit(table, name, instant, metadata) for name, kind in self._kinds.items()}
        return replace(self, mdt=write_changes(self.mdt, instant, changes, self.config.metadata_partitions_inflight))

    def in_order(self, instant: str, *, keys: bool = False) -> MetadataSync:
        """Return the table with a metadata table in which records of an instant count after all others, as they must.

        Records of one key count in the order of requested times (docs/format/data-files.md#file-system-view), and an action that took long
        is recorded after others that began later. What they say of the same keys comes into base files first: bounds of partitions, and
        which partitions were dropped; and where records are, with `keys`, which says that others may have written the same ones.

        Raises:
            StorageError: the storage failed; the action must not complete.
        """
        if last_delta_commit(self.mdt) <= instant:
            return self
        cleans = self.view.timeline.completed(Action.CLEAN)
        names = [name for name in self.config.metadata_partitions if name == PARTITION_STATS or name.startswith(EXPRESSION_PREFIX)]
        if keys:
            names += [name for name in self.config.metadata_partitions if name == RECORD_INDEX or name.startswith(SECONDARY_PREFIX)]
        if any(clean.requested > instant for clean in cleans):
            names.append(FILES)
        return replace(self, mdt=compact_partitions(self.mdt, names)) if names else self

    def record_clean(self, instant: str, metadata: CleanMetadata) -> MetadataSync:
        """Record a clean that has deleted its files and is about to complete; errors as in `record_commit`."""
        table = DataTable(self.view, self.mdt, None, self.settings)
        changes = {name: kind.of_clean(table, name, instant, metadata) for name, kind in self._kinds.items()}
        recorded = {name: change for name, change in changes.items() if change is not None}
        return replace(self, mdt=write_changes(self.mdt, instant, recorded, self.config.metadata_partitions_inflight))

    def maintain(self) -> MetadataSync:
        """Compact, clean and log compact the metadata table if that is due; after the action completed, while the lock is still held.

        Returns:
            The table with its metadata table as it is then.

        Raises:
            StorageError: the storage failed; the metadata table is as good as before.
        """
        waiting = any(instant.action is not Action.DELTA_COMMIT for instant in self.mdt.timeline.pending())
        now, limit = delta_commits(self.mdt), self.settings.max_delta_commits
        blocks = self.settings.log_compaction_blocks
        joins = blocks is not None and unjoined_delta_commits(self.mdt) >= blocks
        if not (waiting or joins or now == AFTER_COMPACTION or now >= limit):
            return self  # the timeline is read again only for something to do
        mdt, inflight, data = self.mdt.reload(), self.config.metadata_partitions_inflight, self.view.timeline
        if may_compact(mdt, data):
            mdt = compact_if_due(mdt, limit, inflight)
        mdt = clean_if_due(mdt, inflight, self.settings)
        if blocks is not None:
            mdt = log_compact_if_due(mdt, data, blocks, inflight)
        return replace(self, mdt=mdt)

    @property
    def _kinds(self) -> Mapping[str, PartitionKind]:
        return with_kinds((*self.config.metadata_partitions, *self.config.metadata_partitions_inflight))
