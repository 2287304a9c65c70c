"""A table as a stream: `readStream.format("hudi")`.

Rules: `HoodieStreamSourceV2`. An offset is the completion time of a commit (its requested time in table version 6), and a batch an
incremental read between two of them. Spark 4 lets Python tell the offsets, in a process of its own, and read in its tasks; the classes
here run there.

Spark 4.1 asks for the newest offset without the position of the stream. A limit of commits a batch knows it nevertheless: from the
batch planned last, which Spark plans again, over nothing, when a stream is restarted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.cdc.change_rows import CHANGE_SCHEMA, ChangeTask, iter_changes
from pyhudi.read.execute import Selection, select, slice_batches
from pyhudi.read.incremental.cdc_query import open_change_data
from pyhudi.read.incremental.changes_options import goes_by_requested, holes_policy
from pyhudi.read.incremental.incremental import SCHEMA_AT_END, ChangesQuery, open_changes
from pyhudi.read.incremental.instant_range import commit_times, instant_range_of
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import META_COLUMNS, with_meta_columns
from pyhudi.spark.jvm.frame_schema import arrow_schema_of
from pyhudi.spark.jvm.jvm import analyzed_plan, items_of
from pyhudi.spark.jvm.spark_types import spark_schema
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties

#: The name under which Spark finds this source; `hudi` itself stays free.
NAME: Final = "pyhudi_stream"
_PATH: Final = "path"
_TIME: Final = "commitTime"
_BEFORE_ALL: Final = "000"
_FORMAT: Final = "hoodie.datasource.query.incremental.format"
_START: Final = "hoodie.datasource.streaming.startOffset"
_MAX_COMMITS: Final = "pyhudi.streaming.max.commits"
_TIMES_OF_VERSION: Final = "hoodie.datasource.read.streaming.table.version"
#: How options begin that the storage takes: what the session states about a store is known where it runs only.
STORAGE_PREFIX: Final = "pyhudi.storage.option."
_SOURCE_PROCESS: Final = "pyspark.sql.streaming.python_streaming_source_runner"
_ExceptHook: TypeAlias = Callable[[type[BaseException], BaseException, TracebackType | None], object]


class HudiStream(DataSource):
    """The stream of one table; options are those of the reader, and `path`."""

    @classmethod
    def name(cls) -> str:
        """Return the name under which the source is registered."""
        return NAME

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin in another process. Where offsets are told, a query that Spark stops ends this process with one line.

        Spark stops a query by closing the connection. PySpark then fails to read or to answer, at any step of this process, fails to
        report that, and would print the tracebacks of both.
        """
        self.__dict__.update(state)
        if _is_source_process():
            sys.excepthook = partial(_report_end, self.options.get(_PATH, ""), sys.excepthook)

    def schema(self) -> StructType:
        """Return the columns: those of change data, or the table's with its meta columns first."""
        return spark_schema(_columns(*_open_source(self.options)))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return what tells offsets and reads."""
        return _Reader(*_open_source(self.options), arrow_schema_of(schema))


class _Slice(InputPartition):
    """Rows of one file slice, in the columns that the stream began with."""

    def __init__(self, selection: Selection, file_slice: FileSlice, schema: pa.Schema) -> None:
        self.selection, self.file_slice, self.schema = selection, file_slice, schema

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        for batch in slice_batches(self.selection, self.file_slice):
            yield from conform(pa.Table.from_batches([batch]), self.schema).to_batches()


class _Changes(InputPartition):
    """Change data of one commit and file group."""

    def __init__(self, storage: Storage, context: RecordContext, task: ChangeTask) -> None:
        self.storage, self.context, self.task = storage, context, task

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes."""
        return iter_changes(self.storage, self.context, self.task)


class _Reader(DataSourceStreamReader):
    def __init__(self, storage: Storage, options: Options, schema: pa.Schema) -> None:
        self._storage = storage
        self._options = options
        self._schema = schema
        self._first: str | None = None
        self._planned: str | None = None  # the end of the batch planned last

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the time after which a new stream begins; the same whenever it is asked for."""
        if self._first is None:
            start = stated_start(self._storage, self._options)
            self._first = self._newest() if start is None else start
        return {_TIME: self._first}

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the time of the last commit, or of the last that the next batch may hold."""
        if self._options.get(_MAX_COMMITS) is None:
            return {_TIME: self._newest()}
        begin = self._planned or self.initialOffset()[_TIME]
        waiting = self._commit_times(begin)
        return {_TIME: waiting[: self._options.integer(_MAX_COMMITS)][-1] if waiting else begin}

    def _newest(self) -> str:
        return next(reversed(self._commit_times()), _BEFORE_ALL)

    def _commit_times(self, since: str = "") -> list[str]:
        return commit_times(self._storage, since, by_requested=self._by_requested, holes=holes_policy(self._options))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return what is to be read of the commits after `start` up to `end`."""
        self._planned = end[_TIME]
        if start[_TIME] >= end[_TIME]:
            return []
        query = ChangesQuery(
            start[_TIME],
            end[_TIME],
            by_requested=self._by_requested,
            schema_at_end=self._options.flag(SCHEMA_AT_END),
            holes=holes_policy(self._options),
        )
        if _is_change_data(self._options):
            changes = open_change_data(self._storage, query)
            return [_Changes(self._storage, changes.snapshot.context, task) for task in changes.tasks]
        rows = open_changes(self._storage, query)
        known = {*META_COLUMNS, *rows.schema.names}
        selection = select(rows, [name for name in self._schema.names if name in known])
        file_slices = selection.slices()
        # Without the listings that were made meanwhile, which every task would carry.
        bare = replace(selection, snapshot=replace(selection.snapshot))
        return [_Slice(bare, file_slice, self._schema) for file_slice in file_slices]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one part of a batch."""
        assert isinstance(partition, _Slice | _Changes)
        return partition.read()

    @property
    def _by_requested(self) -> bool | None:
        return goes_by_requested(self._options, _TIMES_OF_VERSION)


def _is_source_process() -> bool:
    """Tell whether this is the process that PySpark starts for a source, and nobody's program."""
    return getattr(sys.modules["__main__"].__spec__, "name", None) == _SOURCE_PROCESS


def _report_end(uri: str, otherwise: _ExceptHook, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if all(isinstance(cause, EOFError | ConnectionError) for cause in _causes(error)):
        print(f"pyhudi: the stream of table {uri} was stopped", file=sys.stderr)  # noqa: T201 - its log is this process's stderr
    else:
        otherwise(kind, error, trace)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that were being handled when it was raised."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def stream_options(given: Mapping[str, str]) -> Options:
    """Return the options of a reader.

    Raises:
        OptionError: an option is unknown or has a bad value.
        UnsupportedError: an option is not served.
    """
    return resolve({name: value for name, value in given.items() if name.lower() != _PATH})


def stated_start(storage: Storage, options: Options) -> str | None:
    """Return the time after which a new stream begins; None for the newest commit.

    Raises:
        OptionError: the option for it is no time.
    """
    start = options.text(_START).strip()
    if start.lower() == "latest":
        return None
    if start.lower() == "earliest":
        return _BEFORE_ALL
    return instant_range_of(storage, TableConfig(load_properties(storage)), start, None).since or _BEFORE_ALL


def check_limits(frame: DataFrame) -> None:
    """See that no stream that a query reads is limited, for a trigger that takes all there is.

    Raises:
        UnsupportedError: one is; Spark 4.1 would end such a query after the first batch.
    """
    plan = analyzed_plan(frame)
    for leaf in items_of(plan.collectLeaves()):
        if leaf.nodeName() == "StreamingRelationV2" and leaf.sourceName() == NAME and leaf.extraOptions().containsKey(_MAX_COMMITS):
            raise UnsupportedError(
                f"{_MAX_COMMITS} cannot be held with trigger(availableNow=True) or trigger(once=True): Spark makes all there is one batch."
                " Leave the option out, or take trigger(processingTime=...)."
            )


def _open_source(given: Mapping[str, str]) -> tuple[Storage, Options]:
    path = given.get(_PATH)
    if not path:
        raise OptionError('readStream.format("hudi") needs the path of a table: load("/data/trips").')
    of_storage = {name.removeprefix(STORAGE_PREFIX): value for name, value in given.items() if name.startswith(STORAGE_PREFIX)}
    others = {name: value for name, value in given.items() if not name.startswith(STORAGE_PREFIX)}
    return open_storage(path, of_storage or None), stream_options(others)


def _columns(storage: Storage, options: Options) -> pa.Schema:
    if _is_change_data(options):
        return CHANGE_SCHEMA
    return with_meta_columns(open_snapshot(storage, SnapshotQuery("snapshot")).schema)


def _is_change_data(options: Options) -> bool:
    return options.text(_FORMAT).lower() == "cdc"
