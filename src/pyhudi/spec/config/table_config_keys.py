"""Keys of a table: what CREATE TABLE or the first write fixes. Also the short names of SQL.

Rules: `HoodieTableConfig`, `HoodieOptionConfig`.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served, unserved
from pyhudi.spec.config.key_generator_keys import KEY_GENERATORS
from pyhudi.spec.table.payload_class import DEBEZIUM_UNAVAILABLE, DELETE_FIELD, DELETE_MARKER, UNAVAILABLE, PartialMode

TABLES: tuple[ConfigKey, ...] = (
    served("hoodie.table.name", "Name of the table.", aliases=("hoodie.datasource.write.table.name",)),
    served("hoodie.database.name", "Database of the table.", default=""),
    served(
        "hoodie.datasource.write.table.type",
        "Kind of table.",
        default="COPY_ON_WRITE",
        aliases=("hoodie.table.type", "hoodie.datasource.write.storage.type", "type"),
        choices=("COPY_ON_WRITE", "MERGE_ON_READ", "cow", "mor"),
    ),
    served(
        "hoodie.datasource.write.recordkey.field",
        "Columns of the record key, separated by commas; keys are generated when there are none.",
        aliases=("hoodie.table.recordkey.fields", "primaryKey"),
    ),
    served(
        "hoodie.datasource.write.partitionpath.field",
        "Columns of the partition path, separated by commas.",
        aliases=("hoodie.table.partition.fields",),
    ),
    served(
        "hoodie.table.ordering.fields",
        "Columns that tell the newer of two rows with one key.",
        aliases=(
            "hoodie.table.precombine.field",
            "hoodie.datasource.write.precombine.field",
            "hoodie.datasource.write.ordering.fields",
            "hoodie.payload.ordering.field",
            "preCombineField",
            "orderingFields",
        ),
    ),
    served(
        "hoodie.record.merge.mode",
        "Which of two rows with one key stays.",
        aliases=("hoodie.write.record.merge.mode", "hoodie.datasource.write.record.merge.mode", "recordMergeMode"),
        choices=("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"),
    ),
    served(
        "hoodie.datasource.write.payload.class",
        "Older way to name the merge mode; one of Hudi's classes, or the name under which a merger is registered (pyhudi.register_merger).",
        aliases=("hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class", "payloadClass"),
    ),
    served(
        "hoodie.record.merge.strategy.id",
        "Name under which the merger of the mode CUSTOM is registered (pyhudi.register_merger).",
        aliases=(
            "hoodie.write.record.merge.strategy.id",
            "hoodie.datasource.write.record.merger.strategy",
            "hoodie.compaction.record.merger.strategy",
            "recordMergeStrategyId",
        ),
    ),
    served(
        "hoodie.table.partial.update.mode",
        "Which values of the newer row are filled from the older one: those that equal the column's default, or a marker. Table version 9.",
        choices=tuple(PartialMode),
    ),
    served(DELETE_FIELD, "Column that says which rows are deletes.", aliases=(f"hoodie.record.merge.property.{DELETE_FIELD}",)),
    served(DELETE_MARKER, "Value of that column in a delete.", aliases=(f"hoodie.record.merge.property.{DELETE_MARKER}",)),
    served(
        UNAVAILABLE,
        "Text that FILL_UNAVAILABLE takes for a value that was not sent.",
        default=DEBEZIUM_UNAVAILABLE,
        aliases=(f"hoodie.record.merge.property.{UNAVAILABLE}",),
    ),
    served(
        "hoodie.table.cdc.enabled",
        "Capture changes: what each commit did to each record can be read, with images before and after.",
        Kind.FLAG,
        default="false",
    ),
    served(
        "hoodie.table.cdc.supplemental.logging.mode",
        "What is logged of changes where a base file is rewritten; readers find the rest in the files before and after.",
        default="DATA_BEFORE_AFTER",
        choices=("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"),
    ),
    *KEY_GENERATORS,
    served(
        "hoodie.datasource.write.hive_style_partitioning",
        "Partition folders are named field=value; tables made by SQL are so unless an option says otherwise.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.datasource.write.partitionpath.urlencode",
        "Partition values are URL-encoded in folder names.",
        Kind.FLAG,
        "false",
    ),
    served(
        "hoodie.write.table.version",
        "Table version of a new table.",
        Kind.POSITIVE,
        "9",
        aliases=("hoodie.table.version",),
        choices=("6", "8", "9"),
    ),
    served(
        "hoodie.table.timeline.timezone",
        "Zone of instant strings; UTC for tables made by pyhudi.",
        default="UTC",
        choices=("UTC", "LOCAL"),
    ),
    *harmless(
        "is the format's own bookkeeping, which every write keeps",
        """
        hoodie.table.checksum hoodie.table.create.schema hoodie.table.initial.version hoodie.table.index.defs.path
        hoodie.table.metadata.partitions hoodie.table.metadata.partitions.inflight hoodie.table.secondary.indexes.metadata
        """,
    ),
    *refused(
        "only PARQUET base files are served",
        "hoodie.table.base.file.format=parquet hoodie.base.file.format=parquet hoodie.datasource.write.base.file.format=parquet"
        " hoodie.table.multiple.base.file.formats.enable=false",
    ),
    *refused("log files are Apache Hudi's own kind", "hoodie.table.log.file.format=hoodie_log"),
    *refused(
        "only Apache Flink fills the column _hoodie_operation; on Spark, Apache Hudi 1.2.0 loses upserts and deletes of a merge-on-read"
        " table with it",
        "hoodie.allow.operation.metadata.field=false",
    ),
    *refused(
        "it is no setting of a merger that is known here",
        "payloadType hoodie.record.merge.property.**",
    ),
    *refused("other table formats are Java plugins of Apache Hudi, which it loads by name", "hoodie.table.format=native"),
    *unserved(
        "partition metafiles are written as text, which every reader looks for first", "hoodie.partition.metafile.use.base.format=false"
    ),
    *refused(
        "folders of the timeline are fixed",
        "hoodie.archivelog.folder=archived hoodie.timeline.path=timeline hoodie.timeline.history.path=history"
        " hoodie.timeline.layout.version=2",
    ),
    *harmless("is not needed: a query reads skeletons only for the meta columns that it names", "hoodie.bootstrap.data.queries.only"),
    *harmless("is read by a bootstrap, not by other writes", "hoodie.bootstrap.*"),
    served(
        "hoodie.write.auto.upgrade",
        "Upgrade a table of an older version before the write, when given as `true`; Apache Hudi does so unasked.",
        Kind.FLAG,
        "false",
    ),
    *harmless("no table below version 6, whose upgrade it belongs to, is served", "hoodie.skip.default.partition.validation"),
)
