"""Procedures that plan, run and show clusterings; what is served of them is the resizing of hash rings.

Rules: `RunClusteringProcedure`, `ShowClusteringProcedure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyhudi.errors import UnsupportedError
from pyhudi.service.table_service import Mode
from pyhudi.sql.call.procedure import Call, Column, Parameter, Procedure, Row
from pyhudi.sql.call.service_call import limited, run_service
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import clustering_plan

_MODES: Final[Mapping[str, Mode]] = {"schedule": "schedule", "execute": "execute", "scheduleAndExecute": "both"}
#: Arguments that choose or sort rows.
_LATER: Final = ("predicate", "order", "order_strategy", "selected_partitions", "partition_regex_pattern")


def _run(call: Call) -> Iterator[Row]:
    for name in _LATER:
        if call.text(name) is not None:
            raise UnsupportedError(f"CALL {call.procedure.name}: {name} comes with a later release; leave it out to resize hash rings.")
    table = call.open()
    done = run_service(call, table.services.cluster, call.text("op") or "scheduleAndExecute", _MODES, call.text("instants"))
    named = {one.instant for one in done}
    return limited(call, (row for row in _rows(call, table) if row[0] in named))


def _show(call: Call) -> Iterator[Row]:
    return limited(call, _rows(call, call.open()))


def _rows(call: Call, table: HudiTable) -> Iterator[Row]:
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
        "Plans the resizing of hash rings, runs what is planned, or both.",
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
