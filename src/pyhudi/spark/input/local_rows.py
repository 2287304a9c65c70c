"""The rows of a DataFrame that Spark's optimizer already holds as values, as in INSERT ... VALUES: brought without a Spark job."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    StringType,
)

from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spark.jvm.jvm import JavaObject

#: Types whose Python values are plain; timestamps would pass through the local time zone, so they take Spark's Arrow road.
PLAIN_TYPES: Final = (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType, NullType, StringType)


#: Spark's node of a plan that is nothing but values.
LOCAL_RELATION: Final = "LocalRelation"


def local_rows(frame: DataFrame, optimized: JavaObject) -> pa.Table | None:
    """Return the rows when the optimized plan is nothing but values of plain types that Python has, else None.

    Collecting such a plan as rows costs 20 ms where `toArrow`, which runs a job, costs 100.
    """
    if optimized.nodeName() != LOCAL_RELATION or not all(isinstance(field.dataType, PLAIN_TYPES) for field in frame.schema.fields):
        return None
    try:
        rows = frame.collect()
    except (ValueError, OverflowError):  # a date before the year 1 or after 9999: Arrow has it, Python has not
        return None
    columns = zip(*rows, strict=True) if rows else ([] for _ in frame.columns)
    schema = arrow_schema(frame)
    return pa.table([pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
