"""Writing a Spark DataFrame: on the driver when its rows are few, else by Spark tasks. Registered as the writer of Spark's data.

`pyhudi.engine` (auto, local or spark) and `pyhudi.engine.local.max.bytes`, as option of the write or setting of the session,
overrule the
choice. Which engine ran and why is in the result and in the commit's metadata.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import UnsupportedError
from pyhudi.spark.input.small_input import Collected, collect_small, fetch_rows
from pyhudi.spark.jvm.error_translation import translate_pickling_errors
from pyhudi.spark.stopped_sessions import check_running
from pyhudi.spark.writer.repeated_source import RepeatedSource
from pyhudi.spark.writer.spark_tagger import SparkTagger, unserved_write
from pyhudi.spark.writer.validator_queries import session_runner
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.spec.visibility import Visibility
from pyhudi.table.open_table import OpenTable
from pyhudi.table.validation.query_runner import register_query_runner
from pyhudi.table.write_pipeline import write_rows
from pyhudi.table.write_table import columns_written, register_writer, write_locally, write_request
from pyhudi.write.options.write_config import WriteConfig, choose, effective_operation
from pyhudi.write.pipeline.write_stage import WriteRequest
from pyhudi.write.write_result import WriteResult

ENGINE: Final = "pyhudi.engine"
LOCAL_MAX_BYTES: Final = "pyhudi.engine.local.max.bytes"


@dataclass(frozen=True, slots=True)
class _EngineChoice:
    engine: str
    max_bytes: int


def write_frame(
    table: OpenTable,
    operation: Operation,
    data: object,
    *,
    options: Mapping[str, str],
    prepped: bool,
    partitions: Sequence[str] | None,
    read_snapshot: Visibility | None = None,
    columns: Sequence[str] | None = None,
) -> WriteResult:
    """Write a DataFrame's rows to a table; arguments and errors as in `pyhudi.table.write_table.write`."""
    assert isinstance(data, DataFrame), "registered for DataFrames"
    check_running(data.sparkSession)
    started = time.perf_counter()
    choice = _engine_choice(data.sparkSession, options)
    settings = resolve(without_engine(options))
    operation = effective_operation(operation, settings, table.config)
    config = choose(settings, table.config, operation)
    request = write_request(operation, prepped=prepped, partitions=partitions, read_snapshot=read_snapshot, columns=columns)
    if (names := columns_written(data.columns, request, config)) is not None:
        data = data.select([f"`{name}`" for name in names])
    rows = _engine_rows(table, data, config, choice)
    if isinstance(rows, SparkTagger):
        return _write_by_tasks(table, request, config, rows, started)
    return write_locally(table, request, config, rows.rows, rows.reason, None, started=started)


def _engine_rows(table: OpenTable, frame: DataFrame, config: WriteConfig, choice: _EngineChoice) -> SparkTagger | Collected:
    """Return the rows where they are written: left in Spark, or brought to this process.

    Raises:
        UnsupportedError: Spark tasks are asked for and cannot do this write.
    """
    if choice.engine == "local":
        return Collected(fetch_rows(frame), f"{ENGINE} is local")
    if choice.engine == "spark":
        if (unserved := unserved_write(table, frame, config)) is not None:
            raise UnsupportedError(f"this write cannot be done by Spark tasks: {unserved}; leave pyhudi.engine at auto.")
        return SparkTagger(frame, f"{ENGINE} is spark")
    collected = collect_small(frame, choice.max_bytes)
    if collected.rows is not None:
        return collected
    if (unserved := unserved_write(table, frame, config)) is not None:
        return Collected(fetch_rows(frame), unserved)
    return SparkTagger(frame, collected.reason)


@translate_pickling_errors()
def _write_by_tasks(table: OpenTable, request: WriteRequest, config: WriteConfig, rows: SparkTagger, started: float) -> WriteResult:
    with ExitStack() as end:
        return write_rows(table, request, config, replace(rows, source=RepeatedSource(rows.frame, end)), started=started)


def without_engine(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those that choose the engine: what is left says what to write."""
    return {name: value for name, value in options.items() if name not in (ENGINE, LOCAL_MAX_BYTES)}


def local_bytes_max(session: SparkSession, options: Mapping[str, str]) -> int:
    """Return up to how many bytes are read and joined in this process; 0 when Spark does all the work."""
    choice = _engine_choice(session, options)
    return 0 if choice.engine == "spark" else choice.max_bytes


def _engine_choice(session: SparkSession, options: Mapping[str, str]) -> _EngineChoice:
    """Return what options and session say; an option beats the session's setting."""
    stated = {name: session.conf.get(name, None) for name in (ENGINE, LOCAL_MAX_BYTES)}
    options_of_call = {name: value for name, value in {**stated, **options}.items() if name in stated and value is not None}
    resolved = resolve(options_of_call)
    return _EngineChoice(resolved.text(ENGINE).lower(), resolved.integer(LOCAL_MAX_BYTES))


def install() -> None:
    """Let tables take DataFrames; a second call does nothing."""
    if not _installed:
        register_query_runner(session_runner)
        register_writer(lambda data: isinstance(data, DataFrame), write_frame)
        _installed.append(True)


_installed: list[bool] = []
