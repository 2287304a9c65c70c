"""Procedures about a table as a whole: its properties, its partitions, copies of it.

Rules: `ShowTablePropertiesProcedure`, `DropPartitionProcedure`, `TruncateTableProcedure`, `CopyToTableProcedure`,
`CopyToTempViewProcedure`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Final

from pyspark.sql import DataFrame

from pyhudi.errors import UsageError
from pyhudi.read.incremental.incremental import ChangesQuery, open_query
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spark.scan.scan import scan
from pyhudi.spec.actions.commit import Operation
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_table import write


def _properties(call: ProcedureCall) -> Iterator[Row]:
    return itertools.islice(call.open().config.properties.items(), call.number("limit"))


def _named_partitions(call: ProcedureCall, table: HudiTable, text: str) -> list[str]:
    """Return the partition paths that a list with `*` at the end of its parts means."""
    paths = open_snapshot(table.storage, SnapshotQuery()).partition_paths
    partitions = []
    for part in (file_slice.strip() for file_slice in text.split(",")):
        matching = [path for path in paths if path == part or (part.endswith("*") and path.startswith(part.rstrip("*")))]
        if not matching:
            raise UsageError(
                f"CALL {call.procedure.name}: {table.config.name} has no partition {part}; SHOW PARTITIONS lists those there are."
            )
        partitions += matching
    return list(dict.fromkeys(partitions))


def _drop_partition(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    paths = _named_partitions(call, table, str(call.text("partition")))
    write(table, Operation.DELETE_PARTITION, None, options=call.options(), partitions=paths)
    yield ("Success",)


def _truncate(call: ProcedureCall) -> Iterator[Row]:
    started, table, stated = time.perf_counter(), call.open(), call.text("partitions")
    paths = (
        list(open_snapshot(table.storage, SnapshotQuery()).partition_paths) if stated is None else _named_partitions(call, table, stated)
    )
    if paths:
        write(table, Operation.DELETE_PARTITION, None, options=call.options(), partitions=paths)
    yield "Success", int((time.perf_counter() - started) * 1000)


def _source(call: ProcedureCall) -> DataFrame:
    """Return the rows that a copy takes.

    Raises:
        UsageError: the query type is unknown, an incremental copy has no begin, or an argument does not belong to the query type.
    """
    kind = str(call.text("query_type")).lower()
    begin, end, as_of = (call.text(name) for name in ("begin_instance_time", "end_instance_time", "as_of_instant"))
    if kind == "incremental":
        if begin is None:
            raise UsageError(f"CALL {call.procedure.name}: an incremental copy needs begin_instance_time.")
        if as_of is not None:
            raise UsageError(f"CALL {call.procedure.name}: as_of_instant is for query_type => 'snapshot'; end_instance_time ends a span.")
        return scan(call.session, open_query(call.open().storage, ChangesQuery(begin, end)))
    if kind not in ("snapshot", "read_optimized"):
        raise UsageError(f"CALL {call.procedure.name}: query_type is '{kind}'; it can be snapshot, read_optimized or incremental.")
    if begin or end:
        raise UsageError(f"CALL {call.procedure.name}: begin_instance_time and end_instance_time are for query_type => 'incremental'.")
    query = SnapshotQuery("snapshot" if kind == "snapshot" else "read_optimized", as_of)
    return scan(call.session, open_snapshot(call.open().storage, query))


def _copy_to_view(call: ProcedureCall) -> Iterator[Row]:
    frame, name = _source(call), str(call.text("view_name"))
    makers = {
        (False, False): frame.createTempView,
        (False, True): frame.createOrReplaceTempView,
        (True, False): frame.createGlobalTempView,
        (True, True): frame.createOrReplaceGlobalTempView,
    }
    makers[call.flag("global"), call.flag("replace")](name)
    yield (0,)


def _copy_to_table(call: ProcedureCall) -> Iterator[Row]:
    frame, target, mode = _source(call), str(call.text("new_table")), str(call.text("save_mode")).lower()
    if mode not in ("append", "overwrite"):
        raise UsageError(f"CALL {call.procedure.name}: save_mode is '{mode}'; it can be append or overwrite.")
    stated = call.text("columns")
    if stated is not None:
        names = [name.strip() for name in stated.split(",")]
    elif mode == "append" and call.session.catalog.tableExists(target):
        names = [name for name in call.session.table(target).columns if name in frame.columns and not is_meta_column(name)]
    else:
        names = [name for name in frame.columns if not is_meta_column(name)]
    frame.select(*(f"`{name}`" for name in names)).write.mode(mode).saveAsTable(target)
    yield (0,)


_TABLE: Final = Parameter("table", default=REQUIRED)


def _copy(name: str, summary: str, target: str, run: Callable[[ProcedureCall], Iterator[Row]], *more: Parameter) -> Procedure:
    """Return a procedure that copies what a query gives of a table to what `target` names."""
    query = (_TABLE, Parameter("query_type", "string", "snapshot"), Parameter(target, default=REQUIRED))
    times = (Parameter("begin_instance_time"), Parameter("end_instance_time"), Parameter("as_of_instant"))
    return Procedure(name, summary, (*query, *times, *more), (Column("status", "int"),), run)


PROCEDURES: Final = (
    Procedure(
        "show_table_properties",
        "The table's own properties.",
        (Parameter("table"), Parameter("path"), Parameter("limit", "int", 10), Parameter("filter")),
        (Column("key"), Column("value")),
        _properties,
    ),
    Procedure(
        "drop_partition",
        "Drops partitions, named by their paths.",
        (_TABLE, Parameter("partition", default=REQUIRED)),
        (Column("result"),),
        _drop_partition,
    ),
    Procedure(
        "truncate_table",
        "Empties a table, or some partitions of it, in one commit.",
        (_TABLE, Parameter("partitions")),
        (Column("result"), Column("time_cost", "bigint")),
        _truncate,
    ),
    _copy(
        "copy_to_temp_view",
        "Makes a temporary view of a table's rows.",
        "view_name",
        _copy_to_view,
        Parameter("replace", "boolean", default=False),
        Parameter("global", "boolean", default=False),
    ),
    _copy(
        "copy_to_table",
        "Copies a table's rows into another table.",
        "new_table",
        _copy_to_table,
        Parameter("save_mode", "string", "overwrite"),
        Parameter("columns"),
    ),
)
