"""Clustering around a write that asks for it: what is due is planned after it, and run there, in a thread or elsewhere.

A write that clusters inline runs what is planned before it begins: a planned resizing would keep it out, and any other plan would if the
write changes its file groups.
"""

from __future__ import annotations

import logging

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import is_consistently_hashed
from pyhudi.index.resolve_index import has_fixed_buckets
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.clustering.clustering_settings import ClusteringSettings, clustering_mode, clustering_settings
from pyhudi.service.clustering.rewrite_settings import PLAN_CLASS
from pyhudi.service.clustering.update_strategy import update_settings
from pyhudi.service.inline_run import InlineRun, WrittenTable, inline_run
from pyhudi.service.run_mode import RunMode
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_executor import run_pending
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)


def cluster_before_write(runner: ServiceRunner, options: Options, config: TableConfig) -> None:
    """Check the options of clustering, and run what is planned where it is run inline; errors as in `run_pending`.

    Raises:
        OptionError: options contradict each other.
        UnsupportedError: the table uses consistent hashing, and the options ask for another clustering.
    """
    settings = clustering_settings(options)
    update_settings(options)
    if settings.mode is RunMode.OFF:
        return
    if settings.resizes is False and is_consistently_hashed(runner.storage, config):
        raise UnsupportedError(
            f"table {runner.storage.uri} is laid out by consistent hashing, whose buckets are only resized: leave out {PLAN_CLASS}, or name"
            " SparkConsistentBucketClusteringPlanStrategy."
        )
    service = Clustering(settings)
    if settings.mode is RunMode.INLINE and service.pending(runner.storage, config, load_timeline(runner.storage, config)):
        for result in run_pending(service, runner):
            _log.info("table %s: %s", runner.storage.uri, result)


def cluster_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the clustering that is due; none for a fixed number of buckets, which rows cannot leave: the write has warned of that."""
    if clustering_mode(table.options) is RunMode.OFF:
        return None
    if has_fixed_buckets(FileSystemView(table.runner.storage, table.config, table.timeline)):
        return None
    settings = clustering_settings(table.options)
    return inline_run(Clustering(settings), table, settings.mode, lambda: clustering_is_due(table, settings))


def clustering_is_due(table: WrittenTable, settings: ClusteringSettings) -> bool:
    """Tell whether as many commits were made since the last clustering as the settings say."""
    return commits_since_clustering(table.runner.storage, table.config, table.timeline) >= settings.due_commits


def commits_since_clustering(storage: Storage, config: TableConfig, timeline: Timeline) -> int:
    """Return how many commits of the active timeline were made since the last clustering, all when there was none."""
    since = 0
    for instant in reversed(timeline.data_instants()):
        if (
            instant.action is Action.REPLACE_COMMIT
            and load_commit_metadata(storage, config, timeline, instant).operation == Operation.CLUSTER
        ):
            break
        since += 1
    return since
