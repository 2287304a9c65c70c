"""Procedures that repair a table.

Rules: `RepairAddpartitionmetaProcedure`, `RepairMigratePartitionMetaProcedure`, `RepairOverwriteHoodiePropsProcedure`,
`RepairCorruptedCleanFilesProcedure`, `RepairDeduplicateProcedure`, `RepairClusteringPlanProcedure`. The dry run of
`repair_migrate_partition_meta` changes no property.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError, UsageError
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import TABLE
from pyhudi.storage.named_files import read_named_file


def _add_metafiles(call: ProcedureCall) -> Iterator[Row]:
    for one in call.open_for_writing().services.add_partition_metafiles(dry_run=call.flag("dry_run")):
        yield one.path, "Yes" if one.has_text or one.has_base else "No", "Repaired" if one.action == "added" else "None"


def _migrate_metafiles(call: ProcedureCall) -> Iterator[Row]:
    dry_run = call.flag("dry_run")
    for one in call.open_for_writing().services.migrate_partition_metafiles(dry_run=dry_run):
        action = one.action.upper() if dry_run else "MIGRATED"
        yield one.path, str(one.has_text).lower(), str(one.has_base).lower(), action


def _overwrite_properties(call: ProcedureCall) -> Iterator[Row]:
    new = read_named_file(str(call.text("new_props_file_path")), "properties file")
    for one in call.open_for_writing().services.overwrite_properties(new):
        yield one.name, "null" if one.old is None else one.old, "null" if one.new is None else one.new


def _repair_clean_files(call: ProcedureCall) -> Iterator[Row]:
    call.open_for_writing().services.repair_clean_files()
    yield (True,)


def _deduplicate(call: ProcedureCall) -> Iterator[Row]:
    path, output, dry_run = str(call.text("duplicated_partition_path") or ""), call.text("repaired_output_path"), call.flag("dry_run")
    rule = str(call.text("dedupe_type"))
    call.open().services.deduplicate(path, rule=rule, output=output, dry_run=dry_run, options=call.options())
    yield (f"Deduplicated files placed in: {output if dry_run else path}.",)


def _repair_plan(call: ProcedureCall) -> Iterator[Row]:
    files = [one.strip() for one in str(call.text("invalid_parquet_files") or "").split(",") if one.strip()]
    operation = str(call.text("op") or "").strip().lower() or ("delete" if files else "validate_delete")
    if operation not in _OPERATIONS:
        raise OptionError(f"CALL repair_clustering_plan: op is '{operation}'; it can be {', '.join(_OPERATIONS)}")
    if (operation == "delete") != bool(files):
        raise UsageError("CALL repair_clustering_plan: op => 'delete' needs invalid_parquet_files, and no other operation takes them.")
    if call.flag("need_delete"):
        raise UnsupportedError(
            "CALL repair_clustering_plan: need_delete => true is not served: commits name the files, and without them reads fail."
            " Leave it out, and restore the files from a copy."
        )
    services, instant, dry_run = call.open_for_writing().services, str(call.text("instant")), call.flag("dry_run")
    done = services.repair_clustering_plan(
        instant,
        files,
        dry_run=dry_run,
        backup=call.flag("backup"),
        allow_empty=call.flag("allow_empty_plan"),
        engine=call.threads("validation_parallelism"),
    )
    for one in done:
        yield one.instant, one.path, _PLAN_ACTIONS[one.action], False, "USER_REQUESTED" if files else "NOT_PARQUET_FILE"


_OPERATIONS: Final = ("delete", "validate_delete", "checkanddelete")
_PLAN_ACTIONS: Final = {
    "would be removed": "WOULD_REMOVE_FROM_PLAN",
    "removed": "REMOVED_FROM_PLAN",
    "not in the plan": "NOT_FOUND_IN_PLAN",
}
_TABLE: Final = Parameter("table", default=REQUIRED)
_DRY_RUN: Final = Parameter("dry_run", "boolean", default=True)

PROCEDURES: Final = (
    Procedure(
        "repair_add_partition_meta",
        "Writes the partition metafiles that are missing.",
        (_TABLE, _DRY_RUN),
        (Column("partition_path"), Column("metadata_is_present"), Column("action")),
        _add_metafiles,
    ),
    Procedure(
        "repair_migrate_partition_meta",
        "Replaces the partition metafiles of text by those of the format of base files.",
        (_TABLE, _DRY_RUN),
        (Column("partition_path"), Column("text_metafile_present"), Column("base_metafile_present"), Column("action")),
        _migrate_metafiles,
    ),
    Procedure(
        "repair_overwrite_hoodie_props",
        "Replaces the table's own properties by those of a file.",
        (_TABLE, Parameter("new_props_file_path", default=REQUIRED)),
        (Column("property"), Column("old_value"), Column("new_value")),
        _overwrite_properties,
    ),
    Procedure(
        "repair_corrupted_clean_files",
        "Removes the empty files of cleans that a writer left which died.",
        (_TABLE,),
        (Column("result", "boolean"),),
        _repair_clean_files,
    ),
    Procedure(
        "repair_clustering_plan",
        "Takes files that cannot be read out of the plan of a clustering.",
        (
            *TABLE,
            Parameter("instant", default=REQUIRED),
            Parameter("op"),
            Parameter("invalid_parquet_files", default=""),
            Parameter("validation_parallelism", "int", 100),
            Parameter("need_delete", "boolean", default=False),
            _DRY_RUN,
            Parameter("backup", "boolean", default=True),
            Parameter("allow_empty_plan", "boolean", default=False),
            Parameter("options", default=""),
        ),
        (Column("instant"), Column("path"), Column("action"), Column("deleted", "boolean"), Column("reason")),
        _repair_plan,
    ),
    Procedure(
        "repair_deduplicate",
        "Leaves one row of each record key in a partition.",
        (
            _TABLE,
            Parameter("duplicated_partition_path", default=REQUIRED),
            Parameter("repaired_output_path", default=REQUIRED),
            _DRY_RUN,
            Parameter("dedupe_type", default="insert_type"),
        ),
        (Column("result"),),
        _deduplicate,
    ),
)
