"""What the options say about clustering, in one value. Rules: `HoodieClusteringConfig`, `HoodieIndexConfig` of Apache Hudi 1.2."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.errors import OptionError
from pyhudi.index.index_options import index_options
from pyhudi.service.clustering.rewrite_settings import RewriteSettings, plan_class_name, rewrite_settings, run_class_name
from pyhudi.service.run_mode import RunMode
from pyhudi.spec.options import Options
from pyhudi.txn.conflicts.pending_ingestion import PREFERS_NOBODY, IngestionRules, ingestion_rules
from pyhudi.txn.failed_writes_policy import FailedWritesPolicy, failed_writes_settings
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata, rolling_metadata

_RESIZE_PLAN = "SparkConsistentBucketClusteringPlanStrategy"
#: The classes by which Apache Hudi runs the resizing of buckets of consistent hashing; the first one is in pyhudi's plans.
RUNS = (
    "org.apache.hudi.client.clustering.run.strategy.SparkConsistentBucketClusteringExecutionStrategy",
    "org.apache.hudi.client.clustering.run.strategy.SingleSparkJobConsistentHashingExecutionStrategy",
)


_INLINE_COMMITS, _ASYNC_COMMITS = "hoodie.clustering.inline.max.commits", "hoodie.clustering.async.max.commits"
_EXPIRES = "hoodie.clustering.enable.expirations"
_MODES = {
    "hoodie.clustering.inline": RunMode.INLINE,
    "hoodie.clustering.async.enabled": RunMode.BACKGROUND,
    "hoodie.clustering.schedule.inline": RunMode.SCHEDULE,
}


@dataclass(frozen=True, slots=True)
class ClusteringSettings:
    """When to resize and what. `most_buckets` and `least_buckets` are those of a partition, None for as many as it began with; buckets
    above `split_bytes` are split, those up to `merge_bytes` merged, `most_groups` of them in a plan. `hash_fields` is None when not given.

    `mode` is what a write does, `due_commits` how many commits since the last clustering make the next one due. Plans expire after
    `expires_after_minutes`, None for never. `ingestion` says whether a clustering gives way to writes that are at work.
    """

    mode: RunMode
    due_commits: int
    expires_after_minutes: int | None
    most_buckets: int | None
    least_buckets: int | None
    split_bytes: int
    merge_bytes: int
    most_groups: int
    default_base_bytes: int
    hash_fields: tuple[str, ...] | None
    #: Whether buckets of consistent hashing are resized or file groups rewritten; None for what fits the table.
    resizes: bool | None
    rewrite: RewriteSettings
    rolling: RollingMetadata = NOT_ROLLING
    ingestion: IngestionRules = PREFERS_NOBODY


def clustering_settings(options: Options) -> ClusteringSettings:
    """Return what the options decide.

    Raises:
        UnsupportedError: a class is not served.
        OptionError: an option contradicts another.
    """
    plan, run = plan_class_name(options), run_class_name(options)
    mode, expires_after_minutes = clustering_mode(options), expiry_minutes(options)
    resizes = plan == _RESIZE_PLAN or run in [short_name(name) for name in RUNS]
    base_bytes = options.integer("hoodie.parquet.max.file.size")
    most, least = options.get("hoodie.bucket.index.max.num.buckets"), options.get("hoodie.bucket.index.min.num.buckets")
    return ClusteringSettings(
        mode=mode,
        due_commits=options.integer(_INLINE_COMMITS if mode is RunMode.INLINE else _ASYNC_COMMITS),
        expires_after_minutes=expires_after_minutes,
        most_buckets=None if most is None else int(most),
        least_buckets=None if least is None else int(least),
        split_bytes=int(base_bytes * options.number("hoodie.bucket.index.split.threshold")),
        merge_bytes=int(base_bytes * options.number("hoodie.bucket.index.merge.threshold")),
        most_groups=options.integer("hoodie.clustering.plan.strategy.max.num.groups"),
        default_base_bytes=base_bytes,
        hash_fields=index_options(options).hash_fields,
        resizes=resizes or (None if plan is None and run is None else False),
        rewrite=rewrite_settings(Options() if resizes else options),
        rolling=rolling_metadata(options),
        ingestion=ingestion_rules(options),
    )


def clustering_mode(options: Options) -> RunMode:
    """Return when a write clusters.

    Raises:
        OptionError: options name two ways.
    """
    requested_modes = [(name, mode) for name, mode in _MODES.items() if options.flag(name)]
    if len(requested_modes) > 1:
        raise OptionError(
            f"{requested_modes[0][0]} and {requested_modes[1][0]} are both true: a write clusters in one way; leave one of them out"
        )
    return requested_modes[0][1] if requested_modes else RunMode.OFF


def expiry_minutes(options: Options) -> int | None:
    """Return after how many minutes a pending clustering has expired, None for never.

    Raises:
        OptionError: the policy of failed writes does not suit it.
    """
    if not options.flag(_EXPIRES):
        return None
    if failed_writes_settings(options).policy is not FailedWritesPolicy.LAZY:
        raise OptionError(f"{_EXPIRES}=true needs hoodie.clean.failed.writes.policy=LAZY, under which whoever runs a clustering says so")
    return options.integer("hoodie.clustering.expiration.threshold.mins")


def short_name(class_name: str) -> str:
    """Return the name of a Java class without its package."""
    return class_name.strip().rpartition(".")[2]
