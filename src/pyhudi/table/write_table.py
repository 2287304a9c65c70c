"""Writing to a table: the entry point of every write of rows.

Data that live in another engine go to the writer which that engine has registered; all others are written in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.arguments import check_strings
from pyhudi.spec.options import note_without_effect, resolve
from pyhudi.spec.visibility import Visibility
from pyhudi.table.open_table import OpenTable
from pyhudi.table.version.version_table import upgrade_before
from pyhudi.table.write_pipeline import write_rows
from pyhudi.write.input.data_columns import MissingColumns
from pyhudi.write.input.incoming_data import to_table
from pyhudi.write.input.stated_columns import WRITE_SCHEMA, retained_columns
from pyhudi.write.options.write_config import WriteConfig, choose, effective_operation
from pyhudi.write.pipeline.local_tagger import IN_THIS_PROCESS, LocalTagger
from pyhudi.write.pipeline.write_stage import WriteRequest
from pyhudi.write.write_result import WriteResult


class Writer(Protocol):
    """Writes data that live in another engine; the arguments are those of `write`."""

    def __call__(
        self,
        table: OpenTable,
        operation: Operation,
        data: object,
        *,
        options: Mapping[str, str],
        prepped: bool,
        partitions: Sequence[str] | None,
        read_snapshot: Visibility | None,
        columns: Sequence[str] | None,
    ) -> WriteResult:
        """Return what the write did."""
        ...


_writers: list[tuple[Callable[[object], bool], Writer]] = []


def register_writer(takes: Callable[[object], bool], writer: Writer) -> None:
    """Send data for which `takes` is true to `writer`; what was registered last is asked first."""
    _writers.insert(0, (takes, writer))


def write(
    table: OpenTable,
    operation: Operation,
    data: object | None,
    *,
    options: Mapping[str, str] | None = None,
    prepped: bool = False,
    partitions: Sequence[str] | None = None,
    read_snapshot: Visibility | None = None,
    columns: Sequence[str] | None = None,
    engine: Engine | None = None,
    reason: str = IN_THIS_PROCESS,
) -> WriteResult:
    """Write data to a table in one commit; a merge-on-read table is compacted afterwards when that is due.

    Args:
        table: the table.
        operation: what to do with the data.
        data: what `pyhudi.write.input.incoming_data.to_table` takes, or data of an engine that has registered a writer; None for
            operations without.
        options: `hoodie.*` options of this call.
        prepped: the data hold the meta columns that their records were read with; no index is asked.
        partitions: partition paths to replace or delete, for operations that replace.
        read_snapshot: the commits that located rows were read with.
        columns: the data columns that located updates bring, when not all (`pyhudi.write.input.partial_columns`).
        engine: runs the tasks; threads of this process by default.
        reason: why that engine, for the result and the commit's metadata.

    Raises:
        UsageError: options or data do not fit the table; nothing was written.
        ConflictError: another writer holds the table, or came between; nothing of this write is visible.
        StorageError: the storage failed; nothing of this write is visible.
        UnknownOutcomeError: the storage failed in the last step without saying whether the commit is visible.
    """
    started = time.perf_counter()
    if partitions is not None:
        partitions = check_strings(partitions, "partitions", "paths")
    if operation is Operation.DELETE_PARTITION and partitions is not None:
        data = None  # the paths say it all
    upgrade_before(table, options or {})
    for takes, writer in _writers:
        if data is not None and takes(data):
            return writer(
                table,
                operation,
                data,
                options=options or {},
                prepped=prepped,
                partitions=partitions,
                read_snapshot=read_snapshot,
                columns=columns,
            )
    settings = resolve(options or {})
    operation = effective_operation(operation, settings, table.config)
    request = write_request(operation, prepped=prepped, partitions=partitions, read_snapshot=read_snapshot, columns=columns)
    config = choose(settings, table.config, operation)
    return write_locally(table, request, config, data, reason, engine, started=started)


def write_locally(
    table: OpenTable, request: WriteRequest, config: WriteConfig, data: object | None, reason: str, engine: Engine | None, *, started: float
) -> WriteResult:
    """Write data of this process; arguments and errors as in `write`, `started` as in `write_rows`."""
    complete = config.missing_columns is MissingColumns.REFUSED and not request.operation.deletes_rows
    rows = None if data is None else to_table(data, lambda: table.schema, complete=complete)
    if rows is not None and (names := columns_written(rows.column_names, request, config)) is not None:
        rows = rows.select(names)
    return write_rows(table, request, config, LocalTagger(rows, reason, engine or LocalEngine()), started=started)


def columns_written(names: Sequence[str], request: WriteRequest, config: WriteConfig) -> list[str] | None:
    """Return which of the data's columns are written, None for all of them.

    Raises:
        SchemaError: the data mark deletes in a column that `hoodie.write.schema` leaves out.
    """
    if config.stated_columns is None:
        return None
    if request.prepped or request.operation.deletes_rows:
        note_without_effect(WRITE_SCHEMA, "is for rows that are inserted or upserted, not for deletes and the rows of UPDATE and MERGE")
        return None
    return retained_columns(names, config.stated_columns)


def write_request(
    operation: Operation,
    *,
    prepped: bool,
    partitions: Sequence[str] | None,
    read_snapshot: Visibility | None,
    columns: Sequence[str] | None,
) -> WriteRequest:
    """Return the request of a write; arguments as in `write`."""
    paths, names = (None if strings is None else tuple(strings) for strings in (partitions, columns))
    return WriteRequest(operation, prepped, paths, read_snapshot, names)
