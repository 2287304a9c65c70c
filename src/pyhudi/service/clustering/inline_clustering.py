"""Clustering around a write that asks for it: what is planned is run before it, what is due after it.

Apache Hudi's writers go on beside a planned resizing, those of pyhudi do not: so one that asks for inline clustering finishes what a killed
one left.
"""

from __future__ import annotations

import logging
from typing import Final

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import has_rings, holds_rings
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.clustering.clustering_settings import ClusteringSettings, clustering_settings
from pyhudi.service.inline_run import InlineRun, WrittenTable, inline_run
from pyhudi.service.run_mode import RunMode
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_executor import run_pending
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import commit_of
from pyhudi.timeline.load_timeline import load_timeline

_log = logging.getLogger(__name__)
_INLINE: Final = "hoodie.clustering.inline"
_ENGINE: Final = "hoodie.index.bucket.engine"
_RINGS: Final = "CONSISTENT_HASHING"


def cluster_before_write(runner: ServiceRunner, options: Options, config: TableConfig) -> None:
    """Run what is planned; errors as of `run_pending`."""
    if not _is_asked_for(runner.storage, options, config):
        return
    service = Clustering(clustering_settings(options))
    if service.pending(runner.storage, config, load_timeline(runner.storage, config)):
        for result in run_pending(service, runner):
            _log.info("table %s: %s", runner.storage.uri, result)


def cluster_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the clustering that is due."""
    if not _is_asked_for(table.runner.storage, table.options, table.config):
        return None
    settings = clustering_settings(table.options)
    return inline_run(Clustering(settings), table, RunMode.INLINE, lambda: clustering_is_due(table, settings))


def clustering_is_due(table: WrittenTable, settings: ClusteringSettings) -> bool:
    """Tell whether as many commits were made since the last clustering as the settings say."""
    since, storage, timeline = 0, table.runner.storage, table.timeline
    for instant in reversed(timeline.data_instants()):
        if instant.action is Action.REPLACE_COMMIT and commit_of(storage, table.config, timeline, instant).operation == Operation.CLUSTER:
            break
        since += 1
    return since >= settings.inline_commits and has_rings(FileSystemView(storage, table.config, timeline))


def _is_asked_for(storage: Storage, options: Options, config: TableConfig) -> bool:
    """Tell whether a write asks for clustering of a table that has hash rings, or gets them by this write: others go without it
    (`pyhudi.write.options.index_resolution`).
    """
    return options.flag(_INLINE) and (options.text(_ENGINE).upper() == _RINGS or holds_rings(storage, config))
