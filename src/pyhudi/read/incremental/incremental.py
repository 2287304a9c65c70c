"""What changed between two times: the rows that the commits of a span wrote, as they are at its end.

Rules: `IncrementalRelationV1/V2`, `MergeOnReadIncrementalRelationV1/V2`; which commits are meant, see
`pyhudi.read.incremental.instant_range`. Clustering and
compaction keep the commit time of each row, so that a row they moved comes once, from where it is at the end.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cache import cached_property
from pyhudi.errors import UnsupportedError
from pyhudi.fsview.slice_list import SliceList
from pyhudi.read.incremental.instant_range import FULL_SCAN, HolesPolicy, InstantRange, instant_range_of
from pyhudi.read.snapshot.path_scope import PathScope, file_pattern
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.read_schema import StoredSchema, table_schema
from pyhudi.read.snapshot.snapshot import Snapshot, check_scope, open_snapshot
from pyhudi.schema.meta_columns import COMMIT_TIME
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_features import check_readable
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.moved_timeline import reread_when_moved

#: The option that asks for the columns at the end of a span.
SCHEMA_AT_END: Final = "hoodie.datasource.read.schema.use.end.instanttime"


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """A span of a table's life: after `since` (None: from the beginning) up to `until` (None: now).

    With `may_scan`, a span that begins before the active timeline is answered by reading the whole table and leaving older
    rows out; without, it is refused. `by_requested` takes the bounds for requested times, as version 6 does always, or else for completion
    times; None leaves that to the table's version. `reading` says how files are found and read.
    `change_data` asks for what happened to each record instead of the rows (`pyhudi.read.incremental.cdc_query`). Rows have the table's
    latest columns, null where a column came later; with `schema_at_end` those that the table had at the end.

    `scope` leaves partitions out, `file_glob` (`hoodie.datasource.read.incr.path.glob`) file slices, and rows must pass all `filters`, SQL
    conditions. `holes` is `hoodie.read.timeline.holes.resolution.policy`.
    """

    since: str | datetime | None = None
    until: str | datetime | None = None
    reading: SnapshotQuery = field(default_factory=SnapshotQuery)
    may_scan: bool = True
    by_requested: bool | None = None
    change_data: bool = False
    schema_at_end: bool = False
    scope: PathScope | None = None
    file_glob: str | None = None
    filters: tuple[str, ...] = ()
    holes: HolesPolicy = HolesPolicy.BLOCK


@dataclass(frozen=True, slots=True)
class Written:
    """Which rows a span wrote: those of `commits` (requested times), or all but those when `others`.

    `groups` are the file groups that can hold them, None for all.
    """

    commits: frozenset[str]
    others: bool = False
    groups: frozenset[FileGroupId] | None = None


@dataclass(frozen=True)
class ChangedRows(Snapshot):
    """A snapshot of the file groups that a span wrote; `condition` leaves the rows of other commits out.

    Its columns are the table's latest, or with `schema_at_end` those at the end of the span.
    """

    written: Written
    schema_at_end: bool = False
    file_glob: str | None = None

    @cached_property
    def stored_schema(self) -> StoredSchema:
        """The schema together with its Avro text."""
        return super().stored_schema if self.schema_at_end else table_schema(self.storage, self.config, self.latest)

    @property
    def condition(self) -> pc.Expression | None:
        """What is true for the rows that the span wrote."""
        if self.written.others and not self.written.commits:
            return None
        is_changed = pc.field(COMMIT_TIME).isin(pa.array(sorted(self.written.commits), pa.string()))
        return ~is_changed if self.written.others else is_changed

    @property
    def scope(self) -> str:
        """The span's commits, as a short text."""
        commits = ",".join(sorted(self.written.commits))
        at_end = ", schema at the end" if self.schema_at_end else ""
        of_files = "" if self.file_glob is None else f", of files {self.file_glob}"
        return f", {'not ' if self.written.others else ''}{zlib.crc32(commits.encode()):08x}{at_end}{of_files}{super().scope}"

    @cached_property
    def partition_paths(self) -> tuple[str, ...]:
        """Paths of the partitions that the span wrote."""
        return super().partition_paths if self._groups is None else tuple(sorted(self._groups))

    @cached_property
    def partition_folders(self) -> tuple[str, ...]:
        """The same paths: nothing has to be searched."""
        return super().partition_folders if self._groups is None else self.partition_paths

    def partitions_below(self, folder: str) -> tuple[str, ...]:
        """Return the partition itself."""
        return super().partitions_below(folder) if self._groups is None else (folder,)

    def slices(self, partition_path: str) -> tuple[FileSlice, ...]:
        """Return the slices of the file groups that the span wrote."""
        slices = super().slices(partition_path)
        if self.file_glob is not None:
            slices = tuple(file_slice for file_slice in slices if self._is_named(file_slice))
        if self._groups is None:
            return slices
        return tuple(file_slice for file_slice in slices if file_slice.group.file_id in self._groups.get(partition_path, ()))

    def slice_list(self, partition_path: str) -> SliceList:
        """Return the same slices."""
        return super().slice_list(partition_path) if self.file_glob is None else SliceList.of(self.slices(partition_path))

    @cached_property
    def _groups(self) -> dict[str, set[str]] | None:
        if self.written.groups is None:
            return None
        by_path: dict[str, set[str]] = defaultdict(set)
        for group in self.written.groups:
            if self.query.scope is None or self.query.scope.holds(group.partition_path):
                by_path[group.partition_path].add(group.file_id)
        return by_path

    def _is_named(self, file_slice: FileSlice) -> bool:
        """Tell whether the pattern of files names a file of a slice."""
        paths = [file.path for file in (file_slice.base, *file_slice.logs) if file is not None]
        return any(file_pattern(self.file_glob or "").fullmatch(f"{self.storage.uri}/{path}") for path in paths)


def open_query(storage: Storage, query: SnapshotQuery | ChangesQuery) -> Snapshot:
    """Open a table for a query of either kind; errors as in `open_snapshot` and `open_changes`."""
    return open_snapshot(storage, query) if isinstance(query, SnapshotQuery) else open_changes(storage, query)


@reread_when_moved
def open_changes(storage: Storage, query: ChangesQuery) -> ChangedRows:
    """Open a table for the changes of a span.

    Raises:
        TableNotFound: there is no table.
        UnsupportedError: the table has no meta columns, so that no process knows which commit wrote a row; or a feature that is
            not served.
        UsageError: a bound is no time, files of the end were cleaned away, or the span begins before the active timeline and may not be
            answered by a scan.
    """
    config = TableConfig(load_properties(storage))
    check_readable(config)
    if not config.populate_meta_fields:
        raise UnsupportedError(
            f"table {storage.uri} has no meta columns (hoodie.populate.meta.fields=false): its rows do not tell their commit"
        )
    instant_range = instant_range_of(storage, config, query.since, query.until, by_requested=query.by_requested, holes=query.holes)
    written = _written_files(instant_range, may_scan=query.may_scan)
    changed = ChangedRows(
        storage,
        replace(query.reading, as_of=instant_range.until, scope=query.scope),
        config,
        instant_range.end,
        instant_range.latest,
        written,
        query.schema_at_end,
        query.file_glob,
        listed=instant_range.listed,
    )
    if query.scope is not None:
        check_scope(Snapshot(storage, changed.query, config, instant_range.end, instant_range.latest))
    return changed


def _written_files(instant_range: InstantRange, *, may_scan: bool) -> Written:
    if not instant_range.since:
        return Written(frozenset(), others=True)
    if (archived := instant_range.archived_before()) is not None:
        if not may_scan:
            raise instant_range.refusal(f", or allow a full scan ({FULL_SCAN}=true)")
        return Written(frozenset(archived), others=True)
    instants = instant_range.instants
    groups = {group for instant in instants for group in _groups_of(instant_range, instant)}
    return Written(frozenset(instant.requested for instant in instants), groups=frozenset(groups))


def _groups_of(instant_range: InstantRange, instant: Instant) -> Iterator[FileGroupId]:
    for path, stats in load_commit_metadata(instant_range.storage, instant_range.config, instant_range.end, instant).stats.items():
        for stat in stats:
            if stat.file_id:
                yield FileGroupId(path, stat.file_id)
