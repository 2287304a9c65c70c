"""Which partition columns of a table take their values from the partition paths when Spark reads it, and as which type.

Rules, seen by running Apache Hudi 1.2.0: the text in the path is cast to the column's type. Of a field that a timestamp-based generator
writes as a timestamp the path says less than the column, which is read from the files, as Hudi does unless an option says otherwise.
Tables of version 6 do not say which fields of a custom generator these are: all of them are read from the files. A timestamp or binary
column comes back from the path as null or fails there: it is read from the files. So is a column whose dates have folders of their own,
unless it holds dates: of strings the path does not say whether they had a slash or a dash.
"""

from __future__ import annotations

from pyspark.sql.types import BinaryType, DataType, DateType, StringType, StructField, StructType, TimestampNTZType, TimestampType

from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.timestamp_keys import has_string_input

#: The text that key generators write for these does not tell the value.
_ONLY_IN_FILES = (TimestampType, TimestampNTZType, BinaryType)
#: The kind of a field whose table does not say it.
_UNKNOWN = "UNKNOWN"
_TIMESTAMP_GENERATORS = frozenset({KeyGeneratorType.TIMESTAMP, KeyGeneratorType.TIMESTAMP_AVRO})


def partition_columns(columns: StructType, config: TableConfig, *, only_in_paths: bool = False) -> StructType:
    """Return the partition columns that Spark takes from the paths, in the order of the path.

    Args:
        columns: All columns that the files may hold.
        config: The table's properties.
        only_in_paths: What the files hold does not count (`hoodie.datasource.read.extract.partition.values.from.path`).
    """
    only_in_paths = only_in_paths or config.drop_partition_columns
    types = {field.name: field.dataType for field in columns}
    fields = []
    for name, kind in zip(config.partition_fields, _kinds(config, only_in_paths=only_in_paths), strict=True):
        data_type = (
            None
            if kind == _UNKNOWN
            else _partition_type(types.get(name), config, is_timestamp=kind == "TIMESTAMP", only_in_paths=only_in_paths)
        )
        if data_type is not None:
            fields.append(StructField(name, data_type))
    return StructType(fields)


def _partition_type(stored_type: DataType | None, config: TableConfig, *, is_timestamp: bool, only_in_paths: bool) -> DataType | None:
    """Return a partition column's type on Spark, or None when its values are read from the files alone."""
    if stored_type is None:  # a nested field, or one that the writer dropped from the files
        return StringType() if only_in_paths else None
    if only_in_paths:
        return StringType() if is_timestamp else stored_type
    if is_timestamp and isinstance(stored_type, StringType) and not has_string_input(config.properties):
        return stored_type  # numbers, of which an UPDATE or DELETE of Apache Hudi has left the path's text in the table's schema
    if is_timestamp or isinstance(stored_type, _ONLY_IN_FILES) or (config.slash_dates and not isinstance(stored_type, DateType)):
        return None
    return stored_type


def _kinds(config: TableConfig, *, only_in_paths: bool) -> tuple[str | None, ...]:
    """Return what each partition field's own generator is, where the table says so."""
    if config.key_generator in _TIMESTAMP_GENERATORS:
        return ("TIMESTAMP",) * len(config.partition_fields)
    if config.key_generator.family is KeyGeneratorType.CUSTOM and not only_in_paths:
        return tuple(kind or _UNKNOWN for kind in config.partition_field_types)
    return config.partition_field_types
