"""What the service runner did, and why it did nothing where it did nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

DONE: Final = "done"
PLANNED: Final = "planned"
NOTHING: Final = "nothing to do"
FAILED: Final = "failed"


class Result(Protocol):
    """What a service reports."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceRun:
    """One service of one table.

    Attributes:
        table: the path of the table.
        service: the service; `open` when the table could not be opened, `options` when no service can have its options.
        state: `done`, `planned` (a dry run), `nothing to do` or `failed`.
        reason: why there was nothing to do, or the error.
        results: what the service reported.
        seconds: how long it took.
    """

    table: str
    service: str
    state: str
    reason: str = ""
    results: tuple[Result, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes by name, for JSON."""
        return {
            "table": self.table,
            "service": self.service,
            "state": self.state,
            "reason": self.reason,
            "results": [one.to_dict() for one in self.results],
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        """Say in a line what was done, or why nothing was."""
        details = "; ".join([self.reason] if self.reason else [str(one) for one in self.results])
        return f"{self.table}: {self.service}: {self.state}" + (f": {details}" if details else "")


@dataclass(frozen=True, slots=True)
class RunReport:
    """One round over all tables; `interrupted` when it ended before the last service."""

    runs: tuple[ServiceRun, ...]
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """True when a service of a table failed."""
        return any(run.state == FAILED for run in self.runs)
