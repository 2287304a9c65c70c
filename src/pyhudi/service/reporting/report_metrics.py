"""Reporting the metrics of commits and table services. Rules: `BaseHoodieWriteClient.emitCommitMetrics`, `BaseHoodieTableServiceClient`."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pyhudi.errors import HudiError
from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.compaction.compaction_result import CompactionResult
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.service.reporting.metric_values import Values, commit_values, service_values
from pyhudi.service.reporting.metrics_reporter import Metrics, metrics_of
from pyhudi.service.table_service import COMPLETED
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import instant_millis, now_millis
from pyhudi.timeline.instant_details import find_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline

_log = logging.getLogger(__name__)
_CLUSTERING = "clustering"


def check_metrics_options(options: Options, config: TableConfig) -> None:
    """See before a write that its metrics can be reported.

    Raises:
        OptionError: an option is wrong.
        UnsupportedError: the reporter that is named is not served.
    """
    metrics_of(options, config)


def report_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the report of a commit when the options of a write ask for metrics."""
    metrics = metrics_of(table.options, table.config)
    if metrics is None:
        return None
    instant = table.commit.instant
    begun_ms = instant_millis(instant.requested, table.config.timeline_zone)
    ended_ms = instant_millis(instant.completed, table.config.timeline_zone) if instant.completed else now_millis(table.runner.clock)
    values = commit_values(instant.action.value, table.commit.metadata, begun_ms, ended_ms - begun_ms)

    def run() -> Iterable[str]:
        metrics.report(values)
        return (f"metrics of {instant.requested} reported",)

    return InlineRun(run)


def report_results(storage: Storage, options: Options, results: Iterable[object], seconds: float) -> None:
    """Report the metrics of table services, when options ask for that; what goes wrong is logged.

    Args:
        storage: the table's storage.
        options: those of the call.
        results: what the services returned.
        seconds: how long they took.
    """
    try:
        config = TableConfig(load_properties(storage))
        metrics = metrics_of(options, config)
        if metrics is not None:
            for result in results:
                _report(metrics, storage, config, result, seconds)
    except (HudiError, OSError) as error:
        _log.warning("table %s: metrics of a table service could not be reported: %s", storage.uri, error)


def _report(metrics: Metrics, storage: Storage, config: TableConfig, result: object, seconds: float) -> None:
    if not isinstance(result, CompactionResult | ClusteringResult):
        metrics.report(service_values(result, seconds))
    elif result.state == COMPLETED and result.instant is not None:
        action = result.action if isinstance(result, CompactionResult) else _CLUSTERING
        metrics.report(_rewrite_values(storage, config, action, result.instant, round(result.seconds * 1000)))


def _rewrite_values(storage: Storage, config: TableConfig, action: str, requested: str, duration_ms: int) -> Values:
    metadata = find_commit_metadata(storage, config, load_timeline(storage, config), requested)
    if metadata is None:
        return {}
    return commit_values(action, metadata, instant_millis(requested, config.timeline_zone), duration_ms)
