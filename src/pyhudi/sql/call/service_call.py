"""What the procedures of table services share: `op`, `instants`, `limit`, and one call of `table.services` for each instant.

Rules: `RunCompactionProcedure`, `RunClusteringProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pyhudi.errors import UsageError
from pyhudi.service.table_service import Result, ServiceMode
from pyhudi.sql.call.procedure import Parameter, ProcedureCall, Row

#: The parameters that name the table.
TABLE = (Parameter("table"), Parameter("path"))


#: A method of `table.services` that plans and runs a service.
ServiceMethod: TypeAlias = Callable[..., tuple[Result, ...]]


def run_service(
    call: ProcedureCall,
    method: ServiceMethod[Result],
    op: str,
    modes: Mapping[str, ServiceMode],
    instants: str | None,
    options: Mapping[str, str] | None = None,
) -> list[Result]:
    """Run a service as a call says, and return its results.

    Args:
        call: the call; its options hold for the service.
        method: the method of `table.services`.
        op: what to do.
        modes: what can be done, by the lower-case names that `op` may have; they are named in the error as the keys of this mapping.
        instants: times of pending plans, with commas in between.
        options: those that other arguments stand for, which override all.

    Raises:
        UsageError: `op` is none of the modes, or instants are named for what is still to be planned.
    """
    known = {name.lower(): mode for name, mode in modes.items()}
    mode = known.get(op.lower())
    if mode is None:
        *names, last = modes
        raise UsageError(f"CALL {call.procedure.name}: op is '{op}'; it can be {', '.join(names)} or {last}.")
    times: Sequence[str | None] = [part.strip() for part in (instants or "").split(",") if part.strip()]
    if times and mode != "execute":
        raise UsageError(f"CALL {call.procedure.name}: instants name what is planned, for op => 'execute'; {op} makes a new plan.")
    given = {**call.options(), **(options or {})}
    return [result for instant in times or (None,) for result in method(instant, mode=mode, options=given)]


def limited(call: ProcedureCall, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield as many rows as the argument `limit` says, all when it is not given."""
    return itertools.islice(rows, None if call.arguments["limit"] is None else call.number("limit"))
