"""What a table held after each of its writes, worked out from the files that the writes left: slow and obvious.

Every completed write is applied to what stood before it: a base file takes the place of its file group's rows, a log's blocks are merged
record by record by the table's rule (`merge.apply_rule`), a replace commit takes file groups away. Compactions and clusterings change no
row;
that their files hold what was there before is a check of its own. Nothing here looks for files by name: commits say which are theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.keys.keyed_rows import iter_keyed_base
from pyhudi.kernels.log_file.log_rows import read_log_rows
from pyhudi.merge.apply_rule import ABSENT, apply_incoming
from pyhudi.merge.merge_rules import RecordVersion
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.files.file_group import BaseFile, FileGroupId
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.spec.instant import Instant
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

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


Versions = dict[str, list[RecordVersion]]


@dataclass
class Log:
    """What one write appended to a file group: versions by key, in their order. `time` is when it completed."""

    requested: str
    time: str
    appended: list[tuple[str, RecordVersion]]


@dataclass
class Group:
    """The rows of a file group's base file by key, of which several may be equal, and what was appended since.

    Inside a slice the writer that began later wins, whenever it completed: commit time is the time of the request.
    """

    context: RecordContext
    base: Versions = field(default_factory=dict)
    logs: list[Log] = field(default_factory=list)

    def live(self) -> Iterator[Row]:
        for versions in self._merged(self.logs).values():
            yield from (dict(version.record) for version in versions if not version.deletes)

    def compact(self, before: str) -> None:
        """Merge what was complete before a compaction was planned; what was deleted is forgotten."""
        merged = self._merged([log for log in self.logs if log.time < before])
        retained = {key: [version for version in versions if not version.deletes] for key, versions in merged.items()}
        self.base = {key: versions for key, versions in retained.items() if versions}
        self.logs = [log for log in self.logs if log.time >= before]

    def _merged(self, logs: list[Log]) -> Versions:
        result = {key: list(versions) for key, versions in self.base.items()}
        for log in sorted(logs, key=lambda one: one.requested):
            for key, version in log.appended:
                stored: Sequence[RecordVersion | None] = result.get(key) or [None]
                merged = [
                    apply_incoming(one, version, self.context.merge_mode, self.context.fill_policy, self.context.merger) for one in stored
                ]
                # A record that comes after its deletion is one new row.
                result[key] = merged[:1] if all(one is None or one.deletes for one in stored) else merged
        return result


class Replay:
    """Applies the writes of the table at `path`, the first completed first."""

    def __init__(self, path: Path) -> None:
        self.storage: Storage = LocalStorage(str(path))
        self.snapshot = open_snapshot(self.storage, SnapshotQuery())
        self.config = self.snapshot.config
        self.timeline = load_full_timeline(self.storage, self.config).with_archived()
        self.groups: dict[FileGroupId, Group] = {}
        #: Groups of which files are missing; a compaction makes them known again.
        self.unknown: set[FileGroupId] = set()

    def states(self) -> Iterator[State]:
        """Yield the state after each write."""
        writes = self._writes()
        for instant in sorted(writes, key=lambda one: (self.time_of(one), one.requested)):
            self._apply(instant, writes[instant])
            rows = [row for group in self.groups.values() for row in group.live()]
            yield State(instant, self.time_of(instant), None if self.unknown else rows)

    def _writes(self) -> dict[Instant, CommitMetadata]:
        """Return what each write says, the archived ones of version 6 included."""
        result = {one: load_commit_metadata(self.storage, self.config, self.timeline, one) for one in self.timeline.data_instants()}
        active = {one.requested for one in result}
        if self.config.layout == 1:
            for one in archived_instants(self.storage, self.config, read_rows):
                if one.metadata is not None and one.instant.requested not in active:
                    result[one.instant] = one.metadata
        return result

    def time_of(self, instant: Instant) -> str:
        if self.config.layout == 1:
            return instant.requested
        return self.timeline.completion_time(instant.requested) or instant.requested

    @property
    def context(self) -> RecordContext:
        return self.snapshot.context

    def _apply(self, instant: Instant, commit: CommitMetadata) -> None:
        if commit.operation == "COMPACT":
            for path, stats in commit.stats.items():
                for stat in stats:
                    self._compact(instant, FileGroupId(path, stat.file_id or ""), stat)
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

    def _compact(self, instant: Instant, group: FileGroupId, stat: WriteStat) -> None:
        status = self.storage.stat(stat.path or "")
        if group in self.unknown and status is not None:
            logs = self.groups[group].logs if group in self.groups else []
            self.groups[group] = replace(self._of_base(group, status), logs=[log for log in logs if log.time >= instant.requested])
            self.unknown.discard(group)
        elif group in self.groups:
            self.groups[group].compact(instant.requested)

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
            self._append(instant, self.groups.setdefault(group, Group(self.context)), stat.path, status.size)

    def _of_base(self, group: FileGroupId, status: FileStatus) -> Group:
        result, name = Group(self.context), parse_base_file_name(status.name)
        assert name is not None
        file = BaseFile(group.partition_path, name, status.size)
        names = [*self._columns(), RECORD_KEY]
        for batch in iter_keyed_base(self.storage, self.context, file, list(dict.fromkeys(names))):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                version = RecordVersion(row, tuple(row[name] for name in self.context.compared_fields))
                result.base.setdefault(row[RECORD_KEY], []).append(version)
        return result

    def _append(self, instant: Instant, group: Group, path: str, size: int) -> None:
        with self.storage.open_input(path) as source:
            blocks = [block for block in scan_blocks(source, path, size) if block.header.instant == instant.requested]
        log = Log(instant.requested, self.time_of(instant), [])
        for block in blocks:
            if block.type.holds_rows or block.type is BlockType.DELETE:
                log.appended += self._versions(block)
        group.logs.append(log)

    def _versions(self, block: LogBlock) -> Iterator[tuple[str, RecordVersion]]:
        rows = read_log_rows(self.storage, self.context, [block], self._columns())
        (present,) = rows.present_columns
        for number, record in enumerate(rows.rows.to_pylist(maps_as_pydicts="strict")):
            ordering = tuple(record[name] if present is None or name in present else ABSENT for name in self.context.compared_fields)
            yield (
                record[RECORD_KEY],
                RecordVersion(record, ordering, bool(rows.deletes[number]), bool(rows.commit_time_deletes[number]), present),
            )

    def _columns(self) -> list[str]:
        return [*self.context.schema.names, RECORD_KEY, "_hoodie_commit_time"]


def counted(rows: Iterable[Row], columns: Iterable[str]) -> Counter[str]:
    """The rows with these columns, each as often as it is there."""
    names = list(columns)
    return Counter(str([str(row.get(name)) for name in names]) for row in rows)


def rows_of(table: pa.Table) -> list[Row]:
    result: list[Row] = table.to_pylist(maps_as_pydicts="strict")
    return result
