"""Clustering a table: on request (`table.services.cluster`, the command line, SQL) and beside writes that ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UsageError
from pyhudi.index.consistent_hashing import holds_rings
from pyhudi.service.clustering import (
    ClusteringResult,
    ClusteringRunner,
    cancel,
    clustering_settings,
    find_clustering,
)
from pyhudi.service.clustering.clustering_rollback import written_files
from pyhudi.service.clustering.inline_clustering import after_commit, before_write
from pyhudi.service.clustering.pending_clustering_plans import bucket_groups
from pyhudi.service.clustering.run_modes import run_one, run_pending, schedule_and_run, schedule_one, show_pending, show_schedule
from pyhudi.service.service_engine import Progress
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.compact_table import MODES, Mode
from pyhudi.table.runners import runner_of
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.txn.ids import Ids
from pyhudi.txn.transaction import Committed, Transaction

_INLINE: Final = "hoodie.clustering.inline"
_ENGINE: Final = "hoodie.index.bucket.engine"
_RINGS: Final = "CONSISTENT_HASHING"


@dataclass(frozen=True, slots=True)
class ClusteringRequest:
    """What a caller asks for; the fields are the arguments of `Services.cluster`."""

    instant: str | None
    mode: Mode
    dry_run: bool
    options: Mapping[str, str]
    engine: Engine | None
    progress: Progress | None


def cluster(storage: Storage, clock: Clock, ids: Ids, request: ClusteringRequest) -> tuple[ClusteringResult, ...]:
    """Plan or run clusterings; see `Services.cluster` for errors."""
    instant, mode = request.instant, request.mode
    if mode not in MODES:
        raise UsageError(f"mode is '{mode}'; it can be {', '.join(MODES)}")
    if instant is not None and mode == "schedule":
        raise UsageError(f"a clustering that is planned now gets its own time: leave out instant={instant}, or execute it")
    options = resolve(request.options)
    settings = clustering_settings(options)
    runner = runner_of(ClusteringRunner, storage, clock, ids, options, request.engine, request.progress)
    if request.dry_run:
        if mode == "execute" or instant is not None:
            return show_pending(runner, instant)
        return (*(show_pending(runner) if mode == "both" else ()), *show_schedule(runner, settings))
    if instant is not None:
        return run_one(runner, instant, settings.hash_fields)
    if mode == "schedule":
        return schedule_one(runner, settings)
    return run_pending(runner, settings.hash_fields) if mode == "execute" else schedule_and_run(runner, settings)


def is_pending_clustering(storage: Storage, instant: str) -> bool:
    """Tell whether a requested time is that of a pending clustering."""
    config = TableConfig(load_properties(storage))
    match = load_timeline(storage, config).find(instant)
    return any(not one.is_completed and pending_clustering(storage, config, one) is not None for one in match)


def cancel_clustering(storage: Storage, clock: Clock, ids: Ids, instant: str, *, dry_run: bool) -> RollbackPlan:
    """Take a pending clustering off the timeline with what its runs left, and return that in the form of a rollback plan.

    Raises:
        ConflictError: another process is running it.
        UnsupportedError: it does not resize hash rings, or writers of Apache Hudi have written on top of it.
    """
    runner = runner_of(ClusteringRunner, storage, clock, ids, resolve({}), None, None)
    with runner.exclusive(), runner.locked() as table:
        clustering = find_clustering(table, instant)
        groups = bucket_groups(table, clustering)
        paths = written_files(table, clustering, groups)
        if not dry_run:
            cancel(table, clustering, groups)
    requests = tuple(RollbackRequest(path.rpartition("/")[0], None, instant, (path,)) for path in paths)
    return RollbackPlan(InstantInfo(instant, clustering.action.value), requests)


def cluster_before(storage: Storage, config: TableConfig, clock: Clock, ids: Ids, options: Options, engine: Engine | None = None) -> None:
    """Run what is planned before a write whose options ask for clustering inline; errors as of `Services.cluster`."""
    if options.flag(_INLINE) and _is_resized(storage, config, options):
        before_write(runner_of(ClusteringRunner, storage, clock, ids, options, engine, None), config, clustering_settings(options))


def _is_resized(storage: Storage, config: TableConfig, options: Options) -> bool:
    """Tell whether a table has hash rings, or gets them by this write: others go without the clustering
    (`pyhudi.write.options.index_resolution`).
    """
    return options.text(_ENGINE).upper() == _RINGS or holds_rings(storage, config)


def cluster_after(txn: Transaction, committed: Committed | None, options: Options, engine: Engine | None = None) -> None:
    """Cluster the table of a finished transaction when the options of its write ask for it and it is due. The lock must be free.

    What goes wrong is logged, not raised: the write is committed.
    """
    table = txn.table
    if committed is None or not (options.flag(_INLINE) and _is_resized(table.storage, table.config, options)):
        return
    runner = runner_of(ClusteringRunner, table.storage, table.clock, table.ids, options, engine, None)
    timeline = replace(table.timeline, instants=(*table.timeline.instants, committed.instant))
    after_commit(runner, table.config, timeline, clustering_settings(options))
