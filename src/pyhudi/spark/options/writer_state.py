"""What a user told a `DataFrameWriter`, remembered on the Python side.

Spark keeps a writer's format, mode and options in the JVM and hands none of them back. So the chained calls are noted here, next to
being passed on, and a writer that turns out to write another format is not changed at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameWriter

from pyhudi.errors import OptionError

_ATTRIBUTE = "_pyhudi_state"
_FORMATS = frozenset({"hudi", "org.apache.hudi"})
#: How Spark spells each save mode, without regard to case.
_MODES = {
    "append": "append",
    "overwrite": "overwrite",
    "ignore": "ignore",
    "error": "error",
    "errorifexists": "error",
    "default": "error",
}


@dataclass(frozen=True, slots=True)
class WriterState:
    """Format, mode, options and partition columns of one writer; None where the user said nothing."""

    source: str | None = None
    mode: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    unserved: tuple[str, ...] = ()  # bucketBy, sortBy, clusterBy
    is_stream: bool = False

    @property
    def is_hudi(self) -> bool:
        """True when the format is Hudi."""
        return self.source is not None and self.source.lower() in _FORMATS

    def with_call(
        self,
        source: str | None = None,
        mode: str | None = None,
        partition_by: str | list[str] | None = None,
        options: Mapping[str, object] | None = None,
    ) -> WriterState:
        """Return the state after the arguments that `save` and `saveAsTable` take in addition to the chained calls."""
        columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by or self.partition_by)
        given = {name: option_text(value) for name, value in (options or {}).items() if value is not None}
        return replace(
            self,
            source=source or self.source,
            mode=mode or self.mode,
            partition_by=columns,
            options={**self.options, **given},
        )

    def save_mode(self) -> str:
        """Return append, overwrite, ignore or error.

        Raises:
            OptionError: Spark has no such mode.
        """
        match = _MODES.get((self.mode or "error").lower())
        if match is None:
            raise OptionError(f"save mode {self.mode!r} does not exist: take append, overwrite, ignore or errorifexists.")
        return match


def state_of(writer: DataFrameWriter) -> WriterState:
    """Return what is known of a writer."""
    match = writer.__dict__.get(_ATTRIBUTE)
    return match if isinstance(match, WriterState) else WriterState()


def note(writer: DataFrameWriter, state: WriterState) -> None:
    """Remember the state of a writer."""
    writer.__dict__[_ATTRIBUTE] = state


def frame_of(writer: DataFrameWriter) -> DataFrame:
    """Return the DataFrame that a writer writes."""
    frame: DataFrame = writer._df  # noqa: SLF001 - a writer says it nowhere else
    return frame


def session_of(writer: DataFrameWriter) -> SparkSession:
    """Return the session of the DataFrame that a writer writes."""
    return frame_of(writer).sparkSession


def option_text(value: object) -> str:
    """Return an option's value as Spark and Hudi write it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
