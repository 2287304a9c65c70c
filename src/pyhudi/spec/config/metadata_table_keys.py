"""Keys of the metadata table and of the statistics in it.

Rules: `HoodieMetadataConfig`. Column and partition statistics are on, as in Apache Hudi on Spark.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served, unserved


def _record_index_limits(prefix: str, old: str, fewest: str, most: str) -> tuple[ConfigKey, ...]:
    """Return the keys that say how many file groups a new record index gets."""
    named = (
        ("min.filegroup.count", "Fewest file groups of a new record index.", fewest),
        ("max.filegroup.count", "Most file groups of a new record index.", most),
        ("max.filegroup.size", "Bytes that a file group of a new record index is laid out for, at 48 a record.", "1073741824"),
    )
    return tuple(served(f"{prefix}.{name}", doc, Kind.POSITIVE, default, aliases=(f"{old}.{name}",)) for name, doc, default in named)


METADATA_TABLE: tuple[ConfigKey, ...] = (
    served(
        "hoodie.metadata.enable",
        "Keep a metadata table in step with each write, and list files by it; false deletes it at the next write.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.column.stats.enable",
        "Keep bounds and counts of columns for each file; false drops them. Reads: false does not ask them.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.partition.stats.enable",
        "Keep bounds and counts of columns for each partition; false drops them. Reads: false does not ask them.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.column.stats.column.list",
        "Columns that have statistics, separated by commas; without it the first ones of the schema.",
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
    served(
        "hoodie.metadata.log.compaction.enable",
        "Join the log files of the metadata table in between its compactions.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.metadata.log.compaction.blocks.threshold",
        "Delta commits of the metadata table, and log files or blocks of one of its slices, from which on they are joined.",
        Kind.POSITIVE,
        "5",
    ),
    served(
        "hoodie.metadata.global.record.level.index.enable",
        "Keep an index of where each record key of the table lives; false drops it, without a value it stays as it is. Reads: false does"
        " not ask it.",
        Kind.FLAG,
        "false",
        aliases=("hoodie.metadata.record.index.enable",),
    ),
    *_record_index_limits("hoodie.metadata.global.record.level.index", "hoodie.metadata.record.index", "10", "10000"),
    served(
        "hoodie.metadata.global.record.level.index.growth.factor",
        "How many times as many records a new record index is laid out for as there are.",
        Kind.NUMBER,
        "2.0",
        aliases=("hoodie.metadata.record.index.growth.factor",),
    ),
    served(
        "hoodie.metadata.record.level.index.enable",
        "Keep an index of where each record key of a partition lives; false drops it, without a value it stays as it is. Reads: false does"
        " not ask it.",
        Kind.FLAG,
        "false",
    ),
    *_record_index_limits("hoodie.metadata.record.level.index", "hoodie.metadata.partitioned.record.index", "1", "10"),
    served(
        "hoodie.metadata.index.bloom.filter.enable",
        "Keep the bloom filters of base files; false drops them, without a value they stay as they are. Reads: false does not ask them.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.metadata.index.bloom.filter.file.group.count",
        "File groups of the bloom filters; a partition keeps those that it was built with.",
        Kind.POSITIVE,
        "4",
    ),
    served(
        "hoodie.metadata.index.async",
        "Build no index that is missing within a write, which waits for it: table.services.index() builds it concurrently with writers.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.metadata.derive.from.datatable.clean.policy",
        "Cleans of the metadata table retain the states of 20 commits, or 1.2 times as many as cleans of the table if that is more; false:"
        " two versions of each file group.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.secondary.enable",
        "Reads: false asks no secondary index. Each write keeps those that CREATE INDEX has made in step, and refuses false: DROP INDEX"
        " drops one.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.metadata.index.expression.enable",
        "Reads: false asks no expression index; without a value those that there are are asked. Each write keeps them in step in any case.",
        Kind.FLAG,
        "false",
    ),
    *harmless(
        "indexes that CREATE INDEX has made are kept in step with each write until DROP INDEX",
        "hoodie.metadata.index.secondary.parallelism hoodie.metadata.index.expression.parallelism",
    ),
    *harmless(
        "tunes how Apache Hudi's executors list and read",
        """
        hoodie.metadata.max.init.parallelism hoodie.metadata.index.column.stats.parallelism hoodie.metadata.index.bloom.filter.parallelism
        hoodie.metadata.index.partition.stats.parallelism hoodie.metadata.optimized.log.blocks.scan.enable
        hoodie.metadata.max.reader.memory hoodie.metadata.max.reader.buffer.size hoodie.metadata.spillable.map.path
        hoodie.metadata.max.deltacommits.when_pending hoodie.metadata.index.column.stats.inMemory.projection.threshold
        hoodie.metadata.index.column.stats.processing.mode.override hoodie.metadata.record.preparation.parallelism
        hoodie.metadata.streaming.write.* hoodie.metadata.write.parallelism hoodie.metadata.file.cache.max.size.mb
        hoodie.metadata.range.repartition.* hoodie.metadata.repartition.*
        """,
    ),
    *refused("DROP INDEX drops an index, which it names", "hoodie.metadata.index.drop"),
    *harmless(
        "is read when an index is created, by no write: CREATE INDEX states its columns and options",
        "hoodie.metadata.index.expression.column hoodie.metadata.index.expression.options hoodie.metadata.index.secondary.column",
    ),
    *harmless("is about bloom filters inside the files of the metadata table, which are found without", "hoodie.metadata.bloom.filter.*"),
    *unserved(
        "metrics of the metadata table are not reported apart from those of its table, and its services run with the writes of the table",
        """
        hoodie.metadata.metrics.enable=false hoodie.metadata.table.service.manager.enabled=false
        hoodie.metadata.table.service.manager.actions
        """,
    ),
    *unserved(
        "when and how the metadata table is compacted, checked and divided into files is decided without this setting",
        """
        hoodie.metadata.compact.trigger.strategy=num_commits hoodie.metadata.compact.max.delta.seconds hoodie.metadata.max.logfile.size
        hoodie.metadata.index.check.timeout.seconds hoodie.metadata.index.expression.file.group.count
        hoodie.metadata.record.index.enable.validation.on.initialization=false
        hoodie.metadata.write.fail.on.table.service.failures=true
        """,
    ),
    *unserved("the first write of a table builds its record index, too", "hoodie.metadata.record.level.index.defer.init=false"),
    *unserved(
        "writes keep bloom filters of the record key; CREATE INDEX ... USING bloom_filters(column) makes those of another column",
        "hoodie.metadata.index.bloom.filter.column.list",
    ),
    *harmless("hoodie.metadata.enable alone says whether a write makes a missing metadata table", "hoodie.metadata.auto.initialize"),
    *refused(
        "a write deletes an index that its options turn off, since the index would be behind the table",
        "hoodie.metadata.auto.delete.partitions=true",
    ),
    *refused(
        "each commit writes the metadata table under the lock of its table, in any mode of concurrency",
        "hoodie.metadata.write.concurrency.mode=single_writer",
    ),
    *refused("each folder with a partition metafile is a partition of the table", "hoodie.metadata.dir.filter.regex"),
)
