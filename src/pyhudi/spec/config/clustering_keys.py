"""Keys of clustering. What is served of it is the resizing of hash rings.

Rules: `HoodieClusteringConfig`; `HoodieIndexConfig` for the keys that say which buckets are resized (`pyhudi.spec.config.index_keys`).
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served, unserved

CLUSTERING: tuple[ConfigKey, ...] = (
    served(
        "hoodie.clustering.inline",
        "Resize the buckets of a table of hash rings after a write when that is due; what is planned already is run before the write.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.datasource.clustering.inline.enable",),
    ),
    served("hoodie.clustering.inline.max.commits", "Commits since the last resizing after which the next is due.", Kind.POSITIVE, "4"),
    served(
        "hoodie.clustering.plan.strategy.class",
        "What a clustering plans: one of Apache Hudi's classes for consistent hashing. When not given, and the table has hash rings: that.",
    ),
    served("hoodie.clustering.execution.strategy.class", "How a clustering is run: one of Apache Hudi's classes for consistent hashing."),
    served("hoodie.clustering.plan.strategy.max.num.groups", "Splits and merges of one plan.", Kind.POSITIVE, "30"),
    *harmless(
        "says what a writer does beside a planned resizing; those of pyhudi are refused until it has run",
        "hoodie.clustering.updates.strategy",
    ),
    *unserved(
        "a planned resizing keeps writers out until it has run: resize inline, or by table.services.cluster()",
        "hoodie.clustering.async.enabled=false hoodie.clustering.schedule.inline=false",
    ),
    *unserved(
        "clustering of other tables than those of hash rings comes with a later release: sizes, sorting and choice of partitions do too",
        "hoodie.clustering.*",
    ),
)
