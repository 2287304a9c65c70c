"""`df.writeTo(table)` for Hudi: Spark's newer writer, led to pyhudi when the table is a Hudi table.

Spark gives its rows to a table's provider by an interface that Hudi's tables do not have; what it asks for is what `saveAsTable` with an
operation does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.readwriter import DataFrameWriterV2

from pyhudi.errors import TableExists, TableNotFound, UnsupportedError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.column_expressions import sql_of
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_methods
from pyhudi.spark.options.writer_state import WriterState, option_text
from pyhudi.spark.writer.create_statement import create_as_select
from pyhudi.spark.writer.save import save_as_table
from pyhudi.write.options.validate_options import OPERATION

_ATTRIBUTE: Final = "_pyhudi_target"


@dataclass(frozen=True, slots=True)
class _Target:
    """What a writer was told: its table, and what `create` needs."""

    table: str
    state: WriterState = field(default_factory=WriterState)
    unserved: str | None = None


def install(is_enabled: IsEnabled) -> None:
    """Replace the writers' methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(DataFrameWriterV2, {**_noting_hooks(), **_writing_hooks(is_enabled)})


def _target(writer: Any) -> _Target:
    result: _Target = writer.__dict__[_ATTRIBUTE]
    return result


def _note(writer: Any, **changes: Any) -> None:
    writer.__dict__[_ATTRIBUTE] = replace(_target(writer), **changes)


def _noting_hooks() -> dict[str, Hook]:
    def init(writer: DataFrameWriterV2, original: Hook, df: DataFrame, table: str) -> None:
        writer.__dict__[_ATTRIBUTE] = _Target(table)
        original(writer, df, table)

    def noting(change: Callable[..., WriterState]) -> Hook:
        def hook(writer: DataFrameWriterV2, original: Hook, *args: Any, **kwargs: Any) -> Any:
            _note(writer, state=change(_target(writer).state, *args, **kwargs))
            return original(writer, *args, **kwargs)

        return hook

    def options(state: WriterState, given: Mapping[str, object]) -> WriterState:
        strings = {name: option_text(value) for name, value in given.items() if value is not None}
        return replace(state, options={**state.options, **strings})

    def partitioned(writer: DataFrameWriterV2, original: Hook, col: Any, *cols: Any) -> Any:
        names = tuple(one if isinstance(one, str) else sql_of(writer._spark, one).strip("`") for one in (col, *cols))  # noqa: SLF001
        _note(writer, state=replace(_target(writer).state, partition_by=names))
        return original(writer, col, *cols)

    def clustered(writer: DataFrameWriterV2, original: Hook, col: str, *cols: str) -> Any:
        _note(writer, unserved="clusterBy")
        return original(writer, col, *cols)

    return {
        "__init__": init,
        "using": noting(lambda state, provider: replace(state, source=provider)),
        "option": noting(lambda state, key, value: options(state, {key: value})),
        "options": noting(lambda state, **given: options(state, given)),
        "tableProperty": noting(lambda state, property, value: options(state, {property: value})),  # noqa: A006 - Spark's name
        "partitionedBy": partitioned,
        "clusterBy": clustered,
    }


def _writing_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    def make_hook(run: Callable[..., None]) -> Hook:
        def hook(writer: DataFrameWriterV2, original: Hook, *args: Any, **kwargs: Any) -> None:
            session, target = writer._spark, _target(writer)  # noqa: SLF001 - said nowhere else
            if not (is_enabled(session) and (target.state.is_hudi or _exists(writer))):
                original(writer, *args, **kwargs)
                return
            if target.unserved is not None:
                raise UnsupportedError(f"{target.unserved} has no meaning for a Hudi table; leave it out.")
            run(writer, *args, **kwargs)

        return hook

    return {
        "create": make_hook(_create),
        "replace": make_hook(_replace),
        "createOrReplace": make_hook(_create_or_replace),
        "append": make_hook(_write),
        "overwrite": make_hook(_overwrite),
        "overwritePartitions": make_hook(lambda writer: _write(writer, "insert_overwrite")),
    }


def _exists(writer: DataFrameWriterV2) -> bool:
    return catalog_table.find(writer._spark, _target(writer).table) is not None  # noqa: SLF001


def _create(writer: DataFrameWriterV2) -> None:
    target = _target(writer)
    if _exists(writer):
        raise TableExists(f"writeTo('{target.table}').create(): the table exists already; append() adds rows to it.")
    save_as_table(writer._df, replace(target.state, mode="error"), target.table)  # noqa: SLF001


def _replace(writer: DataFrameWriterV2) -> None:
    target = _target(writer)
    if not _exists(writer):
        raise TableNotFound(f"writeTo('{target.table}').replace(): there is no such Hudi table; createOrReplace() makes it.")
    create_as_select(writer._df, target.state, target.table, "REPLACE")  # noqa: SLF001


def _create_or_replace(writer: DataFrameWriterV2) -> None:
    target = _target(writer)
    create_as_select(writer._df, target.state, target.table, "CREATE OR REPLACE")  # noqa: SLF001


def _write(writer: DataFrameWriterV2, operation: str | None = None) -> None:
    target = _target(writer)
    if not _exists(writer):
        raise TableNotFound(f"writeTo('{target.table}'): there is no such Hudi table; create() makes it.")
    options = target.state.options if operation is None else {**target.state.options, OPERATION: operation}
    save_as_table(writer._df, replace(target.state, mode="append", options=options), target.table)  # noqa: SLF001


def _overwrite(writer: DataFrameWriterV2, condition: Any) -> None:
    text = condition if isinstance(condition, str) else sql_of(writer._spark, condition)  # noqa: SLF001
    if text.strip("()` ").lower() != "true":
        raise UnsupportedError(
            f"writeTo('{_target(writer).table}').overwrite({text}): only lit(True), which replaces all rows, is served;"
            " overwritePartitions() replaces the partitions that the rows lie in."
        )
    _write(writer, "insert_overwrite_table")
