"""Keys of reading.

Rules: `DataSourceReadOptions`.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served

READING: tuple[ConfigKey, ...] = (
    served(
        "hoodie.datasource.query.type",
        "What to read.",
        default="snapshot",
        aliases=("hoodie.datasource.view.type",),
        choices=("snapshot", "read_optimized", "incremental"),
    ),
    served(
        "hoodie.enable.data.skipping",
        "Leave out partitions and files that the indexes of the metadata table rule out for a filter.",
        Kind.FLAG,
        default="true",
    ),
    served(
        "as.of.instant",
        "Read the table as it was at this time (instant, date or date and time).",
        aliases=("timestampAsOf", "versionAsOf"),  # Spark's own options: ignored, the read would show the table as it is now
    ),
    served(
        "pyhudi.merge.folder",
        "URI of a folder that driver and executors of a Spark cluster reach: rows merged from log files are there while a session reads"
        " them. On one machine Spark's own temporary folder serves.",
    ),
    served(
        "pyhudi.read.verify.checksums",
        "Verify the CRCs of pages of base files, and of log files as commits noted them, so that a changed bit is no wrong value.",
        Kind.FLAG,
        default="true",
    ),
    served(
        "hoodie.memory.merge.max.size",
        "Bytes of log files that a read merges at once in one process; a slice with more than a quarter of that is done in parts.",
        Kind.POSITIVE,
        "134217728",
    ),
    served(
        "hoodie.datasource.read.begin.instanttime",
        "Incremental read: commits that completed after this time count (requested after it, in table version 6); `earliest` for all.",
    ),
    served("hoodie.datasource.read.end.instanttime", "Incremental read: the last such time; without it, now."),
    served(
        "hoodie.datasource.query.incremental.format",
        "Incremental read: rows as they are at its end, or what happened to each record, with images before and after.",
        default="latest_state",
        aliases=("hoodie.datasource.query.incremental.type",),  # its name in Apache Hudi 0.13.0
        choices=("latest_state", "cdc"),
    ),
    served(
        "hoodie.datasource.read.incr.fallback.fulltablescan.enable",
        "Incremental read: when it begins among archived commits, read the whole table and leave older rows out; otherwise refuse.",
        Kind.FLAG,
        default="true",
    ),
    served(
        "hoodie.datasource.read.schema.use.end.instanttime",
        "Incremental read: rows have the columns that the table had at the end, not the latest ones, which are null in rows from before.",
        Kind.FLAG,
        default="false",
    ),
    served(
        "hoodie.datasource.read.incr.path.glob",
        "Incremental read: only file slices of which a file's path ends as this pattern says, such as `/city=oslo/*`; `*` crosses folders.",
    ),
    served(
        "hoodie.datasource.read.incr.filters", "Incremental read: only rows for which these SQL conditions, separated by commas, are true."
    ),
    served(
        "hoodie.read.timeline.holes.resolution.policy",
        "Incremental read by requested times, as of table version 6, when a write is pending before a completed one: refuse (FAIL), end"
        " before it (BLOCK), or go by completion times, which tables from version 8 on keep (USE_TRANSITION_TIME).",
        default="BLOCK",
        choices=("FAIL", "BLOCK", "USE_TRANSITION_TIME"),
    ),
    served(
        "hoodie.datasource.read.paths",
        "Paths of partitions of one table, also patterns, separated by commas, next to those of load(): only their rows are read.",
    ),
    served(
        "hoodie.datasource.merge.type",
        "skip_merge: the rows of log files come next to those of base files, every version of a record, deleted ones too.",
        default="payload_combine",
        choices=("payload_combine", "skip_merge"),
    ),
    served(
        "hoodie.datasource.read.extract.partition.values.from.path",
        "Partition columns have the values that the partition's path holds, not those in the files; with a timestamp-based key generator"
        " they are strings then.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.read.incr.table.version",
        "Incremental read: the table version whose times begin and end mean: completion times, in 6 requested times; by default the"
        " table's own.",
        choices=("6", "8", "9"),
    ),
    served(
        "hoodie.datasource.streaming.startOffset",
        "Stream of a table: where a new one begins: earliest, latest, or a time after which commits count.",
        default="earliest",
    ),
    served(
        "hoodie.datasource.read.streaming.table.version",
        "Stream of a table: the table version whose times its offsets hold: completion times, in 6 requested times; by default the table's"
        " own. A stream keeps to what it began with.",
        choices=("6", "8", "9"),
    ),
    served(
        "pyhudi.streaming.max.commits",
        "Stream of a table: how many commits a batch holds at most; without it, all that are there. Not with the triggers `availableNow`"
        " and `once`. The first batch from `earliest` holds everything archived besides.",
        Kind.POSITIVE,
    ),
    *harmless(
        "a commit that only moves rows is never read as a change",
        "hoodie.datasource.read.incr.skip_compact hoodie.datasource.read.incr.skip_cluster",
    ),
    *harmless(
        "tunes how Hudi lists and opens files; pyhudi always lists the partitions that pass the filter, and skips no committed row",
        """
        hoodie.file.index.enable hoodie.datasource.read.file.index.listing.mode
        hoodie.datasource.read.file.index.* hoodie.file.group.reader.enabled hoodie.merge.use.record.positions
        hoodie.hfile.* hoodie.memory.dfs.buffer.max.size
        """,
    ),
    *harmless(
        "is for readers of Hive; those of Spark do not look at it, and take hoodie.datasource.merge.type=skip_merge",
        "hoodie.realtime.merge.skip",
    ),
    served(
        "hoodie.datasource.read.create.filesystem.relation",
        "Read the file slices of the table in place of its rows, as `hudi_filesystem_view` of SQL does.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.read.table.valued.function.filesystem.relation.subpath",
        "File slices: those of partitions whose path begins so.",
        default="",
    ),
    served(
        "hoodie.datasource.read.table.valued.function.timeline.relation",
        "Read the instants of the table in place of its rows, as `hudi_query_timeline` of SQL does.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.read.table.valued.function.timeline.relation.archived",
        "Instants: archived ones too.",
        Kind.FLAG,
        "false",
    ),
    *harmless(
        "is about columns of the type BLOB, which pyhudi does not write and reads as the structs that they are",
        "hoodie.read.blob.* hoodie.blob.**",
    ),
)
