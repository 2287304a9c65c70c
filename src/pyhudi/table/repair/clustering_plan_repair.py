"""Takes file slices out of the plan of a clustering whose files cannot be read, so that the other ones are clustered.

Rules: `RepairClusteringPlanProcedure` (Apache Hudi after 1.2.0). The plan is replaced in one step; there it is deleted and written again.
No data file is deleted: a commit names it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

from pyhudi.codec.actions.plan_codec import encode_clustering_plan
from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.kernels.base_file.parquet_input import has_footer
from pyhudi.locks.exclusive_service import exclusive_service
from pyhudi.service.clustering.pending_clustering_plans import load_rewrite_plan, pending_clusterings
from pyhudi.service.table_service import find_instant
from pyhudi.spec.actions.clustering import ClusteringPlan, ClusteringSlice
from pyhudi.spec.instant import Instant, State
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.repair.repair_result import PlanRepair
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.instant_details import instant_path, read_bytes
from pyhudi.timeline.pending_clustering import resizes_buckets
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, TableState, locked_table, table_state

_BACKUPS = ".hoodie/.repair/repair_clustering_plan"


@dataclass(frozen=True, slots=True)
class PlanRepairRequest:
    """What `RepairServices.repair_clustering_plan` was asked for; without files, those that are not readable."""

    instant: str
    files: tuple[str, ...]
    is_dry_run: bool
    makes_backup: bool
    may_empty: bool
    engine: Engine


def repair_clustering_plan(storage: Storage, clock: Clock, ids: Ids, request: PlanRepairRequest, wait_s: float) -> tuple[PlanRepair, ...]:
    """Take slices out of a plan; see `RepairServices.repair_clustering_plan`."""
    _, plan = _requested_plan(table_state(storage, clock, ids), request.instant)
    files = request.files or _unreadable(storage, plan, request.engine)
    _check_rest(storage, plan, files, request)
    if files and not request.is_dry_run:
        with exclusive_service(storage, "clustering", "clustering") as exclusion, locked_table(storage, wait_s, clock, ids) as table:
            exclusion.check()
            instant, plan = _requested_plan(table, request.instant)
            _check_rest(storage, plan, files, request)
            if (repaired := _without(plan, files)) != plan:
                _replace(table, instant, repaired, makes_backup=request.makes_backup)
    planned = {name for one in _slices(plan) for name in _names(one)}
    done, reason = "would be removed" if request.is_dry_run else "removed", "asked for" if request.files else "not readable"
    actions = ((path, done if posixpath.basename(path) in planned else "not in the plan") for path in files)
    return tuple(PlanRepair(request.instant, path, action, reason) for path, action in actions)


def _requested_plan(state: TableState, requested: str) -> tuple[Instant, ClusteringPlan]:
    """Return a pending clustering that no process has begun to run, and its plan."""
    pending = pending_clusterings(state.storage, state.config, state.timeline)
    instant = find_instant(state, requested, "clustering", pending.__contains__)
    where = f"{instant.action} {requested} of table {state.storage.uri}"
    if instant.state is not State.REQUESTED:
        raise UsageError(f"{where} has begun to run: first delete what that run wrote, by table.services.revert('{requested}').")
    plan = load_rewrite_plan(state, instant).content
    if resizes_buckets(plan):
        raise UnsupportedError(
            f"{where} resizes buckets, of which none can be left out. Roll it back: table.services.rollback('{requested}')."
        )
    return instant, plan


def _slices(plan: ClusteringPlan) -> Iterator[ClusteringSlice]:
    return (one for group in plan.groups or () for one in group.slices or ())


def _names(file_slice: ClusteringSlice) -> frozenset[str]:
    """Return the names of the files of a slice; the plan has the paths of where the table was when it was made."""
    return frozenset(posixpath.basename(path) for path in (file_slice.data_file or "", *(file_slice.delta_files or ())) if path)


def _unreadable(storage: Storage, plan: ClusteringPlan, engine: Engine) -> tuple[str, ...]:
    """Return the paths of the base files of a plan that are missing or have no Parquet footer."""
    paths = [f"{one.partition_path or ''}/{posixpath.basename(one.data_file)}".lstrip("/") for one in _slices(plan) if one.data_file]
    readable = engine.run(partial(has_footer, storage), paths)
    return tuple(path for path, is_readable in zip(paths, readable, strict=True) if not is_readable)


def _without(plan: ClusteringPlan, files: Collection[str]) -> ClusteringPlan:
    """Return a plan without the slices of files, and without groups of which no slice is left."""
    leaving = {posixpath.basename(path) for path in files}
    groups = (
        replace(group, slices=tuple(one for one in group.slices or () if leaving.isdisjoint(_names(one)))) for group in plan.groups or ()
    )
    return replace(plan, groups=tuple(group for group in groups if group.slices))


def _check_rest(storage: Storage, plan: ClusteringPlan, files: Collection[str], request: PlanRepairRequest) -> None:
    if plan.groups and not request.may_empty and not _without(plan, files).groups:
        raise UsageError(
            f"nothing would be left of clustering {request.instant} of table {storage.uri}: roll it back,"
            f" table.services.rollback('{request.instant}'), or allow an empty plan."
        )


def _replace(table: LockedTable, instant: Instant, plan: ClusteringPlan, *, makes_backup: bool) -> None:
    path = instant_path(table.config, instant)
    if makes_backup:
        made = int(table.clock.now().timestamp() * 1000)
        copy = f"{_BACKUPS}/{instant.requested}/{made}/{posixpath.basename(path)}"
        table.storage.replace(copy, read_bytes(table.storage, table.config, instant))
    table.storage.replace(path, encode_clustering_plan(plan, sync=table.ids.sync_marker()))
