"""A table as a stream: `readStream.format("hudi")`.

Rules: `HoodieStreamSourceV2`. An offset is the completion time of a commit (its requested time in table version 6), and a batch an
incremental read between two of them. Spark 4 lets Python tell the offsets, in a process of its own, and read in its tasks; the classes
here run there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from pyhudi.errors import OptionError
from pyhudi.kernels.base_file import TableShape
from pyhudi.kernels.change_rows import CHANGE_SCHEMA, ChangeTask, iter_changes
from pyhudi.read.cdc import open_change_data
from pyhudi.read.changes import ChangesQuery, open_changes
from pyhudi.read.execute import Selection, select, slice_batches
from pyhudi.read.query import SnapshotQuery
from pyhudi.read.snapshot import open_snapshot
from pyhudi.read.span import last_time, span_of
from pyhudi.schema.meta_columns import with_meta_columns
from pyhudi.spark.types import spark_schema
from pyhudi.spec.file_group import FileSlice
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table_config import TableConfig
from pyhudi.storage.open import open_storage
from pyhudi.storage.protocol import Storage
from pyhudi.storage.table_properties import load_properties

#: The name under which Spark finds this source; `hudi` itself stays free.
NAME: Final = "pyhudi_stream"
_PATH: Final = "path"
_TIME: Final = "commitTime"
_BEFORE_ALL: Final = "000"
_FORMAT: Final = "hoodie.datasource.query.incremental.format"
_START: Final = "hoodie.datasource.streaming.startOffset"
_TIMES_OF_VERSION: Final = "hoodie.datasource.read.streaming.table.version"


class HudiStream(DataSource):
    """The stream of one table; options are those of the reader, and `path`."""

    @classmethod
    def name(cls) -> str:
        """Return the name under which the source is registered."""
        return NAME

    def schema(self) -> StructType:
        """Return the columns: those of change data, or the table's with its meta columns first."""
        return spark_schema(_columns(*_opened(self.options)))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802, ARG002 - Spark's names
        """Return what tells offsets and reads."""
        return _Reader(*_opened(self.options))


class _Slice(InputPartition):
    """Rows of one file slice."""

    def __init__(self, selection: Selection, piece: FileSlice) -> None:
        self.selection, self.piece = selection, piece

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return slice_batches(self.selection, self.piece)


class _Changes(InputPartition):
    """Change data of one commit and file group."""

    def __init__(self, storage: Storage, shape: TableShape, task: ChangeTask) -> None:
        self.storage, self.shape, self.task = storage, shape, task

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes."""
        return iter_changes(self.storage, self.shape, self.task)


class _Reader(DataSourceStreamReader):
    def __init__(self, storage: Storage, options: Options) -> None:
        self._storage = storage
        self._options = options

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the time after which a new stream begins."""
        start = self._options.text(_START).strip()
        if start.lower() == "earliest":
            return {_TIME: _BEFORE_ALL}
        if start.lower() == "latest":
            return self.latestOffset()
        config = TableConfig(load_properties(self._storage))
        return {_TIME: span_of(self._storage, config, start, None).since}

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the time of the last commit."""
        return {_TIME: last_time(self._storage, by_requested=self._by_requested) or _BEFORE_ALL}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return what is to be read of the commits after `start` up to `end`."""
        if start[_TIME] >= end[_TIME]:
            return []
        query = ChangesQuery(start[_TIME], end[_TIME], by_requested=self._by_requested)
        if _is_change_data(self._options):
            changes = open_change_data(self._storage, query)
            return [_Changes(self._storage, changes.snapshot.shape, task) for task in changes.tasks]
        selection = select(open_changes(self._storage, query), meta_columns=True)
        pieces = selection.slices()
        # Without the listings that were made meanwhile, which every task would carry.
        bare = replace(selection, snapshot=replace(selection.snapshot))
        return [_Slice(bare, piece) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one part of a batch."""
        assert isinstance(partition, _Slice | _Changes)
        return partition.read()

    @property
    def _by_requested(self) -> bool:
        return self._options.get(_TIMES_OF_VERSION) == "6"


def stream_options(given: Mapping[str, str]) -> Options:
    """Return the options of a reader.

    Raises:
        OptionError: an option is unknown or has a bad value.
        UnsupportedError: an option is not served.
    """
    return resolve({name: value for name, value in given.items() if name.lower() != _PATH})


def _opened(given: Mapping[str, str]) -> tuple[Storage, Options]:
    path = given.get(_PATH)
    if not path:
        raise OptionError('readStream.format("hudi") needs the path of a table: load("/data/trips").')
    return open_storage(path), stream_options(given)


def _columns(storage: Storage, options: Options) -> pa.Schema:
    if _is_change_data(options):
        return CHANGE_SCHEMA
    return with_meta_columns(open_snapshot(storage, SnapshotQuery("snapshot")).schema)


def _is_change_data(options: Options) -> bool:
    return options.text(_FORMAT).lower() == "cdc"
