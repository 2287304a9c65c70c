"""Arrow types of a table's schema as Spark types, the way Spark's own Parquet scan delivers them.

Everything is nullable, as in every file source of Spark: a file written before a column was added has no values for it.
"""

from __future__ import annotations

import json
import re
from typing import Final

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyhudi.errors import UnsupportedError
from pyhudi.schema.avro_types import COMMENT

_ATOMIC: dict[pa.DataType, DataType] = {
    pa.bool_(): BooleanType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float32(): FloatType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
    pa.binary(): BinaryType(),
    pa.date32(): DateType(),
    # Spark has no time of day in Parquet; the number is what Apache Hudi shows, too.
    pa.time32("ms"): IntegerType(),
    pa.time64("us"): LongType(),
}


def spark_schema(schema: pa.Schema) -> StructType:
    """Return a table's columns as Spark shows them.

    Raises:
        UnsupportedError: a column has a type that Spark's Parquet scan does not read; names it.
    """
    return StructType([StructField(field.name, spark_type(field.type, field.name)) for field in schema])


def nullable_schema(frame: DataFrame) -> StructType:
    """Return the columns of a DataFrame, all of which may be null, at every depth."""
    return StructType.fromJson(json.loads(frame._jdf.schema().asNullable().json()))  # noqa: SLF001 - no public name


def with_comments(schema: StructType, columns: pa.Schema) -> StructType:
    """Return Spark's columns with the comments that a table's have, those of fields inside them too."""
    stored = {field.name: field for field in columns}
    return StructType([_with_comment(field, stored[field.name]) if field.name in stored else field for field in schema.fields])


def _with_comment(field: StructField, stored: pa.Field) -> StructField:
    comment = (stored.metadata or {}).get(COMMENT)
    metadata = {**(field.metadata or {}), "comment": comment.decode()} if comment else field.metadata
    return StructField(field.name, _commented_type(field.dataType, stored.type), field.nullable, metadata)


def _commented_type(spark: DataType, stored: pa.DataType) -> DataType:
    if isinstance(spark, StructType):
        return with_comments(spark, pa.schema(list(stored)))
    if isinstance(spark, ArrayType):
        return ArrayType(_commented_type(spark.elementType, stored.value_type), spark.containsNull)
    if isinstance(spark, MapType):
        return MapType(spark.keyType, _commented_type(spark.valueType, stored.item_type), spark.valueContainsNull)
    return spark


def spark_type(arrow: pa.DataType, column: str) -> DataType:
    """Return the Spark type of a column; `column` is its dotted path, for messages.

    Raises:
        UnsupportedError: Spark's Parquet scan does not read the type.
    """
    if arrow in _ATOMIC:
        return _ATOMIC[arrow]
    if pt.is_decimal(arrow):
        return DecimalType(arrow.precision, arrow.scale)
    if pt.is_timestamp(arrow):
        return TimestampNTZType() if arrow.tz is None else TimestampType()
    if pt.is_struct(arrow):
        return StructType([StructField(part.name, spark_type(part.type, f"{column}.{part.name}")) for part in arrow])
    if pt.is_list(arrow):
        return ArrayType(spark_type(arrow.value_type, f"{column}.element"))
    if pt.is_map(arrow):
        return MapType(spark_type(arrow.key_type, f"{column}.key"), spark_type(arrow.item_type, f"{column}.value"))
    raise UnsupportedError(
        f"Spark cannot read column '{column}', whose type is {arrow}. Read the table with HudiTable.to_arrow, or select"
        " the other columns there."
    )


_STORED_AS: Final = (
    (re.compile(r'"(type|elementType|keyType|valueType)":"(?:var)?char\(\d+\)"'), r'"\1":"string"'),
    (re.compile(r'"(type|elementType|keyType|valueType)":"(?:byte|short)"'), r'"\1":"integer"'),
)


def to_stored_type(schema: StructType) -> StructType:
    """Return the schema with the types that a Hudi table keeps."""
    text = schema.json()
    for pattern, retained in _STORED_AS:
        text = pattern.sub(retained, text)
    return StructType.fromJson(json.loads(text))
