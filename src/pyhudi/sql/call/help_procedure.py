"""`CALL help()`: every procedure of Hudi, and what this release says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyhudi.errors import UsageError, did_you_mean
from pyhudi.sql.call.call_arguments import usage
from pyhudi.sql.call.procedure import Column, Parameter, Procedure, ProcedureCall, Row


def help_procedure(known: Mapping[str, Procedure]) -> Procedure:
    """Return the procedure `help` for these procedures."""

    def answer(call: ProcedureCall) -> Iterator[Row]:
        command = call.text("cmd")
        yield (_list({**known, "help": call.procedure}) if command is None else _one({**known, "help": call.procedure}, command.lower()),)

    return Procedure("help", "All procedures, or how one is called.", (Parameter("cmd"),), (Column("result"),), answer)


def _list(known: Mapping[str, Procedure]) -> str:
    lines = ["synopsis", "\tCALL procedure(argument => value, ...)", "procedures"]
    lines += [f"\t{name}\t{known[name].summary}" for name in sorted(known)]
    return "\n".join(lines)


def _one(known: Mapping[str, Procedure], name: str) -> str:
    procedure = known.get(name)
    if procedure is None:
        raise UsageError(f"there is no procedure {name}.{did_you_mean(name, known)} CALL help() lists them.")
    lines = [procedure.summary, usage(procedure), "parameters:", _line("param", "type_name", "default_value", "required")]
    lines += [
        _line(
            one.name, one.type, "null" if one.is_required or one.default is None else str(one.default).lower(), str(one.is_required).lower()
        )
        for one in procedure.parameters
    ]
    lines += ["outputType:", _line("name", "type_name"), *(_line(column.name, column.type) for column in procedure.columns)]
    return "\n".join(lines)


_WIDTH: Final = 30


def _line(*cells: str) -> str:
    return "\t" + "\t".join(cell.ljust(_WIDTH) for cell in cells).rstrip()
