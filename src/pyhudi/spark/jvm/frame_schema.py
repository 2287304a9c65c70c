"""The Arrow schema of Spark columns, without running anything: what their rows have when they cross into Python.

PySpark has such a function whose parameters differ from release to release; the mapping itself is the one of its documentation.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from pyhudi.errors import SchemaError
from pyhudi.schema.avro_types import COMMENT

_ATOMIC: Final[dict[type[DataType], pa.DataType]] = {
    BinaryType: pa.binary(),
    BooleanType: pa.bool_(),
    ByteType: pa.int8(),
    CharType: pa.string(),
    DateType: pa.date32(),
    DoubleType: pa.float64(),
    FloatType: pa.float32(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    NullType: pa.null(),
    ShortType: pa.int16(),
    StringType: pa.string(),
    TimestampNTZType: pa.timestamp("us"),
    TimestampType: pa.timestamp("us", "UTC"),
    VarcharType: pa.string(),
}


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the schema of a DataFrame's rows; timestamps are in UTC. Errors as in `arrow_schema_of`."""
    return arrow_schema_of(frame.schema)


def arrow_schema_of(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of Spark columns.

    Raises:
        SchemaError: a column has a type that Arrow tables of Hudi cannot hold; names it.
    """
    return pa.schema([_field(field, field.name) for field in schema.fields])


def _field(field: StructField, column: str) -> pa.Field:
    comment = (field.metadata or {}).get("comment")
    return pa.field(field.name, arrow_type(field.dataType, column), field.nullable, {COMMENT: comment.encode()} if comment else None)


def arrow_type(spark: DataType, column: str) -> pa.DataType:
    """Return the Arrow type of a Spark type; `column` is its dotted path, for messages.

    Raises:
        SchemaError: there is none.
    """
    if isinstance(spark, DecimalType):
        return pa.decimal128(spark.precision, spark.scale)
    if isinstance(spark, ArrayType):
        return pa.list_(pa.field("element", arrow_type(spark.elementType, f"{column}.element"), spark.containsNull))
    if isinstance(spark, MapType):
        value = pa.field("value", arrow_type(spark.valueType, f"{column}.value"), spark.valueContainsNull)
        return pa.map_(arrow_type(spark.keyType, f"{column}.key"), value)
    if isinstance(spark, StructType):
        return pa.struct([_field(part, f"{column}.{part.name}") for part in spark.fields])
    if isinstance(spark, StringType) and not spark.isUTF8BinaryCollation():
        raise SchemaError(
            f"column '{column}' compares by the collation {spark.collation}, which a Hudi table cannot keep; cast it to STRING."
        )
    match = _ATOMIC.get(type(spark))
    if match is None:
        raise SchemaError(f"column '{column}' has the type {spark.simpleString()}, which a Hudi table cannot store; cast it to another.")
    return match
