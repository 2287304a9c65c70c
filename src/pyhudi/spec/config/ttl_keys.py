"""Keys of partition lifetimes. Rules: `HoodieTTLConfig`."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, served

TTL: tuple[ConfigKey, ...] = (
    served("hoodie.partition.ttl.inline", "Drop expired partitions after a write.", Kind.FLAG, "false"),
    served(
        "hoodie.partition.ttl.management.strategy.type",
        "What the age of a partition counts from: its last write, or its creation.",
        default="KEEP_BY_TIME",
        choices=("KEEP_BY_TIME", "KEEP_BY_CREATION_TIME"),
    ),
    served("hoodie.partition.ttl.strategy.class", "The same, as the name of Apache Hudi's class.", default=""),
    served(
        "hoodie.partition.ttl.strategy.days.retain",
        "Age in days from which on a partition has expired; none does at 0 and below.",
        Kind.INTEGER,
        "-1",
    ),
    served("hoodie.partition.ttl.strategy.partition.selected", "Paths of partitions that may expire, with commas.", default=""),
    served("hoodie.partition.ttl.strategy.max.delete.partitions", "How many partitions are dropped at once.", Kind.POSITIVE, "1000"),
)
