"""Keys of compaction and log compaction.

Rules: `HoodieCompactionConfig`; `hoodie.compact.inline` is on for batch and SQL writes to merge-on-read tables, as in Apache Hudi.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served

COMPACTION: tuple[ConfigKey, ...] = (
    served("hoodie.compact.inline", "Compact a merge-on-read table after a write when it is due.", Kind.FLAG, "true"),
    served(
        "hoodie.compact.schedule.inline",
        "Only plan the compaction after a write; another process runs it.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.compaction.schedule.inline",),
    ),
    served(
        "hoodie.datasource.compaction.async.enable",
        "Given as true: compact in a thread of the writing process, which waits for it at its end.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.compact.inline.trigger.strategy",
        "What makes a compaction due.",
        default="NUM_COMMITS",
        choices=("NUM_COMMITS", "NUM_COMMITS_AFTER_LAST_REQUEST", "TIME_ELAPSED", "NUM_AND_TIME", "NUM_OR_TIME"),
    ),
    served(
        "hoodie.compact.inline.max.delta.commits",
        "Delta commits since the last compaction after which the next is due.",
        Kind.POSITIVE,
        "5",
    ),
    served(
        "hoodie.compact.inline.max.delta.seconds",
        "Seconds since the last compaction after which the next is due, for the triggers by time.",
        Kind.POSITIVE,
        "3600",
    ),
    served(
        "hoodie.compaction.strategy",
        "Class name of the strategy that picks file slices; several, separated by commas, work one after the other.",
        default="org.apache.hudi.table.action.compact.strategy.LogFileSizeBasedCompactionStrategy",
    ),
    served(
        "hoodie.compaction.target.io",
        "Megabytes that one compaction reads and writes, for the strategies with bounded input and output.",
        Kind.POSITIVE,
        "512000",
    ),
    served("hoodie.compaction.logfile.size.threshold", "Least bytes of a slice's log files to compact it.", Kind.COUNT, "0"),
    served("hoodie.compaction.logfile.num.threshold", "Least number of a slice's log files to compact it.", Kind.COUNT, "0"),
    served("hoodie.compaction.daybased.target.partitions", "Days, for the strategies that go by days.", Kind.POSITIVE, "10"),
    served("hoodie.compaction.partition.path.regex", "Pattern of partition paths, for PartitionRegexBasedCompactionStrategy."),
    served("hoodie.log.compaction.inline", "Stitch log blocks together after a write when it is due.", Kind.FLAG, "false"),
    served("hoodie.log.compaction.blocks.threshold", "Log blocks of a slice from which on it is log compacted.", Kind.POSITIVE, "5"),
    served(
        "hoodie.memory.compaction.max.size",
        "Bytes of a slice's log files that a compaction task merges at once; a slice with more is done in parts.",
        Kind.POSITIVE,
        "67108864",
    ),
    *harmless(
        "tunes how Hudi reads and sorts while it compacts",
        """
        hoodie.log.compaction.enable hoodie.compaction.lazy.block.read hoodie.compaction.reverse.log.read hoodie.compaction.sort.merge
        hoodie.compaction.external.sorter.type hoodie.compaction.progress.log.internal.num
        hoodie.compaction.plan.parallelism hoodie.compact.merge.handle.class hoodie.log.record.reader.use.scanV2
        """,
    ),
    *refused(
        "a compaction keeps the time and the sequence number of each record",
        "hoodie.compaction.preserve.commit.metadata=true",
    ),
    served(
        "hoodie.fail.writes.on.inline.table.service.exception",
        "Raise a TableServiceError when a table service that a write runs fails; the write stays committed. Otherwise that is logged.",
        Kind.FLAG,
        "false",
    ),
)
