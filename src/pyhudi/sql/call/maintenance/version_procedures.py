"""The procedures that move a table between table versions. Rules: `UpgradeOrDowngradeProcedure`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row

_PARAMETERS: Final = (Parameter("table"), Parameter("to_version", "string", REQUIRED), Parameter("path"), Parameter("options"))
_RESULT: Final = (Column("result", "boolean"),)


def _upgrade(call: ProcedureCall) -> Iterator[Row]:
    call.open().services.upgrade(str(call.text("to_version")), options=call.options())
    yield (True,)


def _downgrade(call: ProcedureCall) -> Iterator[Row]:
    call.open().services.downgrade(str(call.text("to_version")), options=call.options())
    yield (True,)


PROCEDURES: Final = (
    Procedure("upgrade_table", "Moves a table to a later table version.", _PARAMETERS, _RESULT, _upgrade),
    Procedure("downgrade_table", "Moves a table to an earlier table version.", _PARAMETERS, _RESULT, _downgrade),
)
