"""The rows of source files that are copied: a bulk insert whose tasks read some files each, and hold a part of their rows at a time.

Rules: `FullRecordBootstrapDataProvider`. A layout that looks at all rows at once (a sort, buckets, one row for each key) needs them in the
memory of this process; without one, a task holds no more than `pyhudi.write.bulk_insert_plan.CHUNK_BYTES` of its rows.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from pyhudi.engine.engine_protocol import Engine, driver_host
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.iter_rows import StoredFile, iter_rows, row_query
from pyhudi.kernels.base_file.stitched_rows import folder_values
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.spec.files.bootstrap_source import FULL_BOOTSTRAP, BootstrapSource
from pyhudi.storage.open_storage import open_source_folder
from pyhudi.storage.storage_protocol import Storage
from pyhudi.write.bulk_insert_plan import BulkWrite, write_stream
from pyhudi.write.input.prepare_rows import require_columns
from pyhudi.write.pipeline.local_tagger import LocalTagger
from pyhudi.write.pipeline.write_stage import TaggedBatch, WriteStage
from pyhudi.write.plan.workload_profile import Profile
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.tagging.tag import TagOptions

_REASON: Final = "the rows were in source files that this process reads"
#: Upper bound of the files that one task writes; keeps the numbers in file ids apart.
_FILES_PER_TASK: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CopyTask:
    """Source files of one folder that a task of a number copies."""

    number: int
    files: tuple[BootstrapSource, ...]


@dataclass(frozen=True, slots=True)
class SourceTagger:
    """The rows of source files, by folder, with the columns of the table; see `pyhudi.write.pipeline.write_stage.Tagger`."""

    folders: tuple[tuple[BootstrapSource, ...], ...]
    columns: pa.Schema
    engine: Engine
    reason: str = _REASON

    @property
    def name(self) -> str:
        """The name of the engine."""
        return self.engine.name

    @property
    def service_engine(self) -> Engine:
        """The engine of the write."""
        return self.engine

    @property
    def driver_host(self) -> str | None:
        """That of the engine."""
        return driver_host(self.engine)

    @contextlib.contextmanager
    def tag(self, stage: WriteStage) -> Iterator[TaggedBatch]:
        """Hand out the rows, of which nothing is read yet unless the layout asks for all of them; see the protocol."""
        tagging, layout = stage.resolve_tagging(None), stage.config.bulk
        if tagging.layout is None and not tagging.precombine and layout.partitioner is None and not layout.mode.sorts:
            require_columns(self.columns, stage.table_config.record_key_fields, "a record key field", stage.table_config)
            require_columns(self.columns, stage.table_config.partition_fields, "a partition field", stage.table_config)
            yield SourceStream(stage, self, tagging)
            return
        storage = stage.lookup.storage
        read = [pa.Table.from_batches(_rows(storage, self.columns, file), self.columns) for files in self.folders for file in files]
        with LocalTagger(pa.concat_tables(read), self.reason, self.engine).tag(stage) as batch:
            yield batch


@dataclass(frozen=True, slots=True)
class SourceStream:
    """Rows that go to new file groups as they are read; see `pyhudi.write.pipeline.write_stage.TaggedBatch`."""

    stage: WriteStage
    source: SourceTagger
    tagging: TagOptions
    profile: Profile = field(default_factory=Profile)
    late: int = 0
    partitions: tuple[str, ...] | None = None
    is_stream: bool = True

    def sample(self) -> Sequence[TaggedRows]:
        """Return no rows: each task estimates the size of a record from its own."""
        return ()

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        """Copy the files; the plan of a stream has no tasks."""
        assert plan.is_stream, "planned for a stream"
        stage, table = self.stage, self.stage.context.table
        work = stage.bulk_write(markers)
        copy = functools.partial(_copy, work, self.source.columns, table.ids.file_prefix())
        tasks = copy_tasks(self.source.folders, stage.config.writer.max_file_bytes)
        return [result for of_task in self.source.engine.run(copy, tasks) for result in of_task]


def copy_tasks(folders: Iterable[Sequence[BootstrapSource]], most_bytes: int) -> list[CopyTask]:
    """Return tasks of files of one folder each, of up to so many bytes, so that small source files become one.

    Example:
        >>> files = [BootstrapSource(f"/plain/{name}.parquet", size, 0, "") for name, size in (("a", 6), ("b", 3), ("c", 9))]
        >>> [[file.name for file in task.files] for task in copy_tasks([files], 10)]
        [['a.parquet', 'b.parquet'], ['c.parquet']]
    """
    groups: list[list[BootstrapSource]] = []
    for files in folders:
        room = 0
        for file in files:
            if file is files[0] or file.size > room:
                groups.append([])
                room = most_bytes
            groups[-1].append(file)
            room -= file.size
    return [CopyTask(number, tuple(group)) for number, group in enumerate(groups)]


def _copy(work: BulkWrite, columns: pa.Schema, prefix: str, task: CopyTask) -> list[TaskResult]:
    rows = (batch for file in task.files for batch in _rows(work.storage, columns, file))
    ids = (f"{prefix}-{task.number * _FILES_PER_TASK + number}" for number in range(_FILES_PER_TASK))
    return list(write_stream(work, task.number, f"{task.number}-0-0", rows, ids.__next__))


def _rows(storage: Storage, columns: pa.Schema, source: BootstrapSource) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a source file with the columns of the table."""
    file = StoredFile(open_source_folder(storage, source.folder), source.name, source.size, FULL_BOOTSTRAP)
    constants = folder_values(file, source, columns)
    query = row_query(columns, None, None, meta_columns=False, dictionaries=(), without=None, constants=constants, verify=True)
    return iter_rows(file, query)
