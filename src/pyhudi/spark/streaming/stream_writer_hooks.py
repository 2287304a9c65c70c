"""`df.writeStream` for Hudi: the methods of Spark's `DataStreamWriter`, led to pyhudi when the format is Hudi.

Spark runs the stream, its trigger and its checkpoint, and hands each batch to `StreamSink` (`foreachBatch`). The methods are replaced
on Spark's class once per process; each passes on to Spark's own unless the session was enabled and the format is Hudi.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyhudi.errors import OptionError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.patches import Hook, IsEnabled, original_of, replace_methods
from pyhudi.spark.options.writer_state import WriterState, option_text
from pyhudi.spark.streaming.stream_sink import StreamSink
from pyhudi.spark.streaming.stream_source import check_limits

_ATTRIBUTE = "_pyhudi_state"
_CHECKPOINT = "checkpointLocation"
_CHECKPOINT_CONF = "spark.sql.streaming.checkpointLocation"


def install(is_enabled: IsEnabled) -> None:
    """Replace the methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(DataStreamWriter, {**_noting_hooks(), **_starting_hooks(is_enabled)})


def _state(writer: DataStreamWriter) -> WriterState:
    match = writer.__dict__.get(_ATTRIBUTE)
    return match if isinstance(match, WriterState) else WriterState()


def _noting_hooks() -> dict[str, Hook]:
    """Return the hooks of the chained calls: each notes what was said, then lets Spark's own method run."""

    def noting(change: Callable[..., dict[str, Any]]) -> Hook:
        def hook(writer: DataStreamWriter, original: Hook, *args: Any, **kwargs: Any) -> Any:
            writer.__dict__[_ATTRIBUTE] = replace(_state(writer), **change(writer, *args, **kwargs))
            return original(writer, *args, **kwargs)

        return hook

    def options(writer: DataStreamWriter, **given: Any) -> dict[str, Any]:
        strings = {name: option_text(value) for name, value in given.items() if value is not None}
        return {"options": {**_state(writer).options, **strings}}

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


@dataclass(frozen=True, slots=True)
class _Start:
    """A call that starts a stream: what was said in it, and of the writer before."""

    state: WriterState
    source: str | None
    mode: str | None
    query_name: str | None
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        writer: DataStreamWriter,
        format: str | None = None,  # noqa: A002 - Spark's name
        outputMode: str | None = None,  # noqa: N803 - Spark's name
        partitionBy: str | list[str] | None = None,  # noqa: N803 - Spark's name
        queryName: str | None = None,  # noqa: N803 - Spark's name
        **options: Any,
    ) -> _Start:
        """Return the call; arguments are those of Spark's methods, but for the first, which says where."""
        return cls(_state(writer).with_call(format, outputMode, partitionBy, options), format, outputMode, queryName, options)

    def pass_on(self, writer: DataStreamWriter, original: Hook, where: str | None) -> Any:
        """Let Spark write another format."""
        _give_partitions(writer, self.state)
        return original(writer, where, self.source, self.mode, None, self.query_name, **self.options)

    def write(self, writer: DataStreamWriter, *, path: str | None = None, table: str | None = None) -> Any:
        """Start a stream whose batches go to a Hudi table; for Spark its format is no longer Hudi."""
        sink = StreamSink(self.state, (self.state.mode or "append").lower(), path, table)
        sink.check()
        self._check_checkpoint(writer)
        writer.options(**self.options).foreachBatch(sink)
        writer.__dict__[_ATTRIBUTE] = WriterState()
        return writer.start(outputMode=self.mode, queryName=self.query_name)

    def _check_checkpoint(self, writer: DataStreamWriter) -> None:
        """Refuse a stream that would forget where it was, as Spark does for its own sinks, though not for `foreachBatch`."""
        stated = {name.lower() for name in (*self.state.options, *self.options)}
        if _CHECKPOINT.lower() not in stated and writer._spark.conf.get(_CHECKPOINT_CONF, None) is None:  # noqa: SLF001
            raise OptionError(
                f"writeStream to a Hudi table needs .option('{_CHECKPOINT}', <a folder of this stream's own>) or the setting"
                f" {_CHECKPOINT_CONF}: without it a restart would write everything again."
            )


def _starting_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    """Return the hooks of the calls that start a stream, or say how it runs."""

    def start(writer: DataStreamWriter, original: Hook, path: str | None = None, *arguments: Any, **named: Any) -> Any:
        call = _Start.of(writer, *arguments, **named)
        # Asked for streams of other formats too: the session of their batches is cloned from this one and inherits its settings.
        if not (is_enabled(writer._spark) and call.state.is_hudi):  # noqa: SLF001 - a writer says it nowhere else
            return call.pass_on(writer, original, path)
        stated = next((value for name, value in call.state.options.items() if name.lower() == "path"), None)
        return call.write(writer, path=path or stated)

    def to_table(writer: DataStreamWriter, original: Hook, tableName: str, *arguments: Any, **named: Any) -> Any:  # noqa: N803
        call = _Start.of(writer, *arguments, **named)
        session, state = writer._spark, call.state  # noqa: SLF001
        if not (is_enabled(session) and (state.is_hudi or (state.source is None and catalog_table.find(session, tableName)))):
            return call.pass_on(writer, original, tableName)
        return call.write(writer, table=tableName)

    def trigger(writer: DataStreamWriter, original: Hook, **named: Any) -> Any:
        if (named.get("availableNow") or named.get("once")) and is_enabled(writer._spark):  # noqa: SLF001
            check_limits(writer._df)  # noqa: SLF001
        return original(writer, **named)

    return {"start": start, "toTable": to_table, "trigger": trigger}


def _give_partitions(writer: DataStreamWriter, state: WriterState) -> None:
    if state.partition_by:
        original_of(DataStreamWriter, "partitionBy")(writer, *state.partition_by)
