"""Procedures that revert runs which died, and that tell what became of a file.

Rules: `RunRollbackInflightTableServiceProcedure`, `CleanupStaleInflightCommitsProcedure`, `ShowFileStatusProcedure`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import TABLE


def _roll_back(call: ProcedureCall) -> Iterator[Row]:
    services, instant, started = call.open_for_writing().services, str(call.text("pending_instant")), time.perf_counter()
    services.revert(instant)
    if call.flag("delete_request_instant_file"):
        services.rollback(instant)
    yield instant, str(int((time.perf_counter() - started) * 1000))


def _clean_up(call: ProcedureCall) -> Iterator[Row]:
    minutes, writes = call.number("allowed_inflight_interval_minutes"), call.flag("include_ingestion_commits")
    for one in call.open_for_writing().services.cleanup_stale(minutes, include_writes=writes, dry_run=call.flag("dry_run")):
        yield one.instant, one.action, one.rolled_back


def _show_file(call: ProcedureCall) -> Iterator[Row]:
    status = call.open().inspect.file_status(str(call.text("file")), call.text("partition"))
    yield status.status, status.action, status.instant, status.timeline, status.full_path


PROCEDURES: Final = (
    Procedure(
        "run_rollback_inflight_tableservice",
        "Reverts a run of a compaction or clustering that died; its plan stays unless asked otherwise.",
        (*TABLE, Parameter("pending_instant", default=REQUIRED), Parameter("delete_request_instant_file", "boolean", default=False)),
        (Column("instant"), Column("time_cost")),
        _roll_back,
    ),
    Procedure(
        "cleanup_stale_inflight_commits",
        "Reverts runs of services, and writes, that have been inflight for long.",
        (
            Parameter("table", default=REQUIRED),
            Parameter("allowed_inflight_interval_minutes", "int", 180),
            Parameter("include_ingestion_commits", "boolean", default=False),
            Parameter("dry_run", "boolean", default=False),
        ),
        (Column("instant_time"), Column("action"), Column("rollback_status", "boolean")),
        _clean_up,
    ),
    Procedure(
        "show_file_status",
        "Whether a file is there, or which action deleted it.",
        (*TABLE, Parameter("partition"), Parameter("file", default=REQUIRED), Parameter("filter")),
        (Column("status"), Column("action"), Column("instant"), Column("timeline"), Column("full_path")),
        _show_file,
    ),
)
