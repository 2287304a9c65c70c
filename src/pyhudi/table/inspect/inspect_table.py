"""A look into a table: partitions, slices, files, column statistics, health. Each answer is an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.locks.choose_lock import unprovided
from pyhudi.locks.known_objects import listed_now
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.progress import progress_bar
from pyhudi.read.filter.tuple_filter import FilterLike
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.spec.arguments import check_text
from pyhudi.spec.files.file_group import BaseFile, FileSlice, LogFile
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.lock_files.lock_record import forget_lock
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.explain import UpsertExplanation, explain_upsert
from pyhudi.table.inspect.file_status import FileHistory, file_status
from pyhudi.table.inspect.health import problems
from pyhudi.table.inspect.inspect_logs import log_anatomy, log_blocks
from pyhudi.table.inspect.inspect_plan import plan
from pyhudi.table.inspect.verify import Progress, damages
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.locked_table import locked_table

_PARTITIONS = pa.schema({"partition_path": pa.string(), "file_groups": pa.int64(), "files": pa.int64(), "bytes": pa.int64()})
_SLICES = pa.schema(
    {
        "partition_path": pa.string(),
        "file_id": pa.string(),
        "base_instant": pa.string(),
        "latest": pa.bool_(),
        "base_file": pa.string(),
        "base_bytes": pa.int64(),
        "log_files": pa.list_(pa.string()),
        "log_bytes": pa.int64(),
    }
)
_FILES = pa.schema(
    {
        "path": pa.string(),
        "partition_path": pa.string(),
        "file_id": pa.string(),
        "instant": pa.string(),
        "kind": pa.string(),
        "bytes": pa.int64(),
    }
)
_COLUMN_STATS = pa.schema(
    {
        "path": pa.string(),
        "column": pa.string(),
        "rows": pa.int64(),
        "nulls": pa.int64(),
        "min": pa.string(),
        "max": pa.string(),
        "compressed_bytes": pa.int64(),
    }
)
_DAMAGE = pa.schema({"path": pa.string(), "kind": pa.string(), "problem": pa.string()})
_LOCK_WAIT_S = 60.0
#: Of a thousand objects each, which a health check lists before it looks at any of them.
_LISTED_PAGES = 200
_HEALTH = pa.schema({"check": pa.string(), "subject": pa.string(), "problem": pa.string()})


@dataclass(frozen=True, slots=True, repr=False)
class Inspect:
    """What a table consists of; every call looks at the table again.

    Example:
        >>> table.inspect.files().select(["partition_path", "kind"]).to_pylist()
        [{'partition_path': 'oslo', 'kind': 'base'}, {'partition_path': 'oslo', 'kind': 'log'}, {'partition_path': 'rome', 'kind': 'base'}]
    """

    storage: Storage
    open_table: OpenTable

    def __repr__(self) -> str:
        return f"<inspection of table {self.storage.uri}>"

    @progress_bar("listing")
    def partitions(self) -> pa.Table:
        """Return one row for each partition of the current state.

        Returns:
            `partition_path` (string; empty for a table without partitions), and int64 `file_groups`, `files` and `bytes`.

        Raises:
            CorruptTableError: the timeline or the metadata table is damaged.

        Example:
            >>> table.inspect.partitions().select(["partition_path", "file_groups", "files"]).to_pylist()
            [{'partition_path': 'oslo', 'file_groups': 1, 'files': 2}, {'partition_path': 'rome', 'file_groups': 1, 'files': 1}]
        """
        view = self._view()
        rows = []
        for path in view.partition_paths():
            slices = view.latest_slices(path)
            files = [size for file_slice in slices for size in _sizes(file_slice)]
            rows.append({"partition_path": path, "file_groups": len(slices), "files": len(files), "bytes": sum(files)})
        return pa.Table.from_pylist(rows, schema=_PARTITIONS)

    @progress_bar("listing")
    def slices(self) -> pa.Table:
        """Return one row for each file slice, all committed versions, the newest of each file group first.

        Returns:
            The strings `partition_path`, `file_id`, `base_instant` and `base_file` (null without base file), `latest` (bool), int64
            `base_bytes` (null without base file) and `log_bytes`, and `log_files` (list of strings).

        Raises:
            CorruptTableError: the timeline or the metadata table is damaged.

        Example:
            >>> [len(slice["log_files"]) for slice in table.inspect.slices().to_pylist()]
            [1, 0]
        """
        return pa.Table.from_pylist(list(self._slice_rows()), schema=_SLICES)

    @progress_bar("listing")
    def files(self) -> pa.Table:
        """Return one row for each file that the current state reads.

        Returns:
            The strings `path` (below the table), `partition_path`, `file_id`, `instant` (of the write) and `kind` (`base` or `log`), and
            `bytes` (int64).

        Raises:
            CorruptTableError: the timeline or the metadata table is damaged.

        Example:
            >>> table.inspect.files()["kind"].to_pylist()
            ['base', 'log', 'base']
        """
        view = self._view()
        rows = [row for path in view.partition_paths() for file_slice in view.latest_slices(path) for row in _file_rows(file_slice)]
        return pa.Table.from_pylist(rows, schema=_FILES)

    @progress_bar("statistics")
    def column_stats(self) -> pa.Table:
        """Return one row for each column of each current base file, from its footer.

        Returns:
            The strings `path`, `column`, `min` and `max` (as text, null where the footer has none), and int64 `rows`, `nulls` and
            `compressed_bytes`.

        Raises:
            CorruptTableError: a base file is damaged or missing.

        Example:
            >>> [(row["min"], row["max"]) for row in table.inspect.column_stats().to_pylist() if row["column"] == "fare"]
            [('7.5', '12.0'), ('9.0', '9.0')]
        """
        view = self._view()
        files = [file for path in view.partition_paths() for file in view.latest_base_files(path)]
        return pa.Table.from_pylist([row for file in files for row in self._stats_of(file)], schema=_COLUMN_STATS)

    @progress_bar("health check")
    def health(self, *, fix_properties: bool = False, fix_lock: bool = False) -> pa.Table:
        """Return one row for each problem found; no rows mean that every file the table names is there and whole.

        Args:
            fix_properties: first accept the table's properties as they are. Commits note what keys, paths and rows depend on, and
                properties that differ are taken for damaged; whoever changed them on purpose says so here. It repairs nothing: a
                damaged file is to be restored instead.
            fix_lock: first record the lock of this storage as the one that the table is written under. Writers that take another are
                refused, as they are on a table that was copied, restored or mounted elsewhere. No writer may be at work meanwhile.

        Returns:
            The strings `check`, `subject` (a file, partition or instant) and `problem`.

        Raises:
            CorruptTableError: the properties are damaged in a way that no table can have, or not those of the last commit.

        Example:
            >>> table.inspect.health().num_rows
            0
        """
        if fix_lock:
            forget_lock(self.storage, is_inside=isinstance(unprovided(self.storage), LocalStorage))
            with locked_table(self.storage, _LOCK_WAIT_S, self.open_table.clock, self.open_table.ids):
                pass
        if fix_properties:
            with locked_table(self.storage, _LOCK_WAIT_S, self.open_table.clock, self.open_table.ids) as locked:
                accept_identity(locked.storage, TableConfig(load_properties(locked.storage)))
        view = self._view(listed_now(self.storage, _LISTED_PAGES))
        listed = FileSystemView(view.storage, view.config, view.timeline)
        with collector_paused():
            return pa.Table.from_pylist(list(problems(listed)), schema=_HEALTH)

    @progress_bar("verification")
    def verify(self, progress: Progress | None = None) -> pa.Table:
        """Read the whole table, every page and block with its checksums, and return one row for each damage: `path`, `kind`, `problem`.

        No rows mean that all that the table names is there and can be read: its timeline and archive, all committed versions of base and
        log files, the source files of bootstrapped ones, and the metadata table.

        Args:
            progress: called after each file with the number of files done and of all.

        Returns:
            The strings `path`, `kind` and `problem`.

        Raises:
            CorruptTableError: the properties or the timeline are damaged so that the table's files are not known.

        Example:
            >>> table.inspect.verify().num_rows
            0
        """
        view = self._view()
        listed = FileSystemView(view.storage, view.config, view.timeline)
        return pa.Table.from_pylist(list(damages(listed, progress)), schema=_DAMAGE)

    def file_status(self, name: str, partition: str | None = None) -> FileHistory:
        """Return what became of a file: whether it is there, or which clean, rollback or restore deleted it.

        Args:
            name: of a base or log file, without its folder.
            partition: the partition path; of a table without partitions None.

        Raises:
            UsageError: the table has partitions, and none is named.

        Example:
            >>> table.inspect.file_status("nothing.parquet", "city=oslo").status
            'unknown'
        """
        view = self._view()
        return file_status(view.storage, view.config, view.timeline, name, partition)

    def plan(self, filter: FilterLike | None = None, options: Mapping[str, str] | None = None) -> pa.Table:  # noqa: A002
        """Return one row a file of the current state: whether a read with the filter opens it (`read`), else what rules it out.

        `ruled_out_by` is `partition path`, or the name of the index: `partition_stats`, `column_stats`, `record_index`, ...

        Args:
            filter: as in `HudiTable.to_arrow`.
            options: `hoodie.*` options of the read.

        Returns:
            The strings `path`, `partition_path`, `file_id`, `kind` (`base` or `log`) and `ruled_out_by` (null for files that are read),
            `bytes` (int64) and `read` (bool).

        Raises:
            UsageError: the filter is wrong.

        Example:
            >>> table.inspect.plan("city = 'rome'").select(["kind", "read", "ruled_out_by"]).to_pylist()[1:]
            [{'kind': 'log', 'read': False, 'ruled_out_by': 'partition path'}, {'kind': 'base', 'read': True, 'ruled_out_by': None}]
        """
        return plan(self.storage, filter, options)

    def explain_upsert(self, data: object, options: Mapping[str, str] | None = None) -> UpsertExplanation:
        """Return what an upsert of the data would do, without doing it: the index it would ask and why, the files it would write.

        Args:
            data: what `HudiTable.upsert` takes, a Spark DataFrame excepted.
            options: `hoodie.*` options as for the upsert.

        Returns:
            The index and why it is that one, how many rows are updates and how many are new, and the file groups that would be written.

        Raises:
            UsageError: the data or the options do not fit the table.

        Example:
            >>> explanation = table.inspect.explain_upsert([{"id": 2, "city": "oslo", "ts": 30, "fare": 14.0}])
            >>> print(explanation)
            upsert asks the index SIMPLE: the table has no record index, and its file groups are no buckets; ...
            1 rows go to file groups that are there, 0 are new; 1 file groups are written
            >>> explanation.files["kind"].to_pylist()
            ['appended']
        """
        return explain_upsert(self.open_table, data, options or {})

    def log_blocks(self, path: str) -> pa.Table:
        """Return one row a block of the log file, or of the log files in the folder, at `path` below the table.

        `flags` are those of partial, positions, replaces, attempt that the header has; `problem` says what is wrong
        with a block whose content cannot be read, or with the rest of a file (type `UNREADABLE`).

        Args:
            path: of a log file, or of a folder such as a partition path, below the table.

        Returns:
            The strings `file`, `type`, `instant`, `target_instant` and `problem`, int64 `offset`, `size`, `records`, `deletes` and
            `content_bytes`, and `flags` (list of strings).

        Raises:
            UsageError: there is no such file or folder.

        Example:
            >>> table.inspect.log_blocks("oslo").select(["type", "instant", "records"]).to_pylist()
            [{'type': 'PARQUET', 'instant': '20260102040506000', 'records': 1}]
        """
        return log_blocks(self.storage, check_text(path, "path"))

    def log_anatomy(self, path: str) -> str:
        """Return every field of a log file with its offset, as text to be read.

        Args:
            path: of the log file, below the table.

        Raises:
            UsageError: there is no such file.
            CorruptTableError: it is not a log file, or damaged in a way that hides what follows.
            UnsupportedError: it has a block that this release does not know.

        Example:
            >>> path = table.inspect.files()["path"][1].as_py()
            >>> print(table.inspect.log_anatomy(path).split("header")[0])
            oslo/.f0000001-...log.1_0-0-0: ... bytes, 1 block
            <BLANKLINE>
            block of ... bytes
                     0  magic               #HUDI#
                     6  size                ... bytes behind this field
                    14  format version      1
                    18  block type          5 PARQUET
                    22
        """
        return log_anatomy(self.storage, check_text(path, "path"))

    def _view(self, storage: Storage | None = None) -> FileSystemView:
        storage = storage or self.storage
        config = TableConfig(load_properties(storage))
        return open_view(storage, config, load_full_timeline(storage, config))

    def _slice_rows(self) -> Iterator[dict[str, object]]:
        view = self._view()
        for path in view.partition_paths():
            for group in view.groups(path):
                for number, file_slice in enumerate(group.slices):
                    yield {
                        "partition_path": path,
                        "file_id": group.id.file_id,
                        "base_instant": file_slice.base_instant,
                        "latest": number == 0,
                        "base_file": None if file_slice.base is None else str(file_slice.base.name),
                        "base_bytes": None if file_slice.base is None else file_slice.base.size,
                        "log_files": [str(log.name) for log in file_slice.logs],
                        "log_bytes": sum(log.size for log in file_slice.logs),
                    }

    def _stats_of(self, file: BaseFile) -> Iterator[dict[str, object]]:
        with open_data(self.storage, file.path) as parquet:
            metadata = parquet.metadata
        for index in range(metadata.num_columns):
            chunks = [metadata.row_group(n).column(index) for n in range(metadata.num_row_groups)]
            if chunks:
                yield _column_row(file, metadata.num_rows, chunks)


def _sizes(file_slice: FileSlice) -> list[int]:
    return [log.size for log in file_slice.logs] + ([file_slice.base.size] if file_slice.base else [])


def _file_rows(file_slice: FileSlice) -> Iterator[dict[str, object]]:
    files: list[BaseFile | LogFile] = [*([file_slice.base] if file_slice.base else []), *file_slice.logs]
    for file in files:
        yield {
            "path": file.path,
            "partition_path": file.partition_path,
            "file_id": file.name.file_id,
            "instant": file.name.instant,
            "kind": "base" if isinstance(file, BaseFile) else "log",
            "bytes": file.size,
        }


def _column_row(file: BaseFile, rows: int, chunks: list[pq.ColumnChunkMetaData]) -> dict[str, object]:
    known = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
    bounded = [stats for stats in known if stats.has_min_max]
    complete = len(bounded) == len(chunks)
    return {
        "path": file.path,
        "column": chunks[0].path_in_schema,
        "rows": rows,
        "nulls": sum(stats.null_count for stats in known) if len(known) == len(chunks) else None,
        "min": str(min(stats.min for stats in bounded)) if complete else None,
        "max": str(max(stats.max for stats in bounded)) if complete else None,
        "compressed_bytes": sum(chunk.total_compressed_size for chunk in chunks),
    }
