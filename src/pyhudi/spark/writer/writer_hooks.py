"""`df.write` for Hudi: the methods of Spark's `DataFrameWriter`, led to pyhudi when the format is Hudi.

The methods are replaced on Spark's class once per process; each replacement passes on to Spark's own unless the session was enabled and
the writer's format, or the table's provider in the catalog, is Hudi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyspark.sql.readwriter import DataFrameWriter

from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_methods
from pyhudi.spark.options.writer_state import frame_of, note, option_text, session_of, state_of
from pyhudi.spark.stopped_sessions import check_running
from pyhudi.spark.writer.save import insert_into_table, save_as_table, save_to_path


def install(is_enabled: IsEnabled) -> None:
    """Replace the writer's methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(DataFrameWriter, {**_noting_hooks(), **_writing_hooks(is_enabled)})


def _noting_hooks() -> dict[str, Hook]:
    """Return the hooks of the chained calls: each notes what was said, then lets Spark's own method run."""

    def noting(change: Callable[..., dict[str, Any]]) -> Hook:
        def hook(writer: DataFrameWriter, original: Hook, *args: Any, **kwargs: Any) -> Any:
            note(writer, replace(state_of(writer), **change(writer, *args, **kwargs)))
            return original(writer, *args, **kwargs)

        return hook

    def options(writer: DataFrameWriter, **given: Any) -> dict[str, Any]:
        strings = {name: option_text(value) for name, value in given.items() if value is not None}
        return {"options": {**state_of(writer).options, **strings}}

    def partition_by(_: DataFrameWriter, *columns: Any) -> dict[str, Any]:
        names = columns[0] if len(columns) == 1 and isinstance(columns[0], list | tuple) else columns
        return {"partition_by": tuple(names)}

    def unserved(name: str) -> Callable[..., dict[str, Any]]:
        return lambda writer, *_, **__: {"unserved": (*state_of(writer).unserved, name)}

    changes: dict[str, Callable[..., dict[str, Any]]] = {
        "format": lambda _, source: {"source": source},
        "mode": lambda writer, saveMode: {"mode": saveMode or state_of(writer).mode},  # noqa: N803 - Spark's name
        "option": lambda writer, key, value: options(writer, **{key: value}),
        "options": options,
        "partitionBy": partition_by,
        **{name: unserved(name) for name in ("bucketBy", "sortBy", "clusterBy")},
    }
    return {name: noting(change) for name, change in changes.items() if hasattr(DataFrameWriter, name)}


def _writing_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    """Return the hooks of the calls that write."""

    def save(
        writer: DataFrameWriter,
        original: Hook,
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - Spark's name
        mode: str | None = None,
        partitionBy: str | list[str] | None = None,  # noqa: N803 - Spark's name
        **options: Any,
    ) -> None:
        state = state_of(writer).with_call(format, mode, partitionBy, options)
        if state.is_hudi and is_enabled(session_of(writer)):
            check_running(session_of(writer))
            save_to_path(frame_of(writer), state, path)
        else:
            original(writer, path, format, mode, partitionBy, **options)

    def save_as(
        writer: DataFrameWriter,
        original: Hook,
        name: str,
        format: str | None = None,  # noqa: A002 - Spark's name
        mode: str | None = None,
        partitionBy: str | list[str] | None = None,  # noqa: N803 - Spark's name
        **options: Any,
    ) -> None:
        state = state_of(writer).with_call(format, mode, partitionBy, options)
        session = session_of(writer)
        if is_enabled(session) and (state.is_hudi or (state.source is None and catalog_table.find(session, name))):
            check_running(session)
            save_as_table(frame_of(writer), state, name)
        else:
            original(writer, name, format, mode, partitionBy, **options)

    def insert_into(
        writer: DataFrameWriter,
        original: Hook,
        tableName: str,  # noqa: N803 - Spark's name
        overwrite: bool | None = None,
    ) -> None:
        session = session_of(writer)
        if is_enabled(session) and catalog_table.find(session, tableName):
            check_running(session)
            insert_into_table(frame_of(writer), state_of(writer), tableName, overwrite=overwrite)
        else:
            original(writer, tableName, overwrite)

    return {"save": save, "saveAsTable": save_as, "insertInto": insert_into}
