"""Procedures about the audit of a table's lock.

Rules: `SetAuditLockProcedure`, `ShowAuditLockStatusProcedure`, `ValidateAuditLockProcedure`, `CleanupAuditLockProcedure`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row

_STATES: Final = {"enabled": True, "disabled": False}


def _name(call: ProcedureCall) -> str:
    return str(call.text("table") or call.text("path"))


def _set_audit(call: ProcedureCall) -> Iterator[Row]:
    state = str(call.text("state")).lower()
    if state not in _STATES:
        raise UsageError(f"CALL {call.procedure.name}: state is '{call.text('state')}'; it can be 'enabled' or 'disabled'.")
    call.open_for_writing().services.set_lock_audit(enabled=_STATES[state])
    yield _name(call), state, f"Lock audit logging successfully {state}"


def _show_status(call: ProcedureCall) -> Iterator[Row]:
    status = call.open().services.lock_audit()
    yield _name(call), status.enabled, status.config_path, status.audit_folder


def _validate(call: ProcedureCall) -> Iterator[Row]:
    report = call.open().services.validate_lock_audit()
    damaged = report.files - report.transactions
    counts = f"Audit Files: {report.files} total, {report.transactions} parsed successfully, {damaged} failed to parse"
    if not report.files:
        details = "No audit folder found - nothing to validate"
    elif report.issues:
        details = f"{counts}. {', '.join(report.issues)}"
    else:
        details = f"All audit lock transactions validated successfully. {counts}"
    yield _name(call), report.result, report.transactions, len(report.issues), details


def _clean_up(call: ProcedureCall) -> Iterator[Row]:
    age_days, dry_run = call.number("age_days"), call.flag("dry_run")
    if age_days <= 0:
        raise UsageError(f"CALL {call.procedure.name}: age_days is {age_days}; it must be 1 or more.")
    services = call.open().services
    has_files = services.lock_audit().files > 0
    count = len(services.clean_lock_audit(age_days, dry_run=dry_run).files)
    if not has_files:
        message = "No audit folder found - nothing to cleanup"
    elif not count:
        message = f"No audit files older than {age_days} days found"
    elif dry_run:
        message = f"Dry run: Would delete {count} audit files older than {age_days} days"
    else:
        message = f"Successfully deleted {count} audit files older than {age_days} days"
    yield _name(call), count, dry_run, age_days, message


_TABLE: Final = (Parameter("table"), Parameter("path"))

PROCEDURES: Final = (
    Procedure(
        "set_audit_lock",
        "Switches the audit of the table's lock on or off.",
        (*_TABLE, Parameter("state", default=REQUIRED)),
        (Column("table"), Column("audit_state"), Column("message")),
        _set_audit,
    ),
    Procedure(
        "show_audit_lock_status",
        "Whether the audit of the table's lock is on.",
        _TABLE,
        (Column("table"), Column("audit_enabled", "boolean"), Column("config_path"), Column("audit_folder_path")),
        _show_status,
    ),
    Procedure(
        "validate_audit_lock",
        "Checks by its audit that no two writers held the table's lock at a time.",
        _TABLE,
        (
            Column("table"),
            Column("validation_result"),
            Column("transactions_validated", "int"),
            Column("issues_found", "int"),
            Column("details"),
        ),
        _validate,
    ),
    Procedure(
        "cleanup_audit_lock",
        "Deletes old records of the audit of the table's lock.",
        (*_TABLE, Parameter("dry_run", "boolean", default=False), Parameter("age_days", "int", 7)),
        (
            Column("table"),
            Column("files_cleaned", "int"),
            Column("dry_run", "boolean"),
            Column("age_days", "int"),
            Column("message"),
        ),
        _clean_up,
    ),
)
