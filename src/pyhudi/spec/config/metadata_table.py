"""Keys of the metadata table and of the statistics in it.

Rules: `HoodieMetadataConfig`. Column and partition statistics are on, as in Apache Hudi on Spark.
"""

from __future__ import annotations

from pyhudi.spec.config.key import ConfigKey, Kind, harmless, refused, served

_LATER = "comes with a later release"

METADATA_TABLE: tuple[ConfigKey, ...] = (
    served(
        "hoodie.metadata.enable",
        "Keep a metadata table in step with each write, and list files by it; false deletes it at the next write.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.column.stats.enable",
        "Keep bounds and counts of columns for each file; false drops them.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.partition.stats.enable",
        "Keep bounds and counts of columns for each partition; false drops them.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.column.stats.column.list",
        "Columns that have statistics, parted by commas; without it the first ones of the schema.",
    ),
    served(
        "hoodie.metadata.index.column.stats.max.columns.to.index",
        "How many columns of the schema have statistics when none are named.",
        Kind.POSITIVE,
        "32",
    ),
    served(
        "hoodie.metadata.index.column.stats.file.group.count",
        "File groups of the column statistics; a partition keeps those that it was built with.",
        Kind.POSITIVE,
        "2",
    ),
    served(
        "hoodie.metadata.index.partition.stats.file.group.count",
        "File groups of the partition statistics; a partition keeps those that it was built with.",
        Kind.POSITIVE,
        "1",
    ),
    served(
        "hoodie.metadata.compact.max.delta.commits",
        "Delta commits of the metadata table after which it is compacted.",
        Kind.POSITIVE,
        "10",
    ),
    *harmless(
        "tunes how Apache Hudi's executors list and read",
        """
        hoodie.metadata.max.init.parallelism hoodie.metadata.index.column.stats.parallelism hoodie.metadata.index.bloom.filter.parallelism
        hoodie.metadata.index.partition.stats.parallelism hoodie.metadata.optimized.log.blocks.scan.enable
        hoodie.metadata.max.reader.memory hoodie.metadata.max.reader.buffer.size hoodie.metadata.spillable.map.path
        hoodie.metadata.max.deltacommits.when_pending hoodie.metadata.index.column.stats.inMemory.projection.threshold
        hoodie.metadata.index.column.stats.processing.mode.override hoodie.metadata.record.preparation.parallelism
        hoodie.metadata.streaming.write.enabled hoodie.metadata.write.parallelism hoodie.metadata.file.cache.max.size.mb
        """,
    ),
    *refused(
        f"this part of the metadata table {_LATER}",
        """
        hoodie.metadata.index.bloom.filter.enable=false
        hoodie.metadata.index.secondary.enable=false hoodie.metadata.index.expression.enable=false
        hoodie.metadata.record.index.enable=false hoodie.metadata.global.record.level.index.enable=false
        hoodie.metadata.record.level.index.enable=false hoodie.metadata.index.async=false
        hoodie.metadata.metrics.enable=false hoodie.metadata.log.compaction.enable=false hoodie.metadata.*
        """,
    ),
)
