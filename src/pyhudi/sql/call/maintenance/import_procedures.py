"""The procedure that makes a table of a folder of Parquet files.

Rules: `HdfsParquetImportProcedure`, `HDFSParquetImporterUtils`: a partition column of numbers holds seconds, and its partitions are days.
Unlike Apache Hudi, the table's properties name its record key and its partition column.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa

from pyhudi.errors import OptionError, StorageError, UsageError, did_you_mean
from pyhudi.javacompat.properties import parse_properties
from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.statement.sql_settings import call_options
from pyhudi.storage.named_files import read_named_file, read_named_text
from pyhudi.table.hudi_table import HudiTable

_log = logging.getLogger(__name__)
_COMMANDS: Final = ("insert", "upsert", "bulkinsert")
_BY_DAY: Final = {
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    "hoodie.keygen.timebased.timezone": "UTC",
}


def _import(call: ProcedureCall) -> Iterator[Row]:
    command = str(call.text("command")).lower()
    if command not in _COMMANDS:
        raise OptionError(f"CALL {call.procedure.name}: command is '{command}'; it can be {', '.join(_COMMANDS)}.")
    retries = int(call.number("retry"))
    if retries < 0:
        raise OptionError(f"CALL {call.procedure.name}: retry is {retries}; give 0 or more.")
    key, partition, source = (str(call.text(name)) for name in ("row_key", "partition_key", "src_path"))
    names = _columns(call)
    frame = call.session.read.parquet(source)
    for name in (*names, key, partition):
        if name not in frame.columns or name not in names:
            where = f"the files of {source}" if name not in frame.columns else str(call.text("schema_file_path"))
            raise UsageError(f"CALL {call.procedure.name}: {where} has no column '{name}'{did_you_mean(name, frame.columns)}.")
    rows = frame.select(*(f"`{name}`" for name in names))
    schema = arrow_schema(rows)
    type_ = schema.field(partition).type
    options = {**_properties(call), **call_options(call.session, None)}
    by_day = _BY_DAY if pa.types.is_integer(type_) or pa.types.is_floating(type_) else {}
    table = HudiTable.create(
        str(call.text("target_path")),
        schema,
        name=str(call.text("table")),
        keys=[key],
        partition_by=[partition],
        table_type=str(call.text("table_type")),
        options={**by_day, **options},
    )
    write = {"insert": table.insert, "upsert": table.upsert, "bulkinsert": table.bulk_insert}[command]
    with_tasks = {f"hoodie.{command}.shuffle.parallelism": str(call.number("parallelism")), **options}
    _retried(lambda: write(rows, with_tasks), retries)
    yield (0,)


def _retried(write: Callable[[], object], retries: int) -> None:
    """Write; where the storage fails, once more, as often as the call says: a write that failed left nothing visible."""
    for left in range(retries, -1, -1):
        try:
            write()
        except StorageError as error:
            if not left:
                raise
            _log.warning("the import failed, %d tries are left: %s", left, error)
        else:
            return


def _columns(call: ProcedureCall) -> list[str]:
    """Return the columns that the Avro schema of the call names."""
    path = str(call.text("schema_file_path"))
    text = read_named_text(path, "schema file")
    try:
        schema = json.loads(text)
        return [str(field["name"]) for field in schema["fields"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"CALL {call.procedure.name}: {path} is no Avro schema of a record: {error}") from error


def _properties(call: ProcedureCall) -> dict[str, str]:
    """Return the options of the properties file of the call."""
    name = call.text("props_file_path")
    if name is None:
        return {}
    return parse_properties(read_named_file(name, "properties file"))


PROCEDURES: Final = (
    Procedure(
        "hdfs_parquet_import",
        "Makes a table of a folder of Parquet files.",
        (
            *(Parameter(name, default=REQUIRED) for name in ("table", "table_type", "src_path", "target_path")),
            *(Parameter(name, default=REQUIRED) for name in ("row_key", "partition_key", "schema_file_path")),
            Parameter("command", default="insert"),
            Parameter("retry", "int", 0),
            Parameter("parallelism", "int", 2),
            Parameter("props_file_path"),
        ),
        (Column("import_result", "int"),),
        _import,
    ),
)
