"""Key generators: how record key and partition path come about, by type and by Java class name.

Rules: `KeyGeneratorType`, `HoodieTableConfig.getKeyGeneratorClassName`. Class names in a table are looked up here
    and never loaded.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from pyhudi.errors import UnsupportedError

_PACKAGE = "org.apache.hudi.keygen."


class KeyGeneratorType(enum.StrEnum):
    """Types as `hoodie.table.keygenerator.type` names them."""

    SIMPLE = "SIMPLE"
    SIMPLE_AVRO = "SIMPLE_AVRO"
    COMPLEX = "COMPLEX"
    COMPLEX_AVRO = "COMPLEX_AVRO"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_AVRO = "TIMESTAMP_AVRO"
    CUSTOM = "CUSTOM"
    CUSTOM_AVRO = "CUSTOM_AVRO"
    NON_PARTITION = "NON_PARTITION"
    NON_PARTITION_AVRO = "NON_PARTITION_AVRO"
    GLOBAL_DELETE = "GLOBAL_DELETE"
    GLOBAL_DELETE_AVRO = "GLOBAL_DELETE_AVRO"
    AUTO_RECORD = "AUTO_RECORD"
    AUTO_RECORD_AVRO = "AUTO_RECORD_AVRO"
    HOODIE_TABLE_METADATA = "HOODIE_TABLE_METADATA"
    SPARK_SQL = "SPARK_SQL"
    SPARK_SQL_UUID = "SPARK_SQL_UUID"
    SPARK_SQL_MERGE_INTO = "SPARK_SQL_MERGE_INTO"
    USER_PROVIDED = "USER_PROVIDED"

    @property
    def family(self) -> KeyGeneratorType:
        """The type without its Avro twin: `SIMPLE_AVRO` writes the same keys as `SIMPLE`."""
        return KeyGeneratorType(self.value.removesuffix("_AVRO"))

    @property
    def class_name(self) -> str | None:
        """The Java class by which tables of version 6 name the generator; None when no one class is."""
        return next((name for name, known in _CLASSES.items() if known is self), None)


_CLASSES = {
    _PACKAGE + "SimpleKeyGenerator": KeyGeneratorType.SIMPLE,
    _PACKAGE + "SimpleAvroKeyGenerator": KeyGeneratorType.SIMPLE_AVRO,
    _PACKAGE + "ComplexKeyGenerator": KeyGeneratorType.COMPLEX,
    _PACKAGE + "ComplexAvroKeyGenerator": KeyGeneratorType.COMPLEX_AVRO,
    _PACKAGE + "TimestampBasedKeyGenerator": KeyGeneratorType.TIMESTAMP,
    _PACKAGE + "TimestampBasedAvroKeyGenerator": KeyGeneratorType.TIMESTAMP_AVRO,
    _PACKAGE + "CustomKeyGenerator": KeyGeneratorType.CUSTOM,
    _PACKAGE + "CustomAvroKeyGenerator": KeyGeneratorType.CUSTOM_AVRO,
    _PACKAGE + "NonpartitionedKeyGenerator": KeyGeneratorType.NON_PARTITION,
    _PACKAGE + "NonpartitionedAvroKeyGenerator": KeyGeneratorType.NON_PARTITION_AVRO,
    _PACKAGE + "GlobalDeleteKeyGenerator": KeyGeneratorType.GLOBAL_DELETE,
    _PACKAGE + "GlobalAvroDeleteKeyGenerator": KeyGeneratorType.GLOBAL_DELETE_AVRO,
    "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator": KeyGeneratorType.HOODIE_TABLE_METADATA,
    "org.apache.spark.sql.hudi.command.SqlKeyGenerator": KeyGeneratorType.SPARK_SQL,
    "org.apache.spark.sql.hudi.command.UuidKeyGenerator": KeyGeneratorType.SPARK_SQL_UUID,
    "org.apache.spark.sql.hudi.command.MergeIntoKeyGenerator": KeyGeneratorType.SPARK_SQL_MERGE_INTO,
}


def key_generator_of_class(class_name: str) -> KeyGeneratorType:
    """Return the type of a Java class name, with or without its package; classes that Hudi does not ship are USER_PROVIDED.

    Example:
        >>> key_generator_of_class("CustomKeyGenerator")
        <KeyGeneratorType.CUSTOM: 'CUSTOM'>
    """
    name = class_name.strip()
    return _CLASSES.get(name) or _CLASSES.get(_PACKAGE + name, KeyGeneratorType.USER_PROVIDED)


def parse_key_generator(text: str) -> KeyGeneratorType:
    """Return the type that a table or an option names.

    Raises:
        UnsupportedError: no type has this name.
    """
    try:
        return KeyGeneratorType(text.strip().upper())
    except ValueError:
        known = ", ".join(KeyGeneratorType)
        raise UnsupportedError(f"key generator type '{text}' is unknown; known are {known}") from None


def infer_key_generator(record_key_fields: Sequence[str], partition_fields: Sequence[str]) -> KeyGeneratorType:
    """Return the type that Hudi picks when none is set; `partition_fields` as written, with `:TYPE` if any.

    Example:
        >>> infer_key_generator(["id"], ["city"])
        <KeyGeneratorType.SIMPLE: 'SIMPLE'>
    """
    if not partition_fields:
        return KeyGeneratorType.NON_PARTITION
    if ":" in partition_fields[0]:
        return KeyGeneratorType.CUSTOM
    if len(partition_fields) > 1 or len(record_key_fields) > 1:
        return KeyGeneratorType.COMPLEX
    return KeyGeneratorType.SIMPLE
