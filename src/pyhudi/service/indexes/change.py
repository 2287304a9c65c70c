"""Making and dropping indexes, under the table's lock.

Rules: `HoodieSparkIndexClient.create`, `.drop`; format notes (metadata table) 2.3 and 5. An index is read from the moment on in which the
table's properties name it. A run that is cut off leaves a partition that nobody reads; the next one builds it anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.fsview.view import FileSystemView
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.found import Found
from pyhudi.metadata_table.index_definitions import IndexDefinition
from pyhudi.metadata_table.settings import MetadataSettings
from pyhudi.read.schema import StoredSchema, table_schema
from pyhudi.service.indexes.define import SECONDARY_INDEX, IndexRequest, definition_of, partition_of
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked import LockedTable, locked_table
from pyhudi.txn.metadata_table import prepare_metadata_table

_NO_COLUMNS = pa.schema([])


@dataclass(frozen=True, slots=True)
class IndexChange:
    """What was done, or would be: partitions of the metadata table that were built or dropped, in this order."""

    built: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Indexing:
    """Makes and drops the indexes of the table on `storage`; `wait_s` is how long to wait for its lock, in seconds."""

    storage: Storage
    clock: Clock
    ids: Ids
    wait_s: float = 60.0

    def create(self, request: IndexRequest, *, if_not_exists: bool = False, dry_run: bool = False) -> IndexChange:
        """Build an index from what the table holds; from then on each write keeps it in step.

        A secondary index needs the record index, which is built beside it where there is none.

        Args:
            request: the index.
            if_not_exists: do nothing when there is an index of that name.
            dry_run: only say what would be built.

        Raises:
            UsageError: the request does not fit the table, or there is such an index already.
            SchemaError: a column does not exist, or its type cannot be served.
            UnsupportedError: tables of that version have no such index, or the table has no meta columns.
        """
        started = time.perf_counter()
        with self._locked() as (table, stored):
            definition = definition_of(request, table.config, stored.columns)
            if definition.name in table.config.metadata_partitions:
                if if_not_exists:
                    return IndexChange()
                raise UsageError(f"table {self.storage.uri} has the index {definition.name} already")
            created = _with_what_it_needs(definition, table)
            if not dry_run:
                _prepare(table, stored, _settings(table, created))
        return IndexChange(built=tuple(created), seconds=time.perf_counter() - started)

    def drop(self, name: str, *, if_exists: bool = False, dry_run: bool = False) -> IndexChange:
        """Drop an index by the name it was made with, or by that of its partition; arguments as of `create`.

        Raises:
            UsageError: there is no such index, or another one needs it.
        """
        started = time.perf_counter()
        with self._locked() as (table, stored):
            known = [found for found in table.config.metadata_partitions if found != partitions.FILES]
            try:
                dropped = partition_of(name, known)
            except UsageError:
                if if_exists:
                    return IndexChange()
                raise
            names = (dropped, partitions.PARTITION_STATS) if dropped == partitions.COLUMN_STATS else (dropped,)
            settings = MetadataSettings(enabled=None, dropped=frozenset(names))
            if not dry_run:
                prepare_metadata_table(table, stored.avro_json, settings)
        return IndexChange(dropped=tuple(found for found in names if found in known), seconds=time.perf_counter() - started)

    def rebuild(self, *, dry_run: bool = False) -> IndexChange:
        """Build the metadata table anew, with all partitions that it has; arguments as of `create`.

        Raises:
            UnsupportedError: it has a partition that this release does not write.
        """
        started = time.perf_counter()
        with self._locked() as (table, stored):
            settings = _settings(table, {})
            built = settings.wanted(table.config)
            if not dry_run:
                view = FileSystemView(self.storage, table.config, table.timeline)
                _prepare(table, stored, settings, Found(None, "that was asked for", view))
        return IndexChange(built=built, seconds=time.perf_counter() - started)

    @contextmanager
    def _locked(self) -> Iterator[tuple[LockedTable, StoredSchema]]:
        """Hold the lock of a table that can have indexes; failed writes are rolled back."""
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as found:
            table = roll_back_failed_writes(found)
            yield table, table_schema(self.storage, table.config, table.timeline)


def _prepare(table: LockedTable, stored: StoredSchema, settings: MetadataSettings, found: Found | None = None) -> None:
    """Make the metadata table what is wanted.

    Raises:
        UsageError: it cannot be built yet.
    """
    _, in_step = prepare_metadata_table(table, stored.avro_json, settings, found)
    if in_step is None:
        pending = ", ".join(f"{instant.action} {instant.requested}" for instant in table.timeline.pending())
        raise UsageError(
            f"the metadata table of {table.storage.uri}, a table of version {table.config.version}, is built when nothing is pending; "
            f"pending is {pending}: run or cancel it first"
        )


def _with_what_it_needs(definition: IndexDefinition, table: LockedTable) -> dict[str, IndexDefinition]:
    if not table.config.populate_meta_fields:
        raise UnsupportedError(f"table {table.storage.uri} has no meta columns (hoodie.populate.meta.fields=false), which indexes need")
    has_records = partitions.RECORD_INDEX in table.config.metadata_partitions
    if definition.type != SECONDARY_INDEX or has_records:
        return {definition.name: definition}
    request = IndexRequest(partitions.RECORD_INDEX, ())
    return {partitions.RECORD_INDEX: definition_of(request, table.config, _NO_COLUMNS), definition.name: definition}


def _settings(table: LockedTable, created: dict[str, IndexDefinition]) -> MetadataSettings:
    """Return what is wanted: the table's metadata table as it is with the new indexes, or one with what is usual where there is none."""
    return MetadataSettings(enabled=None if table.config.metadata_partitions else True, created=created)
