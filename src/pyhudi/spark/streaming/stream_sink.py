"""Batches of a stream as commits of a table: `writeStream.format("hudi")`.

Rules: `HoodieStreamingSink`. Each batch is one write with the number of the batch in its commit, so that one that Spark gives twice is
written once. Append and update write as `df.write` in mode append does (upsert by default), complete replaces the rows of the table.
A merge-on-read table is compacted in the background between the batches.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame

from pyhudi.errors import ConflictError, HudiError, OptionError, StorageError, TableNotFound, UsageError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.interruption import interruptions_shortened, is_interruption
from pyhudi.spark.options.writer_state import WriterState
from pyhudi.spark.writer.save import save_as_table, save_to_path
from pyhudi.spec.options import Options, merge_options, resolve
from pyhudi.storage.defaults_file import default_options
from pyhudi.storage.open_storage import open_storage
from pyhudi.table.stream_batches import IDENTIFIER, StreamBatch, is_written

_log = logging.getLogger(__name__)

_STREAMING: Final = "hoodie.datasource.write.streaming."
_ASYNC_COMPACTION: Final = "hoodie.datasource.compaction.async.enable"
_QUERY_ID: Final = "sql.streaming.queryId"
#: Options of a stream that are Spark's.
_SPARK_OPTIONS: Final = frozenset({"checkpointlocation", "path"})
_MODES: Final = {"append": "append", "update": "append", "complete": "overwrite"}


@dataclass(frozen=True, slots=True)
class StreamSink:
    """Writes the batches of one stream. `path` or `table` says where; `state` holds what the writer was told."""

    state: WriterState
    output_mode: str
    path: str | None = None
    table: str | None = None

    def check(self) -> None:
        """See, before the stream starts, that it can be written.

        Raises:
            UsageError: an option is wrong, or it is not said where to write.
        """
        if self.table is None and not self.path:
            raise UsageError('writeStream.format("hudi") needs the path of the table: start("/data/trips"), or toTable(name).')
        if self.output_mode not in _MODES:
            raise OptionError(f"output mode {self.output_mode!r} does not exist: take {', '.join(_MODES)}.")
        resolve(self._given)

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Write a batch, unless the table has it."""
        with interruptions_shortened(frame.sparkSession):
            self._write_once(frame, number)

    def _write_once(self, frame: DataFrame, number: int) -> None:
        options = resolve(merge_options(default_options(), self._given))
        query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID) or ""
        batch = StreamBatch(options.text(IDENTIFIER), query, number)
        frame = frame.persist()  # what writing looks at twice must be the same both times
        try:
            self._write(frame, batch, options)
        except HudiError as error:
            if is_interruption(error) or not options.flag(f"{_STREAMING}ignore.failed.batch"):
                raise
            _log.exception("batch %d of stream %s failed and is left out", number, batch.identifier)
        finally:
            frame.unpersist()

    def _write(self, frame: DataFrame, batch: StreamBatch, options: Options) -> None:
        """Write a batch, trying again when another process or the storage was in the way."""
        tries = max(1, options.integer(f"{_STREAMING}retry.count"))
        wait_s = options.integer(f"{_STREAMING}retry.interval.ms") / 1000
        for attempt in range(1, tries + 1):
            try:
                if self._is_written(frame, batch):
                    _log.info("batch %d of stream %s is in the table already", batch.number, batch.identifier)
                else:
                    self._save(frame, batch, options)
            except (ConflictError, StorageError) as error:
                if attempt == tries or is_interruption(error):
                    raise
                _log.warning("batch %d of stream %s is tried again: %s", batch.number, batch.identifier, error)
                time.sleep(wait_s)
                wait_s *= 2
            else:
                return

    def _is_written(self, frame: DataFrame, batch: StreamBatch) -> bool:
        entry = catalog_table.find(frame.sparkSession, self.table) if self.table is not None else None
        location = self.path if self.table is None else entry.location if entry is not None else None
        if not location:
            return False
        try:
            return is_written(open_storage(location), batch)
        except TableNotFound:
            return False

    def _save(self, frame: DataFrame, batch: StreamBatch, options: Options) -> None:
        stops = options.flag(f"{_STREAMING}disable.compaction")
        compaction = {"hoodie.compact.inline": "false"} if stops else {_ASYNC_COMPACTION: "true"}
        stated = {name: value for name, value in compaction.items() if options.get(name) is None}
        state = replace(
            self.state, mode=_MODES[self.output_mode], options={**self._given, **stated, **batch.extra_metadata}, is_stream=True
        )
        if self.table is None:
            save_to_path(frame, state, self.path)
        else:
            save_as_table(frame, state, self.table)

    @property
    def _given(self) -> dict[str, str]:
        return {name: value for name, value in self.state.options.items() if name.lower() not in _SPARK_OPTIONS}
