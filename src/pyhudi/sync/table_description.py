"""How a catalog shall describe a table.

Rules: `HMSDDLExecutor.createTable`, `HoodieInputFormatUtils`, `SparkDataSourceTableUtils.getSparkTableProperties`; observed on a metastore
that Apache Hudi 1.2.0 wrote to (docs/design/0121-catalog-sync.md).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from pyhudi.read.snapshot.read_schema import StoredSchema
from pyhudi.schema.meta_columns import META_FIELDS
from pyhudi.storage.storage_protocol import Storage
from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry
from pyhudi.sync.catalog_types import hive_type, spark_field
from pyhudi.sync.sync_settings import SyncSettings

_INPUT: Final = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
_REALTIME_INPUT: Final = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
_OUTPUT: Final = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"
_SERDE: Final = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
_SPARK: Final = "spark.sql.sources"
PROVIDER: Final = f"{_SPARK}.provider"
#: Which options decided on the partitions that are in the catalog: with others all of them are compared again.
PARTITION_OPTIONS: Final = "pyhudi_sync_partition_options"


def described_table(settings: SyncSettings, storage: Storage, schema: StoredSchema, *, read_optimized: bool) -> CatalogEntry:
    """Return what a catalog shall say about a table, without the marks of the last commit."""
    options = settings.options
    comments = _comments(schema.avro_json) if options.flag("hoodie.datasource.hive_sync.sync_comment") else {}
    columns = _columns(settings, schema.columns)
    support_timestamp = options.flag("hoodie.datasource.hive_sync.support_timestamp")

    def described(field: pa.Field) -> CatalogColumn:
        return CatalogColumn(field.name.lower(), hive_type(field.type, support_timestamp=support_timestamp), comments.get(field.name, ""))

    partition_columns = _partition_columns(settings, schema.columns)
    location = settings.with_location(storage.uri)
    serde_properties = dict(settings.pairs("hoodie.datasource.hive_sync.serde_properties"))
    properties = {**settings.catalog_properties, **settings.pairs("hoodie.datasource.hive_sync.table_properties")}
    if options.flag("hoodie.datasource.hive_sync.sync_as_datasource"):
        serde_properties |= {"path": location, "hoodie.query.as.ro.table": str(read_optimized).lower()}
        properties |= _spark_properties(settings, columns, partition_columns, comments)
    is_realtime = settings.config.is_merge_on_read and not read_optimized
    return CatalogEntry(
        columns=tuple(map(described, columns)),
        partition_columns=tuple(map(described, partition_columns)),
        location=qualified(location),
        input_format=_REALTIME_INPUT if is_realtime else _INPUT,
        output_format=_OUTPUT,
        serde_class=_SERDE,
        serde_properties={"serialization.format": "1", **serde_properties},
        properties=properties,
        is_managed=options.flag("hoodie.datasource.hive_sync.create_managed_table"),
    )


def qualified(location: str) -> str:
    """Return a location as a URI: a metastore takes one without a scheme for a path of its default file system.

    Example:
        >>> qualified("/data/trips"), qualified("s3a://bucket/trips")
        ('file:/data/trips', 's3a://bucket/trips')
    """
    return location if ":" in location.partition("/")[0] else f"file:{location}"


def partition_options(settings: SyncSettings) -> str:
    """Return the options that decide on the partitions of the catalog, as a text to compare."""
    stated = [settings.extractor_class, ",".join(settings.partition_fields)]
    flags = ("hoodie.meta.sync.decode_partition", "hoodie.meta.sync.no_partition_metadata")
    return ";".join([*stated, *(f"{name.rpartition('.')[2]}={settings.options.flag(name)}".lower() for name in flags)])


def _columns(settings: SyncSettings, schema: pa.Schema) -> list[pa.Field]:
    """Return the columns of the table, meta columns first, without partition columns."""
    without_meta = settings.options.flag("hoodie.datasource.hive_sync.omit_metadata_fields") or not settings.config.populate_meta_fields
    meta: Sequence[pa.Field] = () if without_meta else META_FIELDS
    apart = {name.lower() for name in settings.partition_fields}
    return [*meta, *(field for field in schema if field.name.lower() not in apart)]


def _partition_columns(settings: SyncSettings, schema: pa.Schema) -> list[pa.Field]:
    """Return the partition columns; one that the schema lacks is a string."""
    known = {field.name.lower(): field for field in schema}
    return [known.get(name.lower(), pa.field(name, pa.string())) for name in settings.partition_fields]


def _spark_properties(
    settings: SyncSettings, columns: Sequence[pa.Field], partition_columns: Sequence[pa.Field], comments: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties by which Spark knows the table and its columns."""
    fields = [spark_field(field, comments.get(field.name, "")) for field in (*columns, *partition_columns)]
    text = json.dumps({"type": "struct", "fields": fields}, separators=(",", ":"), ensure_ascii=False)
    size = settings.options.integer("hoodie.datasource.hive_sync.schema_string_length_thresh")
    parts = [text[begin : begin + size] for begin in range(0, len(text), size)]
    result = {PROVIDER: "hudi", f"{_SPARK}.schema.numParts": str(len(parts))}
    result |= {f"{_SPARK}.schema.part.{number}": part for number, part in enumerate(parts)}
    if partition_columns:
        result[f"{_SPARK}.schema.numPartCols"] = str(len(partition_columns))
        result |= {f"{_SPARK}.schema.partCol.{number}": field.name for number, field in enumerate(partition_columns)}
    if version := settings.options.text("hoodie.meta_sync.spark.version") or _spark_of_process():
        result["spark.sql.create.version"] = version
    return result


def _spark_of_process() -> str:
    """Return the version of PySpark in a process that uses it, and empty in others."""
    return str(getattr(sys.modules.get("pyspark"), "__version__", ""))


def _comments(avro_json: str) -> dict[str, str]:
    """Return the comments of the columns, which an Avro schema calls doc."""
    fields = json.loads(avro_json).get("fields", ())
    return {field["name"]: field["doc"] for field in fields if isinstance(field.get("doc"), str)}
