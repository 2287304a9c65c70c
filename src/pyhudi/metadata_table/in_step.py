"""Keeping the metadata table in step with its table: what a writer calls while it holds the table's lock.

Rules: `HoodieBackedTableMetadataWriter`; format notes (metadata table) 2.3 to 2.5; docs/design/0070-hfile-and-metadata-table.md.

    prepare   before an action's instant is put on the timeline: the metadata table is there, whole, and knows all
    record_*  before the action's instant completes
    maintain  when it has completed
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.view import FileSystemView
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.commit import write_changes
from pyhudi.metadata_table.compact import MAX_DELTA_COMMITS, compact_if_due
from pyhudi.metadata_table.data_table import DataTable
from pyhudi.metadata_table.index_definitions import PATH, PATH_PROPERTY, render_definitions
from pyhudi.metadata_table.initialise import build_partition
from pyhudi.metadata_table.kind import PartitionKind
from pyhudi.metadata_table.kinds import kind_of, with_kinds
from pyhudi.metadata_table.own import OwnTable, Sources, create_own, open_own
from pyhudi.metadata_table.rollback import roll_back
from pyhudi.metadata_table.visible import missing_instants
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.spec.clean import CleanMetadata
from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.instant import Action
from pyhudi.spec.table_config import TableConfig
from pyhudi.spec.table_keys import METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT
from pyhudi.spec.table_version import TableVersion
from pyhudi.storage.protocol import Storage
from pyhudi.storage.table_properties import store_properties
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InStep:
    """A table and its metadata table under the table's lock; `view` shows the table as it is before the action.

    `max_delta_commits` is how many delta commits of the metadata table a compaction waits for.
    """

    storage: Storage
    config: TableConfig
    view: FileSystemView
    own: OwnTable
    max_delta_commits: int = MAX_DELTA_COMMITS

    def record_commit(self, instant: str, metadata: CommitMetadata) -> None:
        """Record a commit, deltacommit, compaction, clustering or overwrite that is about to complete.

        Raises:
            CorruptTableError: the metadata table is damaged, or a written file has no whole footer.
            StorageError: the storage failed; the action must not complete.
        """
        table = DataTable(self.view, self.own, avro_to_arrow(metadata.schema_json) if metadata.schema_json else None)
        write_changes(self.own, instant, {name: kind.of_commit(table, name, instant, metadata) for name, kind in self._kinds.items()})

    def record_clean(self, instant: str, metadata: CleanMetadata, schema: pa.Schema) -> None:
        """Record a clean that has deleted its files and is about to complete; errors as of `record_commit`."""
        table = DataTable(self.view, self.own, schema)
        changes = {name: kind.of_clean(table, name, instant, metadata) for name, kind in self._kinds.items()}
        write_changes(self.own, instant, {name: change for name, change in changes.items() if change is not None})

    def record_rollback(self, rollback_time: str, failed: str) -> None:
        """Take back what a failed action recorded, before its instant is removed from the table's timeline.

        Raises:
            CorruptTableError: it cannot be taken back any more; the metadata table must be built anew.
        """
        roll_back(self.own, rollback_time, failed)

    def maintain(self) -> None:
        """Compact the metadata table if that is due; after the action completed, while the lock is still held.

        Raises:
            StorageError: the storage failed; the metadata table is as good as before.
        """
        compact_if_due(self.own.reloaded(), self.max_delta_commits)

    @property
    def _kinds(self) -> Mapping[str, PartitionKind]:
        return with_kinds((*self.config.metadata_partitions, *_texts(self.config, METADATA_PARTITIONS_INFLIGHT)))


def prepare(storage: Storage, config: TableConfig, timeline: Timeline, schema: pa.Schema, sources: Sources) -> InStep:
    """Return the table with a metadata table that knows all completed actions; it is built where it is not there.

    The caller holds the lock and has rolled back what failed writers left.

    Args:
        storage: the data table's storage.
        config: its properties; those of the result say which partitions of the metadata table there are.
        timeline: its timeline.
        schema: its data columns.
        sources: of time and chance.

    Raises:
        UnsupportedError: it has indexes that this release does not write, or is of version 6.
        StorageError: the storage failed; the table is as it was, without a metadata table if that was being built.
    """
    _refuse_unserved(storage, config)
    own, reason = _usable(storage, config, timeline, sources)
    if own is None:
        if config.metadata_partitions:
            _log.warning("the metadata table of %s is built anew: %s", storage.uri, reason)
            config = _with_partitions(storage, config, (), sources)
        own = create_own(storage, config, sources)
    built: list[str] = []
    table = DataTable(FileSystemView(storage, config, timeline), own, schema)
    for name, kind in with_kinds(_default_partitions(config)).items():
        if name not in config.metadata_partitions:
            config = _define(table, name, kind, sources)
            table = table.reopened(FileSystemView(storage, config, timeline), own)
            own = build_partition(own, name, kind.initial(table, name), after=timeline.greatest_time())
            built.append(name)
    if built:
        config = _with_partitions(storage, config, (*config.metadata_partitions, *built), sources)
    return InStep(storage, config, FileSystemView(storage, config, timeline), own)


def _usable(storage: Storage, config: TableConfig, timeline: Timeline, sources: Sources) -> tuple[OwnTable | None, str]:
    """Return the metadata table, or None and why it cannot be gone on with."""
    if partitions.FILES not in config.metadata_partitions:
        return None, "it was not there"
    try:
        own = open_own(storage, sources)
    except CorruptTableError as error:
        return None, str(error)
    if own is None:
        return None, "its files are gone"
    if own.config.version != config.version:
        return None, f"it has version {own.config.version}, the table {config.version}"
    if missing := missing_instants(own.timeline, timeline):
        return None, f"another writer made {missing[0]} without it"
    for failed in own.timeline.pending():
        if failed.action is Action.DELTA_COMMIT:
            own = roll_back(own, own.next_time(), failed.requested)
    return own, ""


def _refuse_unserved(storage: Storage, config: TableConfig) -> None:
    if config.version < TableVersion.EIGHT:
        raise UnsupportedError(f"table {storage.uri} has version {config.version}; metadata tables are written for 8 and 9")
    names = {*config.metadata_partitions, *_texts(config, METADATA_PARTITIONS_INFLIGHT)}
    strange = sorted(name for name in names if kind_of(name) is None)
    if strange:
        raise UnsupportedError(
            f"table {storage.uri} has the index {strange[0]}, which this release does not keep in step; drop it, or write with Apache Hudi"
        )


def _default_partitions(config: TableConfig) -> tuple[str, ...]:
    by_default = (partitions.FILES, partitions.COLUMN_STATS, partitions.PARTITION_STATS)
    return by_default if config.partition_fields else by_default[:-1]


def _define(table: DataTable, partition: str, kind: PartitionKind, sources: Sources) -> TableConfig:
    """Write how an index is defined, unless that is said already, and return the table's properties."""
    storage, config = table.view.storage, table.view.config
    found = None if partition in table.definitions else kind.definition(table, partition)
    if found is None:
        return config
    definitions = {**table.definitions, partition: found}
    storage.replace(PATH, render_definitions(definitions, with_version=config.version >= TableVersion.NINE))
    return TableConfig(store_properties(storage, {PATH_PROPERTY: PATH}, sources.clock.now()))


def _with_partitions(storage: Storage, config: TableConfig, names: Collection[str], sources: Sources) -> TableConfig:
    changes = {METADATA_PARTITIONS: ",".join(sorted(names)), METADATA_PARTITIONS_INFLIGHT: ""}
    return replace(config, properties=store_properties(storage, changes, sources.clock.now()))


def _texts(config: TableConfig, name: str) -> tuple[str, ...]:
    return tuple(filter(None, config.properties.get(name, "").split(",")))
