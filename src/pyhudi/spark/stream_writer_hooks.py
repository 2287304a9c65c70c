"""`df.writeStream` for Hudi: the methods of Spark's `DataStreamWriter`, led to pyhudi when the format is Hudi.

Spark runs the stream, its trigger and its checkpoint, and hands each batch to `StreamSink` (`foreachBatch`). The methods are replaced
on Spark's class once per process; each passes on to Spark's own unless the session was enabled and the format is Hudi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyhudi.spark import catalog_table
from pyhudi.spark.patches import Hook, replace_method
from pyhudi.spark.stream_sink import StreamSink
from pyhudi.spark.writer_state import WriterState, option_text

_ATTRIBUTE = "_pyhudi_state"
IsEnabled = Callable[[SparkSession], bool]


def install(is_enabled: IsEnabled) -> None:
    """Replace the methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    for name, hook in {**_noting_hooks(), **_starting_hooks(is_enabled)}.items():
        replace_method(DataStreamWriter, name, hook)


def _state(writer: DataStreamWriter) -> WriterState:
    found = writer.__dict__.get(_ATTRIBUTE)
    return found if isinstance(found, WriterState) else WriterState()


def _noting_hooks() -> dict[str, Hook]:
    """Return the hooks of the chained calls: each notes what was said, then lets Spark's own method run."""

    def noting(change: Callable[..., dict[str, Any]]) -> Hook:
        def hook(writer: DataStreamWriter, original: Hook, *args: Any, **kwargs: Any) -> Any:
            writer.__dict__[_ATTRIBUTE] = replace(_state(writer), **change(writer, *args, **kwargs))
            return original(writer, *args, **kwargs)

        return hook

    def options(writer: DataStreamWriter, **given: Any) -> dict[str, Any]:
        texts = {name: option_text(value) for name, value in given.items() if value is not None}
        return {"options": {**_state(writer).options, **texts}}

    def partition_by(writer: DataStreamWriter, _: Hook, *columns: Any) -> DataStreamWriter:
        # Kept back until the format is known: Spark's own way of handing out batches knows no partitions.
        names = columns[0] if len(columns) == 1 and isinstance(columns[0], list | tuple) else columns
        writer.__dict__[_ATTRIBUTE] = replace(_state(writer), partition_by=tuple(names))
        return writer

    return {
        "format": noting(lambda _, source: {"source": source}),
        "outputMode": noting(lambda _, outputMode: {"mode": outputMode}),  # noqa: N803 - Spark's name
        "option": noting(lambda writer, key, value: options(writer, **{key: value})),
        "options": noting(options),
        "partitionBy": partition_by,
    }


def _starting_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    """Return the hooks of the calls that start a stream."""

    def start(
        writer: DataStreamWriter,
        original: Hook,
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - Spark's name
        outputMode: str | None = None,  # noqa: N803 - Spark's name
        partitionBy: str | list[str] | None = None,  # noqa: N803 - Spark's name
        queryName: str | None = None,  # noqa: N803 - Spark's name
        **options: Any,
    ) -> Any:
        state = _state(writer).with_call(format, outputMode, partitionBy, options)
        if not (state.is_hudi and is_enabled(writer._spark)):  # noqa: SLF001 - a writer says it nowhere else
            _give_partitions(writer, state)
            return original(writer, path, format, outputMode, None, queryName, **options)
        location = path or next((value for name, value in state.options.items() if name.lower() == "path"), None)
        sink = StreamSink(state, _mode(state), path=location)
        sink.check()
        writer.options(**options).foreachBatch(sink)
        return original(writer, None, None, outputMode, None, queryName)

    def to_table(
        writer: DataStreamWriter,
        original: Hook,
        tableName: str,  # noqa: N803 - Spark's name
        format: str | None = None,  # noqa: A002 - Spark's name
        outputMode: str | None = None,  # noqa: N803 - Spark's name
        partitionBy: str | list[str] | None = None,  # noqa: N803 - Spark's name
        queryName: str | None = None,  # noqa: N803 - Spark's name
        **options: Any,
    ) -> Any:
        state = _state(writer).with_call(format, outputMode, partitionBy, options)
        session = writer._spark  # noqa: SLF001
        if not (is_enabled(session) and (state.is_hudi or (state.source is None and catalog_table.find(session, tableName)))):
            _give_partitions(writer, state)
            return original(writer, tableName, format, outputMode, None, queryName, **options)
        sink = StreamSink(state, _mode(state), table=tableName)
        sink.check()
        writer.options(**options).foreachBatch(sink)
        return _plain_start(writer, outputMode, queryName)

    return {"start": start, "toTable": to_table}


def _plain_start(writer: DataStreamWriter, output_mode: str | None, query_name: str | None) -> Any:
    """Start a stream whose batches go to a function; its format is no longer Hudi's to look at."""
    writer.__dict__[_ATTRIBUTE] = WriterState()
    return writer.start(outputMode=output_mode, queryName=query_name)


def _give_partitions(writer: DataStreamWriter, state: WriterState) -> None:
    if state.partition_by:
        original = DataStreamWriter.partitionBy._pyhudi_original  # type: ignore[attr-defined]  # noqa: SLF001 - set by replace_method
        original(writer, *state.partition_by)


def _mode(state: WriterState) -> str:
    return (state.mode or "append").lower()
