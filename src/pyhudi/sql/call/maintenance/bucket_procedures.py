"""The procedure that shows and changes the numbers of buckets of partitions. Rules: `PartitionBucketIndexManager`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.service.rescaling.rescaling_result import RescalingResult
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.table.hudi_table import HudiTable

_NO_COUNT: Final = -1


def _run(call: ProcedureCall) -> Iterator[Row]:
    if not call.flag("show_config") and not any(call.text(name) for name in ("rollback", "overwrite", "add")):
        raise UsageError(f"CALL {call.procedure.name}: give overwrite, add, rollback or show_config.")
    table = call.open()
    if call.flag("show_config"):
        yield "SUCCESS", "SHOW_CONFIG", _configurations(table)
    elif (instant := call.text("rollback")) is not None:
        yield _roll_back(call, table, instant)
    elif (expressions := call.text("overwrite")) is not None:
        yield _rescale(call, table, expressions, add=False)
    else:
        yield _rescale(call, table, call.text("add") or "", add=True)


def _rescale(call: ProcedureCall, table: HudiTable, expressions: str, *, add: bool) -> Row:
    if (rule := call.text("rule")) not in (None, "regex"):
        raise UnsupportedError(f"CALL {call.procedure.name}: rule is '{rule}'; expressions are regular expressions (regex).")
    count, dry_run = call.number("bucket_number"), call.flag("dry_run")
    if add and not table.services.bucket_rules():
        raise UsageError(f"CALL {call.procedure.name}: table {table.config.name} has no expressions to add to; give overwrite.")
    result = table.services.rescale_buckets(
        expressions, default=None if add or count == _NO_COUNT else count, add=add, dry_run=dry_run, options=call.options()
    )
    if dry_run:
        return "SUCCESS", "DRY_RUN_OVERWRITE", ";".join(f"{one.path} => {one.after}" for one in result.partitions)
    return "SUCCESS", "OVERWRITE", _details(result)


def _details(result: RescalingResult) -> str:
    return f"Expression: {result.expressions}, Bucket Number: {result.default}, Dry Run: false"


def _roll_back(call: ProcedureCall, table: HudiTable, instant: str) -> Row:
    if instant not in table.services.bucket_rules():
        raise UsageError(f"CALL {call.procedure.name}: {instant} is no rescaling of table {table.config.name}; show_config lists them.")
    table.services.rollback(instant)
    return "SUCCESS", "ROLLBACK", f"true to rollback {instant}"


def _configurations(table: HudiTable) -> str:
    return ";".join(
        f"PartitionBucketIndexHashingConfig(expressions={rules.text}, defaultBucketNumber={rules.default}, rule=regex, version=1,"
        f" instant={instant})"
        for instant, rules in table.services.bucket_rules().items()
    )


PROCEDURES: Final = (
    Procedure(
        "partition_bucket_index_manager",
        "Shows and changes how many buckets partitions have.",
        (
            Parameter("table", default=REQUIRED),
            Parameter("overwrite"),
            Parameter("bucket_number", "int", _NO_COUNT),
            Parameter("add"),
            Parameter("dry_run", "boolean", default=True),
            Parameter("rollback"),
            Parameter("show_config", "boolean", default=False),
            Parameter("rule", default="regex"),
            Parameter("options"),
        ),
        (Column("result"), Column("operation"), Column("details")),
        _run,
    ),
)
