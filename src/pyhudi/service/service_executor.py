"""The executor of table services: schedule, run, resume, roll back, show. Inline, in a thread and in a process of its own are the same.

The lock of the service is held from the first step of a run to the last, so that others see that this one is alive; the table's lock only
to start and to complete: writers continue in between. A run that fails is rolled back at once, one that is killed by the next.
Rules: `BaseHoodieTableServiceClient`, `HoodieCompactor`, `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyhudi.errors import HudiError, UnknownOutcomeError, UsageError
from pyhudi.locks.exclusive_service import ExclusiveService, exclusive_service
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_run import MadePlan, StartedRun
from pyhudi.service.table_service import MODES, Outcome, Plan, Result, ServiceMode, TableService, Work
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.txn.heartbeats import Heartbeat
from pyhudi.txn.locked_table import LockedTable

#: A service whose plans and work only itself looks into.
Service: TypeAlias = TableService[Any, Any, Any, Result]


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """What a caller asks of a service: everything, one pending instant, or only to see what would be done."""

    instant: str | None = None
    mode: ServiceMode = "both"
    dry_run: bool = False


def serve(service: Service[Result], runner: ServiceRunner, request: ServiceRequest) -> tuple[Result, ...]:
    """Do what a request asks for.

    Raises:
        UsageError: the mode is none, or an instant is named for a plan that is still to be made.
        ConflictError: another process runs the service on the table.
    """
    instant, mode = request.instant, request.mode
    if mode not in MODES:
        raise UsageError(f"mode is '{mode}'; it can be {', '.join(MODES)}")
    if instant is not None and mode == "schedule":
        raise UsageError(f"a {service.name} that is planned now gets its own time: leave out instant={instant}, or execute it")
    if request.dry_run:
        if mode == "execute" or instant is not None:
            return show_pending(service, runner, instant)
        return (*(show_pending(service, runner) if mode == "both" else ()), *show_schedule(service, runner))
    if instant is not None:
        return run_one(service, runner, instant)
    if mode == "schedule":
        return schedule_one(service, runner)
    return run_pending(service, runner) if mode == "execute" else schedule_and_run(service, runner)


def schedule_one(service: Service[Result], runner: ServiceRunner) -> tuple[Result, ...]:
    """Roll back what failed writers left, if the policy allows it, and put one plan on the timeline; no result when there is nothing to do.

    Raises:
        UsageError: the table is none that the service serves.
        LockTimeoutError: a writer held the table for too long.
    """
    made = _schedule(service, runner)
    return () if made is None else (service.planned_result(made.plan, made.instant),)


def _schedule(service: TableService[Plan, Any, Any, Any], runner: ServiceRunner) -> MadePlan[Plan] | None:
    """Put one plan on the timeline, see `schedule_one`; None when there is nothing to do."""
    with runner.locked() as locked:
        table = roll_back_failed_writes(locked, settings=runner.failed_writes)
        plan = service.plan(table)
        return None if plan is None else MadePlan(plan, service.request(table, plan), table.timeline)


def run_pending(service: Service[Result], runner: ServiceRunner) -> tuple[Result, ...]:
    """Run the pending plans of a service, the oldest first.

    Raises:
        ConflictError: another process runs the service on the table.
    """
    with exclusive(service, runner) as exclusion:
        return _run_pending(runner, exclusion, service)


def run_one(
    service: Service[Result], runner: ServiceRunner, requested: str, exclusion: ExclusiveService | None = None
) -> tuple[Result, ...]:
    """Run the pending plan of a requested time; `exclusion` is what the caller of a service without a lock of its own holds.

    Raises:
        UsageError: no such plan is pending.
        ConflictError: another process runs the service on the table.
    """
    with exclusive(service, runner) as of_service:
        return (_run(service, runner, requested, exclusion or of_service),)


def schedule_and_run(service: Service[Result], runner: ServiceRunner) -> tuple[Result, ...]:
    """Run what is pending, then plan what is left and run that; errors as in `schedule_one` and `run_pending`."""
    with exclusive(service, runner) as exclusion:
        earlier = _run_pending(runner, exclusion, *service.earlier_services())
        done = list(earlier)
        made = _schedule(service, runner)
        if made is not None:
            result = _run(service, runner, made.instant.requested, exclusion, made=made, keep_plan=service.keeps_failed_plan)
            done.append(service.with_planned(result, service.planned_result(made.plan, made.instant)))
        return tuple(done)


def show_schedule(service: Service[Result], runner: ServiceRunner) -> tuple[Result, ...]:
    """Return what would be planned now; nothing is written."""
    with runner.locked() as table:
        plan = service.preview(table)
        return () if plan is None else (service.planned_result(plan, None),)


def show_pending(service: Service[Result], runner: ServiceRunner, requested: str | None = None) -> tuple[Result, ...]:
    """Return the pending plans of a service, or the one of a requested time; nothing is written."""
    with runner.locked() as table:
        pending = service.pending(table.storage, table.config, table.timeline)
        if requested is not None:
            pending = (service.find(table, requested),)
        return tuple(service.planned_result(service.load_plan(table, one), one) for one in pending)


def cancel(service: Service[Result], runner: ServiceRunner, requested: str, *, dry_run: bool = False) -> RollbackPlan:
    """Take a pending plan off the timeline with what its runs left, and return that in the form of a rollback plan.

    Raises:
        ConflictError: another process is running it.
        UnsupportedError: others have written on top of it.
    """
    with _locked_alone(service, runner, dry_run=dry_run) as table:
        instant = service.find(table, requested)
        plan = service.load_plan(table, instant)
        paths = service.written_files(table, instant, plan)
        if not dry_run:
            service.cancel(table, instant, plan)
    requests = tuple(RollbackRequest(path.rpartition("/")[0], None, requested, (path,)) for path in paths)
    return RollbackPlan(InstantInfo(requested, instant.action.value), requests)


def revert(service: Service[Result], runner: ServiceRunner, requested: str, *, dry_run: bool = False) -> tuple[str, ...]:
    """Revert what a run of a pending plan left, so that the plan is requested again, and return the paths of its files.

    Raises:
        ConflictError: another process is running it.
    """
    with _locked_alone(service, runner, dry_run=dry_run) as table:
        instant = service.find(table, requested)
        plan = service.load_plan(table, instant)
        paths = service.written_files(table, instant, plan)
        if not dry_run:
            service.rollback_run(table, instant, plan)
    return paths


@contextlib.contextmanager
def _locked_alone(service: Service[Result], runner: ServiceRunner, *, dry_run: bool) -> Iterator[LockedTable]:
    """Hold the table's lock, and that of the service unless nothing is to be written."""
    with contextlib.nullcontext() if dry_run else exclusive(service, runner) as exclusion, runner.locked() as table:
        if exclusion is not None:
            exclusion.check()
        yield table


@contextlib.contextmanager
def exclusive(service: Service[Any], runner: ServiceRunner, *, is_locked: bool = False) -> Iterator[ExclusiveService]:
    """Hold the lock of a service, if it has one; `is_locked` tells that the table's lock is held until the end.

    Raises:
        ConflictError: another process or thread runs the service on the table.
    """
    if service.lock is None:
        yield ExclusiveService(runner.storage.uri, f"running {service.name} of")
        return
    with exclusive_service(runner.storage, service.lock.name, service.lock.doing, is_locked=is_locked) as exclusion:
        yield exclusion


def _run_pending(runner: ServiceRunner, exclusion: ExclusiveService, *services: Service[Result]) -> tuple[Result, ...]:
    with runner.locked() as table:
        times = [(one.requested, service) for service in services for one in service.pending(table.storage, table.config, table.timeline)]
    return tuple(_run(service, runner, requested, exclusion) for requested, service in sorted(times, key=lambda pair: pair[0]))


def _run(
    service: TableService[Plan, Work, Outcome, Result],
    runner: ServiceRunner,
    requested: str,
    exclusion: ExclusiveService,
    *,
    made: MadePlan[Plan] | None = None,
    keep_plan: bool = True,
) -> Result:
    """Run the pending plan of a requested time, which this process may have `made`. The caller holds the lock of the service.

    Raises:
        UsageError: no such plan is pending.
        ConflictError: another process runs it, or changed what it was planned for; nothing of this run is visible.
        LockLostError: others took this process for dead; nothing of this run is visible.
        CorruptTableError: a file of the plan is missing or damaged.
        UnknownOutcomeError: the storage failed in the last step without saying whether the action is visible.
    """
    began = time.perf_counter()
    started: StartedRun[Plan] | None = None
    is_started = False
    try:
        with contextlib.ExitStack() as alive:
            with runner.locked() as table:
                exclusion.check()
                instant = service.find(table, requested)
                plan = service.load_plan(table, instant)
                if made is not None and made.holds(table.timeline):
                    plan = service.trusted(plan, made.plan)
                started = StartedRun(service, plan, instant, exclusion)
                work = service.start(table, instant, plan, runner)
                is_started = True
                alive.enter_context(_alive(service, runner, requested))
            outcome = service.run_tasks(runner, work)
            with runner.locked() as table:
                exclusion.check()
                started.delete_strays(table, service.written_by(outcome))
                result = service.complete(table, work, outcome, runner.engine.name)
    except UnknownOutcomeError:
        raise
    except BaseException as error:
        if started is not None and (is_started or not keep_plan):
            _rollback_after_failure(started, runner, error, keep_plan=keep_plan)
        raise
    return dataclasses.replace(result, seconds=time.perf_counter() - began)


@contextlib.contextmanager
def _alive(service: Service[Any], runner: ServiceRunner, requested: str) -> Iterator[None]:
    """Send the heartbeats of a run, the first one under the table's lock: Apache Hudi, which does not know the lock of the service, rolls
    back a run without them and begins it again. What happens when they come too late is found out at its completion, from the timeline.
    """
    if not service.sends_heartbeats and not runner.failed_writes.has_concurrent_writers:
        yield
        return
    with Heartbeat(runner.storage, requested, runner.clock, runner.failed_writes.heartbeats, may_be_taken_over=True):
        yield


def _rollback_after_failure(run: StartedRun[Any], runner: ServiceRunner, error: BaseException, *, keep_plan: bool) -> None:
    """Roll back the failed run; when that fails too it stays inflight, unseen, until the next run comes."""
    name = run.service.name
    try:
        with runner.locked() as table:
            left = run.end_without_completion(table, keep_plan=keep_plan)
    except (HudiError, OSError) as failure:
        error.add_note(f"What the {name} wrote is not visible; rolling it back failed and is left to its next run: {failure}")
        return
    if left:
        error.add_note(f"What the {name} wrote is not visible: {left}.")
