"""The procedure that drops expired partitions. Rules: `RunTTLProcedure`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.service.partition_ttl.ttl_settings import DAYS_RETAIN, STRATEGY_TYPE
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row


def _run(call: ProcedureCall) -> Iterator[Row]:
    options = call.options()
    if (policy := call.text("ttl_policy")) is not None:
        options[STRATEGY_TYPE] = policy
    if call.arguments["retain_days"] is not None:
        options[DAYS_RETAIN] = str(call.number("retain_days"))
    yield from ((one.path,) for one in call.open().services.ttl(options=options).partitions)


PROCEDURES: Final = (
    Procedure(
        "run_ttl",
        "Drops the partitions that have expired.",
        (Parameter("table", default=REQUIRED), Parameter("ttl_policy"), Parameter("retain_days", "int"), Parameter("options")),
        (Column("deleted_partitions"),),
        _run,
    ),
)
