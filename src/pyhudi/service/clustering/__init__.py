"""Clustering, as far as it is served: the buckets of hash rings are split and merged. Plan, run, and know what is due after a write."""

from __future__ import annotations

from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.clustering.clustering_rollback import cancel
from pyhudi.service.clustering.clustering_settings import ClusteringSettings, clustering_settings
from pyhudi.service.clustering.execute_clustering import ClusteringRunner, execute
from pyhudi.service.clustering.pending_clustering_plans import find_clustering, pending_clusterings

__all__ = [
    "ClusteringResult",
    "ClusteringRunner",
    "ClusteringSettings",
    "cancel",
    "clustering_settings",
    "execute",
    "find_clustering",
    "pending_clusterings",
]
