"""Procedures that plan, run and show compactions.

Rules: `RunCompactionProcedure`, `ShowCompactionProcedure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.service.table_service import ServiceMode
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.instant import Action, Instant
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import limited, run_service
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import read_action, read_commit
from pyhudi.timeline.load_timeline import load_timeline

_MODES: Final[Mapping[str, ServiceMode]] = {"schedule": "schedule", "run": "execute", "execute": "execute", "scheduleAndExecute": "both"}


def _run(call: ProcedureCall) -> Iterator[Row]:
    instants = call.text("instants") or call.text("timestamp")
    done = run_service(call, call.open().services.compact, str(call.text("op")), _MODES, instants)
    return limited(call, ((one.instant, one.slices, one.state.upper()) for one in done))


def _show(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    if not table.config.is_merge_on_read:
        raise UsageError(f"CALL {call.procedure.name}: {table.config.name} is copy-on-write and has no compactions.")
    timeline = load_timeline(table.storage, table.config)
    rows = []
    for instant in reversed(timeline.instants):
        size = _size(table, instant)
        if size is not None:
            rows.append((instant.requested, size, instant.state.name))
    return limited(call, iter(rows))


def _size(table: HudiTable, instant: Instant) -> int | None:
    """Return how many file groups a compaction concerns; None for another action."""
    if instant.action is Action.COMPACTION:
        plan = read_action(table.storage, table.config, instant)
        return len(plan.operations or ()) if isinstance(plan, CompactionPlan) else 0
    if instant.action is Action.COMMIT and instant.is_completed:
        return len(tuple(read_commit(table.storage, table.config, instant).all_stats()))
    return None


_SOURCE: Final = (Parameter("table"), Parameter("path"))
_ANSWER: Final = (Column("timestamp"), Column("operation_size", "int"), Column("state"))

PROCEDURES: Final = (
    Procedure(
        "run_compaction",
        "Plans a compaction, runs what is planned, or both.",
        (
            Parameter("op", default=REQUIRED),
            *_SOURCE,
            Parameter("timestamp", "bigint"),
            Parameter("options"),
            Parameter("instants"),
            Parameter("limit", "int"),
        ),
        _ANSWER,
        _run,
    ),
    Procedure("show_compaction", "Compactions planned and done.", (*_SOURCE, Parameter("limit", "int", 20)), _ANSWER, _show),
)
