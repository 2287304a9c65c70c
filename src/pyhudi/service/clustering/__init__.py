"""Clustering, as far as it is served: the buckets of hash rings are split and merged. Plan, run, and know what is due after a write."""

from __future__ import annotations

from pyhudi.service.clustering.execute import ClusteringRunner, execute
from pyhudi.service.clustering.planned import find_clustering, pending_clusterings
from pyhudi.service.clustering.result import ClusteringResult
from pyhudi.service.clustering.settings import ClusteringSettings, clustering_settings
from pyhudi.service.clustering.take_back import cancel

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
