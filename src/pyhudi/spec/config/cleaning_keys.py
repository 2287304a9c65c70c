"""Keys of cleaning. Rules: `HoodieCleanConfig`; cleaning after writes is on, as in Apache Hudi."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served

CLEANING: tuple[ConfigKey, ...] = (
    served("hoodie.clean.automatic", "Delete file slices that no retained state needs, after each write.", Kind.FLAG, "true"),
    served("hoodie.clean.async.enabled", "Do so in a thread of the writing process.", Kind.FLAG, "false", aliases=("hoodie.clean.async",)),
    served(
        "hoodie.clean.policy",
        "What decides how long file slices stay; by default that whose retention alone is given.",
        default="KEEP_LATEST_COMMITS",
        aliases=("hoodie.cleaner.policy",),
        choices=("KEEP_LATEST_COMMITS", "KEEP_LATEST_BY_HOURS", "KEEP_LATEST_FILE_VERSIONS"),
    ),
    served(
        "hoodie.clean.commits.retained",
        "Commits whose states stay readable, for KEEP_LATEST_COMMITS.",
        Kind.POSITIVE,
        "10",
        aliases=("hoodie.cleaner.commits.retained",),
    ),
    served(
        "hoodie.clean.hours.retained",
        "Hours for which states stay readable, for KEEP_LATEST_BY_HOURS.",
        Kind.POSITIVE,
        "24",
        aliases=("hoodie.cleaner.hours.retained",),
    ),
    served(
        "hoodie.clean.fileversions.retained",
        "File slices that stay of each file group, for KEEP_LATEST_FILE_VERSIONS.",
        Kind.POSITIVE,
        "3",
        aliases=("hoodie.cleaner.fileversions.retained",),
    ),
    served(
        "hoodie.clean.trigger.max.commits",
        "Commits since the last clean from which on the next one is due.",
        Kind.POSITIVE,
        "1",
        aliases=("hoodie.clean.max.commits",),
    ),
    served(
        "hoodie.clean.incremental.enabled",
        "Look only at partitions that commits have touched since the last clean.",
        Kind.FLAG,
        "true",
        aliases=("hoodie.cleaner.incremental.mode",),
    ),
    served(
        "hoodie.clean.max.commits.to.clean", "Commits further than the last clean that one may go.", Kind.POSITIVE, "9223372036854775807"
    ),
    served(
        "hoodie.clean.multiple.enabled",
        "Plan a clean while another one is pending.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.clean.allow.multiple",),
    ),
    served(
        "hoodie.clean.partition.filter.selected",
        "Partitions to clean, comma-separated; needs hoodie.clean.incremental.enabled=false.",
        aliases=("hoodie.cleaner.partition.filter.selected",),
    ),
    served(
        "hoodie.clean.partition.filter.regex",
        "Expression of the partitions to clean, where none are selected; needs hoodie.clean.incremental.enabled=false.",
        aliases=("hoodie.cleaner.partition.filter.regex",),
    ),
    served(
        "hoodie.prewrite.cleaner.policy",
        "What is done before a write: nothing (NONE), a clean (CLEAN), or only the rollback of failed writes (ROLLBACK_FAILED_WRITES).",
        default="NONE",
        choices=("NONE", "CLEAN", "ROLLBACK_FAILED_WRITES"),
    ),
    served(
        "hoodie.clean.failed.writes.policy",
        "Who rolls back failed writes: the next write (EAGER), the next clean when heartbeats ended (LAZY), or nobody (NEVER).",
        default="EAGER",
        aliases=("hoodie.cleaner.policy.failed.writes",),
        choices=("EAGER", "LAZY", "NEVER"),
    ),
    served(
        "hoodie.client.heartbeat.interval_in_ms", "Milliseconds between two heartbeats of a writer, at least 1000.", Kind.POSITIVE, "60000"
    ),
    served(
        "hoodie.client.heartbeat.tolerable.misses",
        "Intervals without a heartbeat after which a writer counts as dead.",
        Kind.POSITIVE,
        "2",
    ),
    served(
        "hoodie.write.empty.clean.interval.hours",
        "Hours after which a clean that deletes nothing is recorded, -1 for never; by default one is recorded every ten commits.",
        Kind.INTEGER,
    ),
    served(
        "hoodie.clean.delete.bootstrap.base.file",
        "Delete the file that a table was bootstrapped from with its skeleton. Other tables and programs that read it lose it.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.cleaner.delete.bootstrap.base.file",),
    ),
    *harmless(
        "pyhudi deletes files with the engine of the write", "hoodie.clean.parallelism hoodie.clean.optimize.using.local.engine.context"
    ),
    *refused("the number of commits is all that makes a clean due", "hoodie.clean.trigger.strategy=num_commits"),
)
