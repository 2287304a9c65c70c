"""Names of the entries of `hoodie.properties`.

Rules: `HoodieTableConfig`. `KNOWN` are all names that Hudi 1.2 stores there; families end with a dot.
"""

from __future__ import annotations

from pyhudi.spec.table import timestamp_keys

NAME = "hoodie.table.name"
DATABASE = "hoodie.database.name"
TYPE = "hoodie.table.type"
VERSION = "hoodie.table.version"
INITIAL_VERSION = "hoodie.table.initial.version"
LAYOUT = "hoodie.timeline.layout.version"
CHECKSUM = "hoodie.table.checksum"
RECORD_KEY_FIELDS = "hoodie.table.recordkey.fields"
PARTITION_FIELDS = "hoodie.table.partition.fields"
PRECOMBINE_FIELD = "hoodie.table.precombine.field"
ORDERING_FIELDS = "hoodie.table.ordering.fields"
KEY_GENERATOR_CLASS = "hoodie.table.keygenerator.class"
KEY_GENERATOR_TYPE = "hoodie.table.keygenerator.type"
COMPLEX_KEY_ENCODING = "hoodie.table.complex.keygenerator.encoding"
MERGE_MODE = "hoodie.record.merge.mode"
MERGE_STRATEGY_ID = "hoodie.record.merge.strategy.id"
PAYLOAD_CLASS = "hoodie.compaction.payload.class"
LEGACY_PAYLOAD_CLASS = "hoodie.table.legacy.payload.class"
PARTIAL_UPDATE_MODE = "hoodie.table.partial.update.mode"
MERGE_PROPERTY_PREFIX = "hoodie.record.merge.property."
HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
URL_ENCODE = "hoodie.datasource.write.partitionpath.urlencode"
SLASH_DATES = "hoodie.datasource.write.slash.separated.date.partitioning"
LOGICAL_TIMESTAMPS = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
DROP_PARTITION_COLUMNS = "hoodie.datasource.write.drop.partition.columns"
POPULATE_META_FIELDS = "hoodie.populate.meta.fields"
TIMELINE_ZONE = "hoodie.table.timeline.timezone"
TIMELINE_PATH = "hoodie.timeline.path"
HISTORY_PATH = "hoodie.timeline.history.path"
ARCHIVE_FOLDER = "hoodie.archivelog.folder"
BASE_FILE_FORMAT = "hoodie.table.base.file.format"
MULTIPLE_BASE_FILE_FORMATS = "hoodie.table.multiple.base.file.formats.enable"
TABLE_FORMAT = "hoodie.table.format"
CREATE_SCHEMA = "hoodie.table.create.schema"
METADATA_PARTITIONS = "hoodie.table.metadata.partitions"
METADATA_PARTITIONS_INFLIGHT = "hoodie.table.metadata.partitions.inflight"
CDC_ENABLED = "hoodie.table.cdc.enabled"
CDC_MODE = "hoodie.table.cdc.supplemental.logging.mode"
BOOTSTRAP_BASE_PATH = "hoodie.bootstrap.base.path"
BOOTSTRAP_INDEX_CLASS = "hoodie.bootstrap.index.class"
BOOTSTRAP_INDEX_ENABLE = "hoodie.bootstrap.index.enable"
BOOTSTRAP_INDEX_TYPE = "hoodie.bootstrap.index.type"
PARTITION_METAFILE_BASE_FORMAT = "hoodie.partition.metafile.use.base.format"

KNOWN = frozenset(
    {
        NAME,
        DATABASE,
        TYPE,
        VERSION,
        INITIAL_VERSION,
        LAYOUT,
        CHECKSUM,
        RECORD_KEY_FIELDS,
        PARTITION_FIELDS,
        PRECOMBINE_FIELD,
        ORDERING_FIELDS,
        KEY_GENERATOR_CLASS,
        KEY_GENERATOR_TYPE,
        COMPLEX_KEY_ENCODING,
        MERGE_MODE,
        MERGE_STRATEGY_ID,
        PAYLOAD_CLASS,
        LEGACY_PAYLOAD_CLASS,
        PARTIAL_UPDATE_MODE,
        HIVE_STYLE,
        URL_ENCODE,
        SLASH_DATES,
        LOGICAL_TIMESTAMPS,
        DROP_PARTITION_COLUMNS,
        POPULATE_META_FIELDS,
        TIMELINE_ZONE,
        TIMELINE_PATH,
        HISTORY_PATH,
        ARCHIVE_FOLDER,
        BASE_FILE_FORMAT,
        MULTIPLE_BASE_FILE_FORMATS,
        TABLE_FORMAT,
        CREATE_SCHEMA,
        METADATA_PARTITIONS,
        METADATA_PARTITIONS_INFLIGHT,
        CDC_ENABLED,
        CDC_MODE,
        BOOTSTRAP_BASE_PATH,
        PARTITION_METAFILE_BASE_FORMAT,
        BOOTSTRAP_INDEX_CLASS,
        BOOTSTRAP_INDEX_ENABLE,
        BOOTSTRAP_INDEX_TYPE,
        "hoodie.compaction.record.merger.strategy",
        "hoodie.datasource.write.partitionpath.field",
        "hoodie.datasource.write.recordkey.field",
        timestamp_keys.DATE_TIME_PARSER,
        "hoodie.table.index.defs.path",
        "hoodie.table.log.file.format",
        "hoodie.table.partition_extractor_class",
        "hoodie.table.secondary.indexes.metadata",
    }
)
FAMILIES = (MERGE_PROPERTY_PREFIX, timestamp_keys.PREFIX, *timestamp_keys.OLD_PREFIXES)
