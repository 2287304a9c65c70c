"""One state of a table, ready to be read: its schema now, its partitions and files when they are asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError, HudiError, KeyFieldError, UsageError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.slice_list import SliceList
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.record_context import record_context_of
from pyhudi.locks.known_objects import forget_listing, listed_now
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.metadata_view import MetadataView, open_view
from pyhudi.read.snapshot.cleaned_states import check_not_cleaned, check_not_cleaned_since
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.read_schema import StoredSchema, table_schema
from pyhudi.schema.avro_arrow import with_meta_fields
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_readable
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import parse_time
from pyhudi.timeline.moved_timeline import TimelineMovedError
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.timeline_files import timeline_files
from pyhudi.timeline_archive.full_timeline import load_full_timeline

#: So many partitions are named in an error.
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class Snapshot:
    """A table as one query sees it. Only the timeline is read; a partition is listed when its files are asked for."""

    storage: Storage
    query: SnapshotQuery
    config: TableConfig
    timeline: Timeline
    #: The timeline of now, which tells the columns of a table that was still empty at the time of the query.
    latest: Timeline
    #: Names of the files of the timeline when it was read; none where a caller has excluded that files are deleted meanwhile.
    listed: frozenset[str] = field(default=frozenset(), repr=False, compare=False, kw_only=True)

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table, without meta columns."""
        return self.stored_schema.columns

    @cached_property
    def stored_schema(self) -> StoredSchema:
        """The schema together with its Avro text."""
        was_empty = self.timeline.last_completed() is None
        timeline = self.latest if was_empty else self.timeline
        is_past = timeline.last_completed() != self.latest.last_completed()
        return table_schema(self.storage, self.config, timeline, is_past=is_past)

    @cached_property
    def context(self) -> RecordContext:
        """What merging log files takes to know.

        Raises:
            UnsupportedError: the table merges records in a way that is not known here.
        """
        return record_context_of(self.config, self.schema, with_meta_fields(self.stored_schema.avro_json))

    @property
    def condition(self) -> pc.Expression | None:
        """What is true for the rows of the files that count; None when all do."""
        return None

    @property
    def scope(self) -> str:
        """A text that differs between selections of the same files; empty when all files of the table count."""
        query = self.query
        scope = "" if query.scope is None else f", of {query.scope}"
        return f"{scope}{'' if query.merges_logs else ', unmerged'}{', values of paths' if query.takes_path_values else ''}"

    @property
    def instant(self) -> str | None:
        """Requested time of the latest commit that the snapshot holds; None for an empty table."""
        last = self.timeline.last_completed()
        return None if last is None else last.requested

    @cached_property
    def partition_paths(self) -> tuple[str, ...]:
        """Paths of all partitions, sorted; `("",)` for a table without partition fields."""
        return self._in_scope(self._view.partition_paths())

    @cached_property
    def live_partitions(self) -> tuple[str, ...]:
        """Paths of the partitions without those that were dropped: all their file groups were replaced, and none is new."""
        touched = {group.partition_path for group in self._view.replaced}
        return tuple(path for path in self.partition_paths if path not in touched or self._view.latest_slices(path))

    @cached_property
    def paths_hold_values(self) -> bool:
        """Whether the partition columns can be taken from the paths: each path can be taken apart into one text for each field.

        A value with slashes makes more folders than there are fields, as the dates of a custom generator do (`yyyy/MM/dd`), and what a
        user's own generator writes need not be the value at all. The columns of the files are right in any case.
        """
        if self.config.key_generator.family is KeyGeneratorType.USER_PROVIDED:
            return False
        return not self.config.paths_may_blur or all(map(self._holds_values, self.partition_paths))

    def _holds_values(self, path: str) -> bool:
        try:
            self.config.partition_values(path)
        except KeyFieldError:
            return False
        return True

    @cached_property
    def partition_folders(self) -> tuple[str, ...]:
        """Folders that can be partitions by their depth, none of them listed; every partition is at or below one."""
        folders, scope = self._view.partition_folders(), self.query.scope
        return folders if scope is None else tuple(folder for folder in folders if scope.may_hold_below(folder))

    def partitions_below(self, folder: str) -> tuple[str, ...]:
        """Return the partition paths at and below a folder; lists this folder only."""
        return self._in_scope(self._view.partitions_below(folder))

    def _in_scope(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the partitions that the query reads."""
        scope = self.query.scope
        return paths if scope is None else tuple(path for path in paths if scope.holds(path))

    def slices(self, partition_path: str) -> tuple[FileSlice, ...]:
        """Return the file slices of a partition that hold its rows; lists this partition only.

        A read-optimized query gets the newest slice of each file group that has a base file, without its logs.
        """
        if self.query.mode == "read_optimized":
            bases = self._view.latest_base_files(partition_path)
            return tuple(FileSlice(FileGroupId(partition_path, base.name.file_id), base.name.instant, base) for base in bases)
        return self._view.latest_slices(partition_path)

    def check_not_cleaned(self) -> None:
        """Refuse a snapshot of which files were deleted before they were listed; to be called after the files are listed.

        Raises:
            UsageError: a clean, a rollback or a restore has deleted some of them since the snapshot was opened.
        """
        if self.listed:
            check_not_cleaned_since(self.storage, self.config, self.timeline, self.listed)

    def with_checksums(self, file_slice: FileSlice) -> FileSlice:
        """Return a slice that is about to be read whole with the checksums of its log files, unless verification is switched off."""
        if not self.query.verifies_pages:
            return file_slice
        return with_checksums(self.storage, self.config, self.latest, file_slice)

    def slice_list(self, partition_path: str) -> SliceList:
        """Return the same slices, made when they are looked at."""
        return SliceList.of(self.slices(partition_path)) if self.query.mode == "read_optimized" else self._view.slice_list(partition_path)

    def slices_of(self, partition_path: str, file_ids: Collection[str]) -> SliceList:
        """Return those of some file groups, as far as they are there."""
        return self._view.slices_of(partition_path, file_ids)

    def files(self, partition_path: str) -> tuple[BaseFile, ...]:
        """Return the base files of a partition of which every row counts and that hold all rows; lists this partition only.

        Raises:
            CorruptTableError: rows are in log files, which a copy-on-write table or a read-optimized query has not.
        """
        slices = self.slices(partition_path)
        for file_slice in slices:
            if file_slice.logs:
                raise CorruptTableError(
                    f"table {self.storage.uri} has rows in log file {file_slice.logs[0].path}, where base files only belong"
                )
        return tuple(file_slice.base for file_slice in slices if file_slice.base is not None)

    @property
    def metadata_table(self) -> MetadataTable | None:
        """The metadata table by which files are found; None when there is none, or it is not to be trusted."""
        return self._view.table if isinstance(self._view, MetadataView) else None

    def share_files(self, other: Snapshot) -> None:
        """Find files as another snapshot does, which may have asked for them before, when both see the same state of the same table."""
        if self.timeline == other.timeline and self.storage.uri == other.storage.uri:
            self.__dict__["_view"] = other._view

    @cached_property
    def _view(self) -> FileSystemView:
        # Listed after the timeline was read: no file of a commit on it can be missing.
        storage = listed_now(self.storage)
        return open_view(storage, self.config, self.timeline, use_metadata_table=self.query.use_metadata_table)


def open_snapshot(storage: Storage, query: SnapshotQuery, config: TableConfig | None = None) -> Snapshot:
    """Open a table for one query.

    Args:
        storage: Where the table lives.
        query: What is asked.
        config: The table's properties, when they were just read.

    Raises:
        TableNotFound: there is no table.
        CorruptTableError: properties or timeline are damaged.
        UnsupportedError: the table has a version or a feature that is not served.
        UsageError: `as_of` is no time, files of that time were cleaned away, or the table has none of the partitions that are asked for.
    """
    snapshot = _open_listed(storage, query, config)
    if snapshot is None:
        try:
            snapshot = _open(storage, query, config or TableConfig(load_properties(storage)))
        except TimelineMovedError:
            snapshot = _open(storage, query, TableConfig(load_properties(storage)))
    check_scope(snapshot)
    return snapshot


def _open_listed(storage: Storage, query: SnapshotQuery, config: TableConfig | None) -> Snapshot | None:
    """Return a table with its schema as one listing shows it; None where that saves no requests, or shows what cannot be.

    What cannot be may be a moment between two steps of a writer: asked one after the other the answers are in order.
    """
    known = listed_now(storage)
    if known is storage:
        return None
    try:
        listed = _open(known, query, config or TableConfig(load_properties(known)))
        schema = listed.stored_schema
    except (HudiError, FileNotFoundError):
        return None
    finally:
        forget_listing(known)
    snapshot = replace(listed, storage=storage)
    snapshot.__dict__["stored_schema"] = schema
    return snapshot


def check_scope(snapshot: Snapshot) -> None:
    """Refuse a query of partitions that a table does not have: no rows would be taken for an empty partition.

    Raises:
        UsageError: none of the paths names a partition.
    """
    scope = snapshot.query.scope
    if scope is None or snapshot.instant is None:
        return
    whole = replace(snapshot, query=replace(snapshot.query, scope=None))
    if not any(map(scope.holds, whole.partition_paths)):
        paths = whole.partition_paths
        known = ", ".join(f"'{path}'" for path in paths[:_MOST_NAMED]) + (" ..." if len(paths) > _MOST_NAMED else "")
        raise UsageError(f"table {snapshot.storage.uri} has no partition '{scope}'; it has {known or 'none'}.")


def _open(storage: Storage, query: SnapshotQuery, config: TableConfig) -> Snapshot:
    check_readable(config)
    files = timeline_files(storage, config)
    timeline, listed = load_full_timeline(storage, config, files=files), frozenset(files)
    if query.as_of is None:
        return Snapshot(storage, query, config, timeline, timeline, listed=listed)
    time = parse_time(query.as_of, config.timeline_zone)
    timeline = timeline.known_at(timeline.effective_time(time))
    check_not_cleaned(storage, config, timeline, time)
    return Snapshot(storage, replace(query, as_of=time), config, timeline.as_of(time), timeline, listed=listed)
