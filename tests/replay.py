"""What a table held after each of its writes, worked out from the files that the writes left: slow and obvious.

Every completed write is applied to what stood before it: a base file takes the place of its file group's rows, a log's blocks are merged
record by record by the table's rule (`merge.apply`), a replace commit takes file groups away. Compactions and clusterings change no row;
that their files hold what was there before is a check of its own. Nothing here looks for files by name: commits say which are theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi.codec.log_file import scan_blocks
from pyhudi.kernels.base_file import TableShape
from pyhudi.kernels.history import load_full_timeline, read_rows
from pyhudi.kernels.keyed_base import iter_keyed_base
from pyhudi.kernels.log_rows import read_log_rows
from pyhudi.merge.apply import NOT_BROUGHT, RecordVersion, applied
from pyhudi.read.query import SnapshotQuery
from pyhudi.read.snapshot import open_snapshot
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.commit import CommitMetadata, WriteStat
from pyhudi.spec.file_group import BaseFile, FileGroupId
from pyhudi.spec.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant
from pyhudi.storage.local import LocalStorage
from pyhudi.storage.protocol import FileStatus, Storage
from pyhudi.timeline.archive import archived_instants
from pyhudi.timeline.payload import commit_of

MOVES = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER"})
Row = dict[str, Any]


@dataclass(frozen=True)
class State:
    """The rows right after a write; None where files that tell were cleaned.

    `time` is its completion time, in version 6 its requested time.
    """

    instant: Instant
    time: str
    rows: list[Row] | None


@dataclass
class Group:
    """The versions that stand in a file group, by key; rows of one key may be several. Deletes stay until a compaction."""

    versions: dict[str, list[RecordVersion]] = field(default_factory=dict)

    def live(self) -> Iterator[Row]:
        for versions in self.versions.values():
            yield from (dict(version.record) for version in versions if not version.deletes)

    def without_deletes(self) -> Group:
        kept = {key: [version for version in versions if not version.deletes] for key, versions in self.versions.items()}
        return Group({key: versions for key, versions in kept.items() if versions})


class Replay:
    """Applies the writes of the table at `path`, the first completed first."""

    def __init__(self, path: Path) -> None:
        self.storage: Storage = LocalStorage(str(path))
        self.snapshot = open_snapshot(self.storage, SnapshotQuery())
        self.config = self.snapshot.config
        self.timeline = load_full_timeline(self.storage, self.config).with_archived()
        self.groups: dict[FileGroupId, Group] = {}
        #: Groups of which files are gone; a compaction makes them known again.
        self.unknown: set[FileGroupId] = set()

    def states(self) -> Iterator[State]:
        """Yield what stands after each write."""
        writes = self._writes()
        for instant in sorted(writes, key=lambda one: (self.time_of(one), one.requested)):
            self._apply(instant, writes[instant])
            rows = [row for group in self.groups.values() for row in group.live()]
            yield State(instant, self.time_of(instant), None if self.unknown else rows)

    def _writes(self) -> dict[Instant, CommitMetadata]:
        """Return what each write says, the archived ones of version 6 included."""
        found = {one: commit_of(self.storage, self.config, self.timeline, one) for one in self.timeline.data_instants()}
        active = {one.requested for one in found}
        if self.config.layout == 1:
            for one in archived_instants(self.storage, self.config, read_rows):
                if one.metadata is not None and one.instant.requested not in active:
                    found[one.instant] = one.metadata
        return found

    def time_of(self, instant: Instant) -> str:
        if self.config.layout == 1:
            return instant.requested
        return self.timeline.completion_time(instant.requested) or instant.requested

    @property
    def shape(self) -> TableShape:
        return self.snapshot.shape

    def _apply(self, instant: Instant, commit: CommitMetadata) -> None:
        if commit.operation == "COMPACT":
            for path, stats in commit.stats.items():
                for stat in stats:
                    self._compact(FileGroupId(path, stat.file_id or ""), stat)
            return
        if commit.operation == "LOG_COMPACT":
            return
        for path, ids in (commit.replaced or {}).items():
            for file_id in ids:
                self.groups.pop(FileGroupId(path, file_id), None)
                self.unknown.discard(FileGroupId(path, file_id))
        for path, stats in commit.stats.items():
            for stat in stats:
                self._write(instant, FileGroupId(path, stat.file_id or ""), stat)

    def _compact(self, group: FileGroupId, stat: WriteStat) -> None:
        status = self.storage.stat(stat.path or "")
        if group in self.unknown and status is not None:
            self.groups[group] = self._of_base(group, status)
            self.unknown.discard(group)
        elif group in self.groups:
            self.groups[group] = self.groups[group].without_deletes()

    def _write(self, instant: Instant, group: FileGroupId, stat: WriteStat) -> None:
        if not stat.path:
            return
        status = self.storage.stat(stat.path)
        if status is None:
            self.unknown.add(group)
        elif parse_base_file_name(status.name) is not None:
            self.groups[group] = self._of_base(group, status)
            self.unknown.discard(group)
        elif (log := parse_log_file_name(status.name)) is not None and not log.is_cdc:
            self._append(instant, self.groups.setdefault(group, Group()), stat.path, status.size)

    def _of_base(self, group: FileGroupId, status: FileStatus) -> Group:
        found, name = Group(), parse_base_file_name(status.name)
        assert name is not None
        file = BaseFile(group.partition_path, name, status.size)
        names = [*self._columns(), RECORD_KEY]
        for batch in iter_keyed_base(self.storage, self.shape, file, list(dict.fromkeys(names))):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                version = RecordVersion(row, tuple(row[name] for name in self.shape.compared_fields))
                found.versions.setdefault(row[RECORD_KEY], []).append(version)
        return found

    def _append(self, instant: Instant, group: Group, path: str, size: int) -> None:
        with self.storage.open_input(path) as source:
            blocks = [block for block in scan_blocks(source, path, size) if block.header.instant == instant.requested]
        for block in blocks:
            if not (block.type.holds_rows or block.type.name == "DELETE"):
                continue
            log = read_log_rows(self.storage, self.shape, [block], self._columns())
            records = log.rows.to_pylist(maps_as_pydicts="strict")
            held = log.held[0]
            for number, record in enumerate(records):
                ordering = tuple(record[name] if held is None or name in held else NOT_BROUGHT for name in self.shape.compared_fields)
                version = RecordVersion(record, ordering, bool(log.deletes[number]), bool(log.hard_deletes[number]), held)
                self._merge(group, record[RECORD_KEY], version)

    def _merge(self, group: Group, key: str, version: RecordVersion) -> None:
        stored = group.versions.get(key) or [None]
        shape = self.shape
        merged = [applied(one, version, shape.merge_mode, shape.gaps, shape.merger) for one in stored]
        # A record that comes after its deletion is one new row.
        group.versions[key] = merged[:1] if all(one is None or one.deletes for one in stored) else merged

    def _columns(self) -> list[str]:
        return [*self.shape.schema.names, RECORD_KEY, "_hoodie_commit_time"]


def counted(rows: Iterable[Row], columns: Iterable[str]) -> Counter[str]:
    """The rows with these columns, each as often as it is there."""
    names = list(columns)
    return Counter(str([str(row.get(name)) for name in names]) for row in rows)


def rows_of(table: pa.Table) -> list[Row]:
    return table.to_pylist(maps_as_pydicts="strict")
