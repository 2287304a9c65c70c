"""Keys of clustering.

Rules: `HoodieClusteringConfig`, `HoodieLayoutConfig`; `HoodieIndexConfig` for the keys that say which buckets are resized
(`pyhudi.spec.config.index_keys`).
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served

_PLAN = "hoodie.clustering.plan.strategy."
_TASKS = "tunes how Spark plans and runs clusterings; tasks here are one for each group of a plan"

CLUSTERING: tuple[ConfigKey, ...] = (
    served(
        "hoodie.clustering.inline",
        "Cluster a table after a write when that is due; what is planned already is run before the write.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.datasource.clustering.inline.enable",),
    ),
    served("hoodie.clustering.inline.max.commits", "Commits since the last clustering after which the next is due.", Kind.POSITIVE, "4"),
    served(
        f"{_PLAN}class",
        "What a clustering plans, one of Apache Hudi's classes: SparkSizeBasedClusteringPlanStrategy, SparkSingleFileSortPlanStrategy,"
        " SparkStreamCopyClusteringPlanStrategy, CommitBasedClusteringPlanStrategy, or SparkConsistentBucketClusteringPlanStrategy for"
        " tables with consistent hashing. When not given: the last for such tables, the first for others.",
    ),
    served(
        f"{_PLAN}earliest.commit.to.cluster",
        "CommitBasedClusteringPlanStrategy: the requested time after which commits are clustered; the checkpoint of the last plan, or 0.",
    ),
    served(
        f"{_PLAN}binary.copy.schema.evolution.enable",
        "SparkStreamCopyClusteringPlanStrategy: join files of different columns or types too. Those that are not as a new file of the table"
        " are then decoded and encoded.",
        Kind.FLAG,
        "false",
    ),
    served("hoodie.clustering.execution.strategy.class", "How a clustering is run: the class that fits the plan when not given."),
    served(f"{_PLAN}sort.columns", "Columns by which the rows are ordered, with commas in between; without, rows stay as they are."),
    served(
        "hoodie.layout.optimize.strategy",
        "How rows are ordered by several columns: one after the other, or along a curve through all of them.",
        Kind.TEXT,
        "LINEAR",
        choices=("LINEAR", "ZORDER", "Z-ORDER", "HILBERT"),
    ),
    served(f"{_PLAN}small.file.limit", "Base files below so many bytes are clustered.", Kind.COUNT, str(300 << 20)),
    served(f"{_PLAN}target.file.max.bytes", "Bytes that new files are to have at the most.", Kind.POSITIVE, str(1 << 30)),
    served(f"{_PLAN}max.bytes.per.group", "Bytes of base files that are rewritten together at the most.", Kind.POSITIVE, str(2 << 30)),
    served(f"{_PLAN}max.num.groups", "Groups of one plan; with consistent hashing, splits and merges.", Kind.POSITIVE, "30"),
    served(
        f"{_PLAN}single.group.clustering.enabled",
        "Whether a group of one file, which stays one, is rewritten; it is always when rows are ordered.",
        Kind.FLAG,
        "true",
    ),
    served(
        f"{_PLAN}file.slices.sort.by",
        "Which files of a partition come first: the largest, or the oldest.",
        Kind.TEXT,
        "SIZE",
        choices=("SIZE", "INSTANT_TIME"),
    ),
    served(
        "hoodie.clustering.plan.partition.filter.mode",
        "Which partitions are clustered: all, the last ones by name, those between two names, or one in 24 by the hour.",
        Kind.TEXT,
        "NONE",
        choices=("NONE", "RECENT_DAYS", "SELECTED_PARTITIONS", "DAY_ROLLING"),
    ),
    served(f"{_PLAN}daybased.lookback.partitions", "RECENT_DAYS: how many partitions.", Kind.POSITIVE, "2"),
    served(f"{_PLAN}daybased.skipfromlatest.partitions", "RECENT_DAYS: how many of the last are left out.", Kind.COUNT, "0"),
    served(f"{_PLAN}cluster.begin.partition", "SELECTED_PARTITIONS: the first partition, by name."),
    served(f"{_PLAN}cluster.end.partition", "SELECTED_PARTITIONS: the last partition, by name."),
    served(f"{_PLAN}partition.selected", "Partitions that are clustered, with commas in between."),
    served(f"{_PLAN}partition.regex.pattern", "Partitions that are clustered: those whose whole path matches."),
    served(
        "hoodie.table.services.incremental.enabled",
        "Leave out partitions that were not written since they were clustered in the same order.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.clustering.updates.strategy",
        "What becomes of a write to file groups of a planned clustering: it is refused (SparkRejectUpdateStrategy, the default), or"
        " goes on (SparkAllowUpdateStrategy).",
    ),
    served(
        "hoodie.clustering.fail.on.pending.ingestion.during.conflict.resolution",
        "Whether a clustering, by the conflict strategy PreferWriter, gives way to writes too that are not inflight yet.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.clustering.rollback.pending.replacecommit.on.conflict",
        "Whether such a write, by SparkAllowUpdateStrategy, rolls back the planned clustering.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.clustering.async.enabled",
        "Cluster after a write in a thread of its process, when that is due.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.datasource.clustering.async.enable",),
    ),
    served(
        "hoodie.clustering.schedule.inline", "Plan a clustering after a write, when that is due, and run it elsewhere.", Kind.FLAG, "false"
    ),
    served(
        "hoodie.clustering.async.max.commits",
        "Commits since the last clustering after which the next is due, in a thread or planned for others.",
        Kind.POSITIVE,
        "4",
    ),
    served(
        "hoodie.clustering.enable.expirations",
        "Whether services roll back clusterings that stay planned for too long; needs hoodie.clean.failed.writes.policy=LAZY.",
        Kind.FLAG,
        "false",
    ),
    served("hoodie.clustering.expiration.threshold.mins", "Minutes after which a planned clustering is rolled back.", Kind.COUNT, "60"),
    *harmless(
        _TASKS,
        """
        hoodie.clustering.max.parallelism hoodie.clustering.group.read.parallelism hoodie.layout.optimize.build.curve.sample.size
        """,
        Kind.POSITIVE,
    ),
    *harmless(
        _TASKS,
        """
        hoodie.clustering.plan.generation.use.local.engine.context hoodie.layout.optimize.data.skipping.enable hoodie.layout.optimize.enable
        """,
        Kind.FLAG,
    ),
    *harmless(
        "curves go by the ranks of all values of a column", "hoodie.layout.optimize.curve.build.method", choices=("DIRECT", "SAMPLE")
    ),
)
