"""Procedures that plan, run and show clusterings.

Rules: `RunClusteringProcedure`, `ShowClusteringProcedure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.kernels.arrays.space_curves import Layout
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.filter.predicate import parse_predicate
from pyhudi.read.skipping.partition_pruning import path_columns, prune_partitions
from pyhudi.service.table_service import ServiceMode
from pyhudi.sql.call.procedure import Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import limited, run_service
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import clustering_plan

_MODES: Final[Mapping[str, ServiceMode]] = {"schedule": "schedule", "execute": "execute", "scheduleAndExecute": "both"}
_PREFIX: Final = "hoodie.clustering.plan.strategy."


def _run(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    chosen = _choices(call, table)
    if chosen is None:
        return iter(())
    op = call.text("op") or "scheduleAndExecute"
    done = run_service(call, table.services.cluster, op, _MODES, call.text("instants"), chosen)
    named = {one.instant for one in done}
    return limited(call, (row for row in _rows(call, table) if row[0] in named))


def _choices(call: ProcedureCall, table: HudiTable) -> dict[str, str] | None:
    """Return the options that the arguments stand for; None when no partition matches the predicate.

    Raises:
        UsageError: an argument is none of those that can be.
    """
    options: dict[str, str] = {}
    predicate, selected, pattern = call.text("predicate"), call.text("selected_partitions"), call.text("partition_regex_pattern")
    if predicate is not None:
        paths = _matching_partitions(call, table, predicate)
        if not paths:
            return None
        selected = ",".join(paths)
    if selected is not None:
        options[f"{_PREFIX}partition.selected"] = selected
    if pattern is not None:
        options[f"{_PREFIX}partition.regex.pattern"] = pattern
    order, strategy = call.text("order"), call.text("order_strategy")
    if order is not None:
        known = {name.lower(): name for name in table.schema.names}
        names = (name.strip() for name in order.split(","))
        options[f"{_PREFIX}sort.columns"] = ",".join(known.get(name.lower(), name) for name in names)
    if strategy is not None:
        options["hoodie.layout.optimize.strategy"] = _layout(call, strategy)
    return options


def _layout(call: ProcedureCall, strategy: str) -> str:
    try:
        return Layout.parse(strategy).value
    except ValueError:
        raise UsageError(f"CALL {call.procedure.name}: order_strategy is '{strategy}'; it can be linear, z-order or hilbert.") from None


def _matching_partitions(call: ProcedureCall, table: HudiTable, predicate: str) -> tuple[str, ...]:
    schema, config = table.schema, table.config
    if path_columns(schema, config) != set(config.partition_fields):
        raise UnsupportedError(
            f"CALL {call.procedure.name}: the paths of table {config.name} do not tell the values of its partition columns; name partitions"
            " by selected_partitions or partition_regex_pattern."
        )
    columns = pa.schema([schema.field(name) for name in config.partition_fields])
    condition = parse_predicate(predicate, columns).expression
    timeline = load_timeline(table.storage, config)
    return prune_partitions(open_view(table.storage, config, timeline).partition_paths(), condition, columns, config)


def _show(call: ProcedureCall) -> Iterator[Row]:
    return limited(call, _rows(call, call.open()))


def _rows(call: ProcedureCall, table: HudiTable) -> Iterator[Row]:
    """Yield the clusterings of the active timeline, the newest first."""
    for instant in reversed(load_timeline(table.storage, table.config).instants):
        plan = clustering_plan(table.storage, table.config, instant)
        if plan is not None:
            groups = plan.groups or ()
            paths = (next((file_slice.partition_path or "" for file_slice in group.slices or ()), "") for group in groups)
            yield instant.requested, len(groups), instant.state.name, ",".join(paths) if call.flag("show_involved_partition") else "*"


_SOURCE: Final = (Parameter("table"), Parameter("path"))
_INVOLVED: Final = Parameter("show_involved_partition", "boolean", default=False)
_ANSWER: Final = (Column("timestamp"), Column("input_group_size", "int"), Column("state"), Column("involved_partitions"))

PROCEDURES: Final = (
    Procedure(
        "run_clustering",
        "Plans a clustering, runs what is planned, or both.",
        (
            *_SOURCE,
            Parameter("predicate"),
            Parameter("order"),
            _INVOLVED,
            Parameter("op"),
            Parameter("order_strategy"),
            Parameter("options"),
            Parameter("instants"),
            Parameter("selected_partitions"),
            Parameter("partition_regex_pattern"),
            Parameter("limit", "int"),
        ),
        _ANSWER,
        _run,
    ),
    Procedure("show_clustering", "Clusterings planned and done.", (*_SOURCE, Parameter("limit", "int", 20), _INVOLVED), _ANSWER, _show),
)
