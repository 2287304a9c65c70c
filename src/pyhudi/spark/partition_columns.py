"""Which partition columns of a table take their values from the partition paths when Spark reads it, and as which type.

Rules, seen by running Apache Hudi 1.2.0: the text in the path is cast to the column's type; tables written with a
timestamp-based key generator show that text itself. A timestamp or binary column comes back from the path as null or
fails there: it is read from the files.
"""

from __future__ import annotations

from pyspark.sql.types import BinaryType, DataType, StringType, StructField, StructType, TimestampNTZType, TimestampType

from pyhudi.spec.key_generator import KeyGeneratorType
from pyhudi.spec.table_config import TableConfig

#: The text that key generators write for these does not tell the value.
_ONLY_IN_FILES = (TimestampType, TimestampNTZType, BinaryType)
_TIMESTAMP_GENERATORS = frozenset({KeyGeneratorType.TIMESTAMP, KeyGeneratorType.TIMESTAMP_AVRO})


def partition_columns(columns: StructType, config: TableConfig) -> StructType:
    """Return the partition columns that Spark takes from the paths, in the order of the path.

    Args:
        columns: All columns that the files may hold.
        config: The table's properties.
    """
    types = {field.name: field.dataType for field in columns}
    found = []
    for name, kind in zip(config.partition_fields, _kinds(config), strict=True):
        shown = _shown_type(types.get(name), config, is_timestamp=kind == "TIMESTAMP")
        if shown is not None:
            found.append(StructField(name, shown))
    return StructType(found)


def _shown_type(held: DataType | None, config: TableConfig, *, is_timestamp: bool) -> DataType | None:
    """Return a partition column's type on Spark, or None when its values are read from the files alone."""
    if held is None:  # a nested field, or one that the writer dropped from the files
        return StringType() if config.drop_partition_columns else None
    if is_timestamp:
        return StringType()
    if isinstance(held, _ONLY_IN_FILES) and not config.drop_partition_columns:
        return None
    return held


def _kinds(config: TableConfig) -> tuple[str | None, ...]:
    """Return what each partition field's own generator is, where the table says so."""
    if config.key_generator in _TIMESTAMP_GENERATORS:
        return ("TIMESTAMP",) * len(config.partition_fields)
    return config.partition_field_types
