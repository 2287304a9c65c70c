"""Procedures that bootstrap tables, and show the bootstrap index.

Rules: `RunBootstrapProcedure`, `ShowBootstrapMappingProcedure`, `ShowBootstrapPartitionsProcedure`.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

from pyhudi.errors import OptionError, TableNotFound, UnsupportedError, UsageError
from pyhudi.fsview.bootstrap_index import indexed_partitions
from pyhudi.javacompat.properties import parse_properties
from pyhudi.spec.files.bootstrap_source import PartitionSources
from pyhudi.spec.options import merge_options
from pyhudi.spec.table.table_keys import BOOTSTRAP_BASE_PATH
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row, parse_options
from pyhudi.sql.statement.sql_settings import call_options
from pyhudi.storage.open_storage import open_storage
from pyhudi.table.hudi_table import HudiTable

_KEYS: Final = {
    "bootstrap_index_class": "hoodie.bootstrap.index.class",
    "selector_class": "hoodie.bootstrap.mode.selector",
    "key_generator_class": "hoodie.datasource.write.keygenerator.class",
    "full_bootstrap_input_provider": "hoodie.bootstrap.full.input.provider",
    "payload_class": "hoodie.datasource.write.payload.class",
    "parallelism": "hoodie.bootstrap.parallelism",
}
#: The place of each column by which the mapping can be sorted.
_MAPPING: Final = ("partition", "file_id", "source_base_path", "source_partition", "source_file")
_MOST_BYTES: Final = 1 << 20


def _run(call: ProcedureCall) -> Iterator[Row]:
    _refuse(call)
    stated = {key: str(call.arguments[name]) for name, key in _KEYS.items() if call.text(name) is not None}
    if call.flag("enable_hive_sync"):
        stated["hoodie.datasource.hive_sync.enable"] = "true"
    given = parse_options(call.procedure.name, call.text("options"))
    options = merge_options(call_options(call.session, None), _file_options(call), stated, given)
    HudiTable.bootstrap(
        str(call.arguments["base_path"]),
        str(call.arguments["bootstrap_path"]),
        name=str(call.arguments["table"]).rpartition(".")[2],
        keys=_names(call, "rowKey_field"),
        partition_by=_names(call, "partition_path_field"),
        order_by=_names(call, "ordering_fields"),
        table_type=str(call.arguments["table_type"]).upper(),
        options=options,
    )
    yield (0,)


def _refuse(call: ProcedureCall) -> None:
    """Refuse what is not served, before anything is read or written."""
    if call.flag("bootstrap_overwrite"):
        raise UnsupportedError(
            f"CALL {call.procedure.name}: bootstrap_overwrite would delete the table at {call.arguments['base_path']} before another one"
            " takes its place; delete it first, or bootstrap into another path."
        )
    if call.text("schema_provider_class"):
        raise UnsupportedError(f"CALL {call.procedure.name}: schema_provider_class is not served; the schema is that of the source files.")
    if str(call.arguments["base_file_format"]).upper() != "PARQUET":
        raise UnsupportedError(f"CALL {call.procedure.name}: base_file_format is {call.arguments['base_file_format']}; PARQUET is served.")


def _file_options(call: ProcedureCall) -> dict[str, str]:
    path = call.text("props_file_path")
    if path is None:
        return {}
    folder, _, name = path.rpartition("/")
    try:
        return parse_properties(open_storage(folder or ".").read(name, max_bytes=_MOST_BYTES))
    except FileNotFoundError:
        raise OptionError(f"CALL {call.procedure.name}: there is no file {path}, which props_file_path names.") from None


def _names(call: ProcedureCall, argument: str) -> list[str]:
    return [part.strip() for part in (call.text(argument) or "").split(",") if part.strip()]


def _partitions(call: ProcedureCall) -> tuple[HudiTable, list[PartitionSources]]:
    """Return a bootstrapped table and its index.

    Raises:
        UsageError: the table was not bootstrapped.
    """
    table = call.open()
    if not table.config.properties.get(BOOTSTRAP_BASE_PATH):
        raise UsageError(f"CALL {call.procedure.name}: table {table.config.name} was not bootstrapped, so that it has no bootstrap index.")
    return table, list(indexed_partitions(table.storage))


def _show_mapping(call: ProcedureCall) -> Iterator[Row]:
    file_ids, path = _names(call, "file_ids"), call.text("partition_path")
    if file_ids and path is None:
        raise UsageError(f"CALL {call.procedure.name}: file_ids need partition_path, the partition that they are in.")
    column = str(call.arguments["sort_by"])
    if column not in _MAPPING:
        raise UsageError(f"CALL {call.procedure.name}: sort_by is '{column}'; it can be {', '.join(_MAPPING)}.")
    table, partitions = _partitions(call)
    if path is not None and path not in {one.partition_path for one in partitions}:
        raise TableNotFound(f"CALL {call.procedure.name}: '{path}' is no partition of the bootstrap index.")
    base = table.config.properties[BOOTSTRAP_BASE_PATH]
    rows = [
        (one.partition_path, file_id, base, one.source_path, source.uri)
        for one in partitions
        if path in (None, one.partition_path)
        for file_id, source in one.files.items()
        if not file_ids or file_id in file_ids
    ]
    rows.sort(key=itemgetter(_MAPPING.index(column)), reverse=call.flag("desc"))
    yield from rows[: call.number("limit")]


def _show_partitions(call: ProcedureCall) -> Iterator[Row]:
    _, partitions = _partitions(call)
    yield from ((one.partition_path,) for one in partitions)


PROCEDURES: Final = (
    Procedure(
        "run_bootstrap",
        "Makes a table of the Parquet files of a folder, whose data stay where they are or are copied.",
        (
            Parameter("table", default=REQUIRED),
            Parameter("table_type", default=REQUIRED),
            Parameter("bootstrap_path", default=REQUIRED),
            Parameter("base_path", default=REQUIRED),
            Parameter("rowKey_field", default=REQUIRED),
            Parameter("base_file_format", default="PARQUET"),
            Parameter("partition_path_field", default=""),
            Parameter("bootstrap_index_class"),
            Parameter("selector_class"),
            Parameter("key_generator_class"),
            Parameter("full_bootstrap_input_provider"),
            Parameter("schema_provider_class", default=""),
            Parameter("payload_class"),
            Parameter("parallelism", "int", 1500),
            Parameter("enable_hive_sync", "boolean", default=False),
            Parameter("props_file_path", default=""),
            Parameter("bootstrap_overwrite", "boolean", default=False),
            Parameter("options"),
            Parameter("ordering_fields", default=""),
        ),
        (Column("status", "int"),),
        _run,
    ),
    Procedure(
        "show_bootstrap_mapping",
        "The source file of each skeleton of a bootstrapped table.",
        (
            Parameter("table"),
            Parameter("path"),
            Parameter("partition_path", default=""),
            Parameter("file_ids", default=""),
            Parameter("limit", "int", 10),
            Parameter("sort_by", default="partition"),
            Parameter("desc", "boolean", default=False),
            Parameter("filter"),
        ),
        tuple(map(Column, _MAPPING)),
        _show_mapping,
    ),
    Procedure(
        "show_bootstrap_partitions",
        "The partitions whose data stay in the source files of a bootstrapped table.",
        (Parameter("table"), Parameter("path"), Parameter("filter")),
        (Column("indexed_partitions"),),
        _show_partitions,
    ),
)
