"""What a write does about clustering: what is planned is run before it, what is due after it.

Rules: `BaseHoodieWriteClient.runTableServicesInline`. Apache Hudi's writers go on beside a planned resizing, those of pyhudi do not: so one
that asks for inline clustering finishes what a killed one left.
"""

from __future__ import annotations

import logging

from pyhudi.errors import ConflictError, HudiError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import has_rings
from pyhudi.service.clustering.clustering_settings import ClusteringSettings
from pyhudi.service.clustering.execute_clustering import ClusteringRunner
from pyhudi.service.clustering.run_modes import run_pending, schedule_and_run
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import commit_of
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)


def before_write(runner: ClusteringRunner, config: TableConfig, settings: ClusteringSettings) -> None:
    """Run what is planned; errors as of `run_pending`."""
    timeline = load_timeline(runner.storage, config)
    if any(pending_clustering(runner.storage, config, one) is not None for one in timeline.pending()):
        for result in run_pending(runner, settings.hash_fields):
            _log.info("table %s: %s", runner.storage.uri, result)


def after_commit(runner: ClusteringRunner, config: TableConfig, timeline: Timeline, settings: ClusteringSettings) -> None:
    """Plan and run what is due. The table's lock must be free; `timeline` is the table's, with the commit that was just made.

    What goes wrong is logged: the write before it is committed, and a caller that heard of an error would repeat it.
    """
    if not clustering_is_due(runner.storage, config, timeline, settings):
        return
    uri = runner.storage.uri
    try:
        for result in schedule_and_run(runner, settings):
            _log.info("table %s: %s", uri, result)
    except ConflictError as error:
        _log.info("no clustering after the write to table %s: %s", uri, error)
    except (HudiError, OSError) as error:
        _log.warning("the write to table %s is committed, the clustering after it failed and is left to the next one: %s", uri, error)


def clustering_is_due(storage: Storage, config: TableConfig, timeline: Timeline, settings: ClusteringSettings) -> bool:
    """Tell whether as many commits were made since the last clustering as the settings say."""
    since = 0
    for instant in reversed(timeline.data_instants()):
        if instant.action is Action.REPLACE_COMMIT and commit_of(storage, config, timeline, instant).operation == Operation.CLUSTER:
            break
        since += 1
    return since >= settings.inline_commits and has_rings(FileSystemView(storage, config, timeline))
