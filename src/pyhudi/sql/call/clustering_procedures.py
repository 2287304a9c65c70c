"""Procedures that plan, run and show clusterings; what is served of them is the resizing of hash rings.

Rules: `RunClusteringProcedure`, `ShowClusteringProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, cast

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.table_service import Mode
from pyhudi.sql.call.procedure import Call, Column, Parameter, Procedure, Row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import clustering_plan

_MODES: Final = {"schedule": "schedule", "execute": "execute", "scheduleandexecute": "both"}
#: Arguments that choose or sort rows.
_LATER: Final = ("predicate", "order", "order_strategy", "selected_partitions", "partition_regex_pattern")


def _run(call: Call) -> Iterator[Row]:
    for name in _LATER:
        if call.text(name) is not None:
            raise UnsupportedError(f"CALL {call.procedure.name}: {name} comes with a later release; leave it out to resize hash rings.")
    table, asked = call.open(), call.text("op") or "scheduleAndExecute"
    mode = _MODES.get(asked.lower())
    if mode is None:
        raise UsageError(f"CALL {call.procedure.name}: op is '{asked}'; it can be schedule, execute or scheduleAndExecute.")
    instants: list[str | None] = [part.strip() for part in (call.text("instants") or "").split(",") if part.strip()]
    if instants and mode != "execute":
        raise UsageError(f"CALL {call.procedure.name}: instants name what is planned, for op => 'execute'; {asked} plans anew.")
    done: list[ClusteringResult] = []
    for instant in instants or [None]:
        done += table.services.cluster(instant, mode=cast(Mode, mode), options=call.options())
    named = {one.instant for one in done}
    limit = call.number("limit") if call.arguments["limit"] is not None else None
    return itertools.islice((row for row in _rows(call, table) if row[0] in named), limit)


def _show(call: Call) -> Iterator[Row]:
    return itertools.islice(_rows(call, call.open()), call.number("limit"))


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
