"""What `df.write.format("hudi")` does at its end: `save`, `saveAsTable` and `insertInto`, in every save mode.

Defaults are those of Hudi's DataFrame writer: operation upsert (insert for a table without a record key), no hive-style paths, a new table
of version 9. Overwrite replaces the rows in one commit where the table's definition stays the same, and creates the table again where it
does not (`pyhudi.table.version.recreate_table`); readers never see a gap.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from pyhudi.errors import OptionError, TableExists, TableNotFound, UnsupportedError, UsageError
from pyhudi.locks.choose_lock import open_table_storage
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spark.options.new_table import TableDefinition, changed_definition, definition_of
from pyhudi.spark.options.session_options import note_settings_of_session, session_options
from pyhudi.spark.options.writer_state import WriterState
from pyhudi.spark.writer.create_statement import TABLE_NAME, create_as_select, quoted
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.options import merge_options, resolve, same_key, warn_without_effect
from pyhudi.storage.defaults_file import default_options, default_write_options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.bootstrap.bootstrap_settings import BASE_PATH as BOOTSTRAP_BASE_PATH
from pyhudi.table.bootstrap.bootstrap_settings import PREFIX as BOOTSTRAP_PREFIX
from pyhudi.table.bootstrap.bootstrap_table import Bootstrap, NewTable, bootstrap_table
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.remove_rename import delete_unused_table
from pyhudi.table.version.recreate_table import NewDefinition, options_of_rows, recreate_table
from pyhudi.table.write_table import write
from pyhudi.timeline.clock import SystemClock
from pyhudi.write.input.data_columns import FILL_OPTION
from pyhudi.write.input.stated_columns import WRITE_SCHEMA, stated_columns, stated_schema
from pyhudi.write.options.validate_options import OPERATION, OPERATIONS

_INSTEAD: Final = "save(), saveAsTable() and INSERT ... WITH (...) take options"
_log = logging.getLogger(__name__)
_BOOTSTRAP: Final = "bootstrap"
_PARTITIONS_TO_DELETE: Final = "hoodie.datasource.write.partitions.to.delete"


def save_to_path(frame: DataFrame, state: WriterState, path: str | None = None) -> None:
    """Write a DataFrame into the table at a path, which is created when it is not there.

    Raises:
        UsageError: no path, unknown or contradicting options, columns that the table needs and the data lacks.
        TableExists: mode errorifexists and a table is there, or files that are no table.
    """
    location = path or state.options.get("path")
    if not location:
        raise UsageError('df.write.format("hudi").save() needs the path of the table: save("/data/trips").')
    _refuse_unserved(state)
    options = {name: value for name, value in state.options.items() if name != "path"}
    note_settings_of_session(frame.sparkSession, options)
    _write(frame, state, location, options)


def save_as_table(frame: DataFrame, state: WriterState, name: str) -> None:
    """Write a DataFrame into a table of the session catalog, which is created when it is not there."""
    _refuse_unserved(state)
    session = frame.sparkSession
    entry = catalog_table.find(session, name)
    if entry is not None:
        settings = {name: value for name, value in session_options(session).items() if not same_key(name, OPERATION)}
        options = merge_options(entry.properties, settings, state.options)
        hudi = {key: value for key, value in options.items() if key.startswith("hoodie.") or key in state.options}
        for key in ("path", TABLE_NAME):  # the catalog's entry says both
            hudi.pop(key, None)
        if _write(frame, state, entry.location, hudi, table_name=entry.name):
            catalog_table.release(session, entry)
            where = "" if entry.managed else f" LOCATION {quoted(entry.location)}"
            session.sql(f"CREATE TABLE {name} USING hudi{where}")
        return
    create_as_select(frame, state, name)


def insert_into_table(frame: DataFrame, state: WriterState, name: str, *, overwrite: bool | None) -> None:
    """Insert a DataFrame's columns by position into a table of the session catalog, as Spark's `insertInto` does.

    Spark and Apache Hudi ignore the options of such a writer; each is warned of.
    """
    for option in state.options:
        warn_without_effect(option, "is given to a writer that calls insertInto, which takes the table's properties and SET: " + _INSTEAD)
    replaces = overwrite if overwrite is not None else state.mode is not None and state.save_mode() == "overwrite"
    verb = "OVERWRITE" if replaces else "INTO"
    statement = f"INSERT {verb} {name} SELECT * FROM {{frame}}"  # noqa: S608 - the name is the user's own, read by Spark's parser
    frame.sparkSession.sql(statement, frame=frame)


def _write(frame: DataFrame, state: WriterState, location: str, options: Mapping[str, str], table_name: str | None = None) -> bool:
    """Write a DataFrame, and tell whether the table was created again."""
    table = _open(location)
    options = merge_options(default_options() if table is None else default_write_options(), options)
    if options.get(OPERATION, "").lower() == _BOOTSTRAP:
        _bootstrap(frame, state, location, options, table_name)
        return False
    mode, operation = state.save_mode(), _operation(options)
    if table is not None and mode == "ignore":
        return False
    if table is not None and mode == "error":
        raise TableExists(
            f"there is a Hudi table at {location}, and the save mode is errorifexists: say mode('append') or mode('overwrite')."
        )
    is_new = table is None
    if table is None:
        table = _create(frame, state, location, options, table_name)
    elif mode == "overwrite" and operation not in (Operation.INSERT_OVERWRITE, Operation.INSERT_OVERWRITE_TABLE):
        definition = definition_of(options, state.partition_by, default_name=table_name or table.config.name)
        changed = changed_definition(table, definition, _columns(frame, options))
        if changed is not None:
            _log.info("mode('overwrite') creates table %s again: %s", location, changed)
            _recreate(table, frame, definition, operation, options)
            return True
        operation = Operation.INSERT_OVERWRITE_TABLE
        options = merge_options({FILL_OPTION: "true"}, options)  # no row stays that a missing column could take values from
    if operation is None and not table.config.record_key_fields:
        # Rows that were read from the table name their records; those of a stream, or of the table's first write, are another table's.
        changes_rows = RECORD_KEY in frame.columns and not is_new and not state.is_stream
        operation = Operation.UPSERT if changes_rows else Operation.INSERT
    partitions = options.get(_PARTITIONS_TO_DELETE)
    try:
        write(
            table,
            operation or Operation.UPSERT,
            frame,
            options={key: value for key, value in options.items() if key != _PARTITIONS_TO_DELETE},
            partitions=None if partitions is None else [part for part in partitions.split(",") if part],
        )
    except (UsageError, UnsupportedError):
        if is_new:
            delete_unused_table(table.storage)
        raise
    return False


def _recreate(
    table: HudiTable, frame: DataFrame, definition: TableDefinition, operation: Operation | None, options: Mapping[str, str]
) -> None:
    """Replace a table by one of another definition, with the rows of the frame."""
    of_rows = options_of_rows(options)

    def write_rows(storage: Storage) -> None:
        first = operation or (Operation.UPSERT if definition.keys else Operation.INSERT)
        write(HudiTable(storage), first, frame, options=of_rows)

    new = NewDefinition(
        _columns(frame, options),
        definition.name,
        definition.keys,
        definition.partition_by,
        definition.order_by,
        definition.table_type,
        {key: value for key, value in definition.options.items() if concerns_table(key)},
    )
    recreate_table(table, new, resolve(options), write_rows)


def _bootstrap(frame: DataFrame, state: WriterState, location: str, options: Mapping[str, str], table_name: str | None) -> None:
    """Make a table of the files that the options name; a table that is there is never overwritten.

    Raises:
        UsageError: the frame has rows, which a bootstrap does not write; or the options are wrong.
        TableExists: there is a table that is no interrupted bootstrap of the same files.
    """
    if frame.columns and frame.head(1):
        raise UsageError(
            f"{OPERATION}={_BOOTSTRAP} takes the rows of the files in {BOOTSTRAP_BASE_PATH}, and none of a DataFrame: write an empty"
            " one, and these rows afterwards."
        )
    bootstrap_options = {name: value for name, value in options.items() if name.removeprefix("spark.").startswith(BOOTSTRAP_PREFIX)}
    others = {name: value for name, value in options.items() if name not in bootstrap_options and not same_key(name, OPERATION)}
    definition = definition_of(others, state.partition_by, default_name=table_name)
    new = NewTable(
        definition.name,
        definition.keys,
        definition.partition_by,
        definition.order_by,
        definition.table_type,
        {**definition.options, **bootstrap_options},
    )
    storage = open_table_storage(location)
    bootstrap_table(storage, Bootstrap.of(None, new), SystemClock(), lambda: HudiTable(storage))


def _open(location: str) -> HudiTable | None:
    try:
        return HudiTable.open(location)
    except TableNotFound:
        return None


def _columns(frame: DataFrame, options: Mapping[str, str]) -> pa.Schema:
    """Return the columns that a table is made with for the rows of a frame."""
    stated = stated_columns(resolve({name: value for name, value in options.items() if same_key(name, WRITE_SCHEMA)}))
    return stated_schema(arrow_schema(frame), stated)


def _create(frame: DataFrame, state: WriterState, location: str, options: Mapping[str, str], table_name: str | None) -> HudiTable:
    definition = definition_of(options, state.partition_by, default_name=table_name)
    return HudiTable.create(
        location,
        _columns(frame, options),
        name=definition.name,
        keys=definition.keys,
        partition_by=definition.partition_by,
        order_by=definition.order_by,
        table_type=definition.table_type,
        options={key: value for key, value in definition.options.items() if concerns_table(key)},
    )


def _operation(options: Mapping[str, str]) -> Operation | None:
    text = options.get(OPERATION)
    if text is None:
        return None
    match = OPERATIONS.get(text.lower())
    if match is None:
        raise OptionError(f"{OPERATION} is {text!r}; this release serves {', '.join(OPERATIONS)}.")
    return match


def _refuse_unserved(state: WriterState) -> None:
    if state.unserved:
        raise UnsupportedError(f"{state.unserved[0]} has no meaning for a Hudi table; leave it out.")
