"""Rolls back clusterings that stay planned for too long: they keep writers out of their file groups, and hold up cleans and archival.

Rules: `BaseHoodieTableServiceClient.getInstantsToRollbackForLazyCleanPolicy`: under the policy LAZY of failed writes, when the plan is old
enough and nobody says by a heartbeat that it is being run.
"""

from __future__ import annotations

import logging

from pyhudi.errors import ConflictError
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.clustering.clustering_settings import clustering_settings, expiry_minutes
from pyhudi.service.clustering.pending_clustering_plans import pending_clusterings
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_executor import cancel
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import instant_millis
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.heartbeats import is_alive

_log = logging.getLogger(__name__)


def expire_clusterings(runner: ServiceRunner, options: Options) -> tuple[str, ...]:
    """Roll back the expired clusterings of a table, and return their requested times; one that another process is running stays.

    Raises:
        UnsupportedError: others have written on top of a resizing.
        StorageError: the storage failed; the clustering stays planned.
    """
    settings = clustering_settings(options)
    if settings.expires_after_minutes is None:
        return ()
    config = TableConfig(load_properties(runner.storage))
    expired = _expired(runner, config, load_timeline(runner.storage, config), settings.expires_after_minutes)
    return tuple(instant for instant in expired if _roll_back(Clustering(settings), runner, instant))


def expire_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the rollback of clusterings that have expired."""
    minutes = expiry_minutes(table.options)
    if minutes is None or not _expired(table.runner, table.config, table.timeline, minutes):
        return None
    return InlineRun(lambda: expire_clusterings(table.runner, table.options))


def _expired(runner: ServiceRunner, config: TableConfig, timeline: Timeline, minutes: int) -> tuple[str, ...]:
    latest = runner.clock.now().timestamp() * 1000 - minutes * 60_000
    return tuple(
        one.requested
        for one in pending_clusterings(runner.storage, config, timeline)
        if instant_millis(one.requested, config.timeline_zone) <= latest
        and not is_alive(runner.storage, one.requested, runner.clock, runner.failed_writes.heartbeats)
    )


def _roll_back(service: Clustering, runner: ServiceRunner, instant: str) -> bool:
    try:
        cancel(service, runner, instant)
    except ConflictError as error:
        _log.info("clustering %s of table %s is old, and left to its own process: %s", instant, runner.storage.uri, error)
        return False
    _log.warning("rolled back clustering %s of table %s, which was planned for too long", instant, runner.storage.uri)
    return True
