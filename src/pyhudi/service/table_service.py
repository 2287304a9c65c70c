"""What a table service is: the part that each service writes, between which `service_executor` fills the steps that all share.

A service plans (what it is going to do is written to the timeline as a requested action), starts (the action is inflight), runs tasks
without the table's lock, and completes (the action is visible). A run that fails is rolled back or left to be resumed, and the plan can be
cancelled. How to add one: docs/design/0082-table-services.md. Rules: `BaseHoodieTableServiceClient`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_args

from pyhudi.errors import UsageError
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.spec.instant import Instant
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable, TableState

PLANNED: Final = "planned"
REQUESTED: Final = "requested"
COMPLETED: Final = "completed"

#: What a caller asks of a service: plan, run what is planned, or both.
ServiceMode = Literal["schedule", "execute", "both"]
MODES: Final = get_args(ServiceMode)


@dataclass(frozen=True, slots=True, repr=False)
class ServiceResult(ShownResult):
    """One run of a service, or one plan.

    `state` is `planned` (dry run, nothing on the timeline), `requested` or `completed`; `instant` and `completed` are its times. Rows count
    what the new files hold, `bytes_written` their bytes; `engine` ran the tasks, in `seconds`.
    """

    instant: str | None
    completed: str | None
    state: str
    rows: int = dataclasses.field(default=0, kw_only=True)
    files_written: int = dataclasses.field(default=0, kw_only=True)
    bytes_written: int = dataclasses.field(default=0, kw_only=True)
    engine: str | None = dataclasses.field(default=None, kw_only=True)
    seconds: float = dataclasses.field(default=0.0, kw_only=True)

    def describe(self, action: str, plan: str) -> str:
        """Return one line: the action and its state, the plan in words, and what was written if it is completed."""
        head = f"{action} {self.instant or ''} {self.state}".replace("  ", " ")
        if self.state != COMPLETED:
            return f"{head}: {plan}"
        return f"{head}: {plan}; {self.rows} rows in {self.files_written} files, {self.bytes_written} bytes, {self.seconds:.3f} s"


@dataclass(frozen=True, slots=True)
class ServiceLock:
    """The lock that a process holds while it runs services of one kind: its name, and what its holder is doing, for errors."""

    name: str
    doing: str


Plan = TypeVar("Plan")
Work = TypeVar("Work")
Outcome = TypeVar("Outcome")
Result = TypeVar("Result", bound=ServiceResult)


class TableService(ABC, Generic[Plan, Work, Outcome, Result]):
    """One service with its settings. Steps that get a `LockedTable` run under the table's lock, and must be short.

    `Plan` is what the requested action says, `Work` a run that is inflight with its tasks, `Outcome` what the tasks returned.
    """

    #: The noun by which messages call it.
    name: ClassVar[str]
    #: Held from the first step of a run to its last; None for a service of which several runs cannot harm each other.
    lock: ClassVar[ServiceLock | None] = None
    #: Whether a plan whose first run fails stays on the timeline, to be run again.
    keeps_failed_plan: ClassVar[bool] = True

    @property
    def sends_heartbeats(self) -> bool:
        """Whether a run says by heartbeats that it is alive, for processes that do not know the lock."""
        return False

    @abstractmethod
    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
        """Return the pending instants that the service runs when no instant is named, the oldest first."""

    @abstractmethod
    def plan(self, table: LockedTable) -> Plan | None:
        """Return what would be done now; None when there is nothing to do. Failed writes are rolled back already."""

    def preview(self, table: LockedTable) -> Plan | None:
        """Return what `plan` would, for a dry run: what failed writes left is still there, and nothing may be written."""
        return self.plan(table)

    @abstractmethod
    def request(self, table: LockedTable, plan: Plan) -> Instant:
        """Put a plan on the timeline."""

    @abstractmethod
    def load_plan(self, table: LockedTable, instant: Instant) -> Plan:
        """Return the plan of a pending instant.

        Raises:
            CorruptTableError: it is missing or not readable.
            UnsupportedError: this release does not run such a plan.
        """

    def trusted(self, plan: Plan, made: Plan) -> Plan:  # noqa: ARG002 - most checks cost nothing
        """Return a plan as it was read, so that `start` need not check what this process knew when it `made` it: nothing happened since."""
        return plan

    @abstractmethod
    def start(self, table: LockedTable, instant: Instant, plan: Plan, runner: ServiceRunner) -> Work:
        """Roll back or take over what an earlier run left, check the plan against the table, and put the instant inflight."""

    @abstractmethod
    def run_tasks(self, runner: ServiceRunner, work: Work) -> Outcome:
        """Do the work, without the table's lock: `runner.run(function, tasks)`. A service without tasks returns an empty outcome."""

    @abstractmethod
    def written_by(self, outcome: Outcome) -> frozenset[str]:
        """Return the paths of the files that tasks wrote, for a service whose `written_files` are deleted where no run needs them."""

    @abstractmethod
    def complete(self, table: LockedTable, work: Work, outcome: Outcome, engine: str) -> Result:
        """Make the work visible, on a table whose timeline was read again; `engine` names what ran the tasks.

        Raises:
            ConflictError: somebody took the action off the timeline, or ran it too.
            UnknownOutcomeError: the storage gave no answer to the last step.
        """

    def with_planned(self, result: Result, planned: Result) -> Result:  # noqa: ARG002 - most plans say it all on the timeline
        """Return the result of a run with what only the process that planned it knew."""
        return result

    @abstractmethod
    def planned_result(self, plan: Plan, instant: Instant | None) -> Result:
        """Return the result of a plan; `instant` is None when it is not on the timeline."""

    def find(self, table: LockedTable, requested: str) -> Instant:
        """Return the pending instant of a requested time.

        Raises:
            UsageError: there is none, or it is completed.
        """
        return find_instant(table, requested, self.name, lambda one: one in self.pending(table.storage, table.config, table.timeline))

    def earlier_services(self) -> tuple[TableService[Any, Any, Any, Result], ...]:
        """Return the services whose pending plans run before a new plan of this one is made, itself among them."""
        return (self,)

    def rollback_run(self, table: LockedTable, instant: Instant, plan: Plan) -> None:
        """Remove what a failed run wrote, and leave the instant requested; by default it stays as it is and the next run resumes it."""

    def written_files(self, table: LockedTable, instant: Instant, plan: Plan) -> tuple[str, ...]:  # noqa: ARG002 - for others to say
        """Return the paths of the files that runs of a plan left and that `cancel` deletes; none by default."""
        return ()

    def cancel(self, table: LockedTable, instant: Instant, plan: Plan) -> None:  # noqa: ARG002
        """Take a pending plan off the timeline with what its runs wrote.

        Raises:
            UnsupportedError: such a plan cannot be cancelled, or not any more.
        """
        raise UsageError(f"{instant.action} {instant.requested} of table {table.storage.uri} cannot be cancelled; run it instead.")


def find_instant(table: TableState, requested: str, noun: str, is_pending: Callable[[Instant], bool]) -> Instant:
    """Return the instant of a requested time that a service can run; `noun` names the service.

    Raises:
        UsageError: there is none, or it is completed.
    """
    for instant in table.timeline.find(requested):
        if is_pending(instant):
            return instant
        if instant.is_completed:
            raise UsageError(f"{instant.action} {requested} of table {table.storage.uri} is completed; there is no {noun} to run.")
    raise UsageError(f"there is no pending {noun} {requested} of table {table.storage.uri}; look at table.history().")
