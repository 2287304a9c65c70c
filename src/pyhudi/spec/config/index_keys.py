"""Keys of the indexes that writes ask. Rules: `HoodieIndexConfig`."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served

_MOVES = "a row that comes with another partition than its record's moves the record there; else the record is updated where it is."

INDEXES: tuple[ConfigKey, ...] = (
    served(
        "hoodie.index.type",
        "How the file group of a key is found: SIMPLE, GLOBAL_SIMPLE, BLOOM, GLOBAL_BLOOM, BUCKET, GLOBAL_RECORD_LEVEL_INDEX"
        " (RECORD_INDEX), RECORD_LEVEL_INDEX, INMEMORY. When not given, the table says it: BUCKET where its file groups are buckets,"
        " else its record index, else SIMPLE or BLOOM.",
        aliases=("hoodie.datasource.write.index.type",),
    ),
    served("hoodie.simple.index.update.partition.path", f"GLOBAL_SIMPLE: {_MOVES}", Kind.FLAG, "true"),
    served("hoodie.bloom.index.update.partition.path", f"GLOBAL_BLOOM: {_MOVES}", Kind.FLAG, "true"),
    served("hoodie.record.index.update.partition.path", f"GLOBAL_RECORD_LEVEL_INDEX: {_MOVES}", Kind.FLAG, "false"),
    served("hoodie.bloom.index.prune.by.ranges", "BLOOM: the key ranges of base files are asked before their filters.", Kind.FLAG, "true"),
    served("hoodie.bloom.index.use.metadata", "BLOOM: the filters of the metadata table are asked, if it has them.", Kind.FLAG, "false"),
    served(
        "hoodie.index.bucket.engine",
        "BUCKET: a bucket is a number, or a range of hashes that can be split.",
        default="SIMPLE",
        choices=("SIMPLE", "CONSISTENT_HASHING"),
    ),
    served(
        "hoodie.bucket.index.num.buckets",
        "BUCKET: how many buckets each partition has. When not given, the keys in the table tell; a new table gets the default.",
        Kind.POSITIVE,
        "256",
    ),
    served("hoodie.bucket.index.hash.field", "BUCKET: the record key fields that are hashed, separated by commas; all when not given."),
    served(
        "hoodie.bucket.index.partition.expressions",
        "BUCKET: numbers of buckets by partition path, `regular expression,number;...`; the first that is found in the path counts.",
    ),
    served(
        "hoodie.bucket.index.max.num.buckets",
        "Resizing: no partition gets more buckets than this. When not given, or fewer than it began with: as many as those.",
        Kind.POSITIVE,
    ),
    served(
        "hoodie.bucket.index.min.num.buckets",
        "Resizing: no partition gets fewer buckets than this. When not given, or more than it began with: as many as those.",
        Kind.POSITIVE,
    ),
    served(
        "hoodie.bucket.index.split.threshold",
        "Resizing: a bucket of more than so many times `hoodie.parquet.max.file.size` is split.",
        Kind.NUMBER,
        "2.0",
    ),
    served(
        "hoodie.bucket.index.merge.threshold",
        "Resizing: neighbouring buckets of not more than so many times `hoodie.parquet.max.file.size` are merged.",
        Kind.NUMBER,
        "0.2",
    ),
    *refused("expressions of another kind are not served", "hoodie.bucket.index.partition.rule.type=regex"),
    *harmless(
        "sizes or spreads tasks",
        """
        hoodie.simple.index.parallelism hoodie.global.simple.index.parallelism hoodie.bloom.index.parallelism hoodie.bloom.index.*
        hoodie.simple.index.* hoodie.record.index.* hoodie.bucket.index.remote.partitioner.enable
        """,
    ),
    *harmless("lets a filter name buckets; the key ranges of base files leave out the same files", "hoodie.bucket.index.query.pruning"),
    *harmless("is about the index HBASE, which hoodie.index.type asks for", "hoodie.hbase.** hoodie.index.hbase.**"),
    served(
        "hoodie.index.class",
        "An index of Apache Hudi by its class name, in place of hoodie.index.type.",
    ),
    *harmless(
        "is read when an index is created, by no write: CREATE INDEX states its name, kind, columns and function",
        "hoodie.index.name hoodie.expression.index.function hoodie.expression.index.type hoodie.datasource.write.secondarykey.column",
    ),
)
