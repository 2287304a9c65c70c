"""Keys of writing.

Rules: `DataSourceWriteOptions`, `HoodieWriteConfig`, `HoodieIndexConfig`, `HoodieStorageConfig`.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, served, unserved

WRITING: tuple[ConfigKey, ...] = (
    served(
        "hoodie.datasource.write.operation",
        "What to do with the rows.",
        default="upsert",
        choices=(
            "upsert",
            "insert",
            "bulk_insert",
            "delete",
            "insert_overwrite",
            "insert_overwrite_table",
            "delete_partition",
        ),
    ),
    served(
        "hoodie.spark.sql.insert.into.operation",
        "What INSERT INTO does.",
        default="insert",
        choices=("insert", "upsert", "bulk_insert"),
    ),
    served(
        "hoodie.datasource.overwrite.mode",
        "INSERT OVERWRITE replaces the whole table (static) or the partitions of the rows (dynamic).",
        choices=("static", "dynamic"),
    ),
    served("hoodie.datasource.write.partitions.to.delete", "Partition paths for delete_partition, separated by commas."),
    served("hoodie.datasource.write.insert.drop.duplicates", "insert leaves out rows whose key exists.", Kind.FLAG, "false"),
    served(
        "hoodie.datasource.insert.dup.policy",
        "What insert does with rows whose key the table holds: keep both, leave them out, or fail.",
        default="none",
        choices=("none", "drop", "fail"),
    ),
    served(
        "hoodie.sql.insert.mode",
        "Older setting of what INSERT INTO does: upsert, insert and fail for known keys (strict), or insert; the newer key counts first.",
        choices=("upsert", "strict", "non-strict"),
    ),
    served(
        "hoodie.sql.bulk.insert.enable",
        "With hoodie.sql.insert.mode=non-strict, or a table without record key: INSERT INTO is a bulk insert.",
        Kind.FLAG,
        "false",
    ),
    served("hoodie.combine.before.insert", "insert keeps one row for each key of its input.", Kind.FLAG, "false"),
    served("hoodie.combine.before.upsert", "upsert keeps one row for each key of its input.", Kind.FLAG, "true"),
    served("hoodie.combine.before.delete", "delete looks at each key of its input once.", Kind.FLAG, "true"),
    served("hoodie.parquet.max.file.size", "Size in bytes that base files grow to.", Kind.POSITIVE, "125829120"),
    served(
        "hoodie.parquet.small.file.limit",
        "Base files below this size in bytes take inserts, unless stated those only that are cheap to rewrite; 0 or less: none.",
        Kind.INTEGER,
        "104857600",
    ),
    served(
        "pyhudi.parquet.max.file.rows",
        "Rows that base files are planned for at most; 0: bytes alone count, as when hoodie.parquet.max.file.size is given without this.",
        Kind.COUNT,
        "1000000",
    ),
    served("hoodie.parquet.block.size", "Size of a row group in bytes, of rows in memory.", Kind.POSITIVE, "16777216"),
    served("hoodie.parquet.page.size", "Size of a page in bytes.", Kind.POSITIVE, "1048576"),
    served(
        "hoodie.parquet.compression.codec",
        "Compression of base files; zstd is of level 1.",
        default="zstd",
        choices=("zstd", "snappy", "gzip", "lz4", "brotli", "none", "uncompressed"),
    ),
    served("hoodie.parquet.dictionary.enabled", "Dictionary encoding in base files.", Kind.FLAG, "true"),
    served("hoodie.parquet.bloom.filter.enabled", "Bloom filters in base files.", Kind.FLAG, "true"),
    served(
        "hoodie.bloom.index.filter.type",
        "Kind of the bloom filters.",
        default="DYNAMIC_V0",
        choices=("SIMPLE", "DYNAMIC_V0"),
    ),
    served(
        "hoodie.index.bloom.num_entries",
        "Keys that one bloom filter is sized for; not stated, it is sized for the keys of its file, and for these at most.",
        Kind.POSITIVE,
        "60000",
        aliases=("hoodie.bloom.index.num_entries",),
    ),
    served(
        "hoodie.index.bloom.fpp",
        "Share of false answers of a bloom filter.",
        Kind.FRACTION,
        "0.000000001",
        aliases=("hoodie.bloom.index.fpp",),
    ),
    served(
        "hoodie.bloom.index.filter.dynamic.max.entries",
        "Keys up to which a dynamic bloom filter grows.",
        Kind.POSITIVE,
        "100000",
    ),
    served(
        "hoodie.record.size.estimation.threshold",
        "Share of the small-file limit that a commit must have written for its record size to be believed.",
        Kind.NUMBER,
        "1.0",
    ),
    served(
        "hoodie.merge.small.file.group.candidates.limit",
        "How many base files of a partition of a merge-on-read table take inserts in one write.",
        Kind.INTEGER,
        "1",
    ),
    served(
        "hoodie.logfile.data.block.format",
        "Format of the rows in log files.",
        default="parquet",
        choices=("avro", "parquet"),
    ),
    served(
        "pyhudi.write.readers",
        "Who reads the files: `any` writes base files with Snappy and log files with Avro blocks, for readers without Zstandard or without"
        " Parquet blocks. Options that name codec or format take precedence.",
        default="current",
        choices=("current", "any"),
    ),
    served("hoodie.logfile.data.block.max.size", "Size of the rows in one block of a log file, in bytes.", Kind.POSITIVE, "268435456"),
    served("hoodie.logfile.max.size", "Size in bytes at which a log file gets no further block.", Kind.POSITIVE, "1073741824"),
    served(
        "hoodie.write.record.positions",
        "Blocks of log files say where in the base file their records stand.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.spark.sql.merge.into.partial.updates",
        "UPDATE and MERGE INTO write only the columns they change into log files.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.write.lock.wait_time_ms",
        "How long to wait for another writer of the table, in milliseconds.",
        Kind.COUNT,
        "60000",
    ),
    served(
        "pyhudi.engine",
        "Where a write through Spark runs: in Spark's tasks, in this process, or whichever its plan says.",
        default="auto",
        choices=("auto", "local", "spark"),
    ),
    served(
        "pyhudi.engine.local.max.bytes",
        "Up to which size, by the estimate of Spark's plan, the rows of a DataFrame are written in this process.",
        Kind.COUNT,
        "67108864",
    ),
    served(
        "pyhudi.options.unserved",
        "Options of services that are not there yet, and that change no row of a write: accept them with one warning each, or refuse them.",
        default="warn",
        choices=("warn", "refuse"),
    ),
    served(
        "pyhudi.options.unknown",
        "Unknown names that begin with `hoodie.`: accept them with one warning each, or refuse them.",
        default="warn",
        choices=("warn", "refuse"),
    ),
    served(
        "hoodie.merge.allow.duplicate.on.inserts",
        "false: an insert whose key the table holds updates that record, as an upsert does, and one row of each key of the data is"
        " written. hoodie.datasource.insert.dup.policy precedes it.",
        Kind.FLAG,
        "true",
    ),
    served(
        "hoodie.precommit.validators",
        "Checks of the rows that a write would make visible: Apache Hudi's SQL validators by class name, Python classes as module:Class.",
        default="",
    ),
    served("hoodie.precommit.validators.single.value.sql.queries", "Queries, each with # and its expected value, parted by semicolons."),
    served("hoodie.precommit.validators.equality.sql.queries", "Queries with the same answer before and after the write."),
    served("hoodie.precommit.validators.inequality.sql.queries", "Queries with another answer after the write."),
    served(
        "hoodie.precommit.validators.failure.policy",
        "A write that a validator refuses is rolled back (FAIL), or committed with a warning (WARN_LOG).",
        default="FAIL",
        choices=("FAIL", "WARN_LOG"),
    ),
    served(
        "hoodie.allow.empty.commit",
        "A write that changes nothing makes a commit without files, such as for its metadata; without it there is none.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.write.markers.type",
        "Markers of a write are empty files (DIRECT), or lines of a few files that the driver writes (TIMELINE_SERVER_BASED); by default"
        " the latter for Spark tasks on an object store.",
        choices=("DIRECT", "TIMELINE_SERVER_BASED"),
    ),
    served(
        "hoodie.markers.timeline_server_based.batch.interval_ms",
        "Markers of the timeline server: for how many milliseconds they are collected before they are written.",
        Kind.COUNT,
        "50",
    ),
    served(
        "hoodie.markers.timeline_server_based.batch.num_threads",
        "Markers of the timeline server: number of files, which are written at the same time.",
        Kind.POSITIVE,
        "20",
    ),
    served(
        "hoodie.embed.timeline.server",
        "Whether the driver may listen for the markers of its tasks; without it, they are empty files.",
        Kind.FLAG,
        "true",
    ),
    *unserved(
        "timestamps are stored in microseconds, without loss of digits, and lists and decimals in the layout of the Parquet format",
        "hoodie.parquet.outputtimestamptype=timestamp_micros hoodie.parquet.writelegacyformat.enabled=false,auto",
    ),
    served(
        "hoodie.bulkinsert.sort.mode",
        "Bulk insert: how rows are sorted and spread over tasks before they are written.",
        default="NONE",
        choices=("NONE", "GLOBAL_SORT", "PARTITION_SORT", "PARTITION_PATH_REPARTITION", "PARTITION_PATH_REPARTITION_AND_SORT"),
    ),
    served(
        "hoodie.bulkinsert.user.defined.partitioner.class",
        "Bulk insert: one of Apache Hudi's partitioners by its class name, in place of a sort mode.",
        default="",
    ),
    served("hoodie.bulkinsert.user.defined.partitioner.sort.columns", "Bulk insert: columns to sort by, with commas.", default=""),
    served("hoodie.bulkinsert.sort.suffix.record_key", "Bulk insert: sort by the record key after the sort columns.", Kind.FLAG, "false"),
    served("hoodie.bulkinsert.shuffle.parallelism", "Bulk insert: number of Spark tasks that write; 0: as the rows come.", Kind.COUNT, "0"),
    *(
        served(
            f"hoodie.{name}.shuffle.parallelism",
            f"{operations}: number of Spark tasks that look up the rows; 0: as the rows come. Each file group is written by one task.",
            Kind.COUNT,
            "0",
        )
        for name, operations in (("insert", "Insert and overwrite"), ("upsert", "Upsert and MERGE"), ("delete", "Delete by key"))
    ),
    served(
        "hoodie.schema.on.read.enable",
        "ALTER TABLE may rename, drop, move and retype columns: they get numbers, and the table keeps the history of its schema.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.write.set.null.for.missing.columns",
        "Data may lack columns of the table, which are null then; without it such data are refused.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.write.schema.allow.auto.evolution.column.drop",
        "Data may lack columns of the table, which are null then. A write drops no column; ALTER TABLE does.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.write.reconcile.schema",
        "Data may lack columns of the table, which are null then, unless they bring new ones as well.",
        Kind.FLAG,
        "false",
    ),
    *harmless(
        "is what pyhudi does in any case: new columns may be null, what could not be read back is refused",
        "hoodie.datasource.write.new.columns.nullable hoodie.avro.schema.validate",
    ),
    *harmless(
        "is what pyhudi does in any case: rows that are rewritten get the columns and types of the table",
        "hoodie.avro.schema.external.transformation",
    ),
    served(
        "hoodie.write.schema",
        "Avro schema (JSON) that the data of an insert or upsert are written in: columns that it leaves out are not written, narrower types"
        " are cast.",
        aliases=("hoodie.avro.schema",),
    ),
    served(
        "hoodie.datasource.write.commitmeta.key.prefix",
        "Options whose names begin with this go into the metadata of the commit.",
        default="_",
    ),
    served(
        "hoodie.write.rolling.metadata.keys",
        "Entries of the metadata, with commas, that each commit takes over from the newest commit that has them.",
        default="",
    ),
    served(
        "hoodie.write.rolling.metadata.timeline.lookback.commits",
        "How many commits these are looked for in.",
        Kind.POSITIVE,
        "10",
    ),
    served(
        "hoodie.datasource.write.streaming.checkpoint.identifier",
        "Name of a stream that writes the table; each commit records it with the number of its batch.",
        default="default_single_writer",
    ),
    served("hoodie.datasource.write.streaming.retry.count", "How often a batch of a stream is tried.", Kind.INTEGER, "3"),
    served(
        "hoodie.datasource.write.streaming.retry.interval.ms",
        "Milliseconds before a batch is tried again; doubled each time.",
        Kind.COUNT,
        "2000",
    ),
    served(
        "hoodie.datasource.write.streaming.ignore.failed.batch",
        "Go on with the next batch when one fails, its rows being lost.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.write.streaming.disable.compaction",
        "Do not compact a merge-on-read table between the batches of a stream.",
        Kind.FLAG,
        "false",
    ),
    *harmless("is read by Hudi Streamer, not by writes of Spark or Python", "hoodie.streamer.** hoodie.deltastreamer.**"),
    served(
        "hoodie.write.track.event.time.watermark", "Statistics of commits state the least and the greatest event time.", Kind.FLAG, "false"
    ),
    served(
        "hoodie.payload.event.time.field",
        "The field with event times: seconds or milliseconds since 1970, timestamps or dates.",
        default="",
    ),
    served("hoodie.base.path", "Path of the table, if it is that of save(), load(), HudiTable or LOCATION; another one is refused."),
)
