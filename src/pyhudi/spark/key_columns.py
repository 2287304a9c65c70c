"""Record keys and partition paths as Spark expressions, equal to the text that `kernels.keys` makes of the same values.

Rules: format-data 5; `SimpleKeyGenerator`, `ComplexKeyGenerator`, `NonpartitionedKeyGenerator`. Paths are made by the Python kernel on
the distinct partition values and joined back, so there is one rule for escaping; a record key is text that Spark can make itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StringType,
    TimestampType,
)

from pyhudi.kernels.keys import key_columns
from pyhudi.spec.key_generator import KeyGeneratorType
from pyhudi.spec.table_config import TableConfig

RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
_PATH_VALUE = "_pyhudi_partition_{}"
_BARE = (KeyGeneratorType.SIMPLE, KeyGeneratorType.NON_PARTITION)
_TEXT_TYPES = (StringType, IntegralType, BooleanType, DateType, DecimalType, FloatType, DoubleType)


def served_by_spark(schema_types: Sequence[DataType]) -> bool:
    """Tell whether Spark can make the key text of these field types exactly as the kernel does."""
    return all(isinstance(t, (*_TEXT_TYPES, TimestampType)) for t in schema_types)


def record_key(frame: DataFrame, config: TableConfig) -> Column:
    """Return the record key of each row; null where every key field is null or empty."""
    texts = {name: _text(frame, name) for name in config.record_key_fields}
    if len(texts) == 1 and config.key_generator in _BARE:
        (text,) = texts.values()
        return F.when(text != "", text)
    parts = [
        F.concat(F.lit(f"{name}:"), F.when(text.isNull(), "__null__").when(text == "", "__empty__").otherwise(text))
        for name, text in texts.items()
    ]
    blank = reduce(lambda a, b: a & b, [text.isNull() | (text == "") for text in texts.values()])
    return F.when(~blank, F.concat_ws(",", *parts))


def _text(frame: DataFrame, name: str) -> Column:
    column = frame[f"`{name}`"]
    if isinstance(frame.schema[name].dataType, TimestampType):
        return F.unix_micros(column).cast("string")
    return column.cast("string")


def generated_key(instant: str) -> Column:
    """Return a key for each row of a table without record key: `<instant>_<Spark partition>_<row>`."""
    number = F.monotonically_increasing_id()
    row = number.bitwiseAND(F.lit((1 << 33) - 1))
    return F.concat(F.lit(f"{instant}_"), F.shiftright(number, 33).cast("string"), F.lit("_"), row.cast("string"))


def with_table_types(frame: DataFrame, columns: pa.Schema) -> DataFrame:
    """Return the data columns of a DataFrame with the names and types of the table's, so that keys have the table's text."""
    wanted = {field.name.lower(): field for field in from_arrow_schema(columns).fields}
    selected = []
    for field in frame.schema.fields:
        target = wanted.get(field.name.lower())
        if target is None:
            continue
        column = frame[f"`{field.name}`"]
        selected.append((column if field.dataType == target.dataType else column.cast(target.dataType)).alias(target.name))
    return frame.select(*selected)


def with_partition_path(frame: DataFrame, config: TableConfig) -> DataFrame:
    """Add the partition path of each row; one job reads the distinct partition values.

    Raises:
        KeyFieldError: a partition value cannot be part of a path.
    """
    fields = list(config.partition_fields)
    if not fields:
        return frame.withColumn(PARTITION_PATH, F.lit(""))
    values = frame.select(*(f"`{name}`" for name in fields)).distinct().toArrow()
    paths = key_columns(_with_placeholder_keys(values, config), config, instant="", task_partition=0)[1]
    session = frame.sparkSession
    named = [_PATH_VALUE.format(i) for i in range(len(fields))]
    lookup = session.createDataFrame(pa.table([*values.columns, paths.cast(pa.string())], names=[*named, PARTITION_PATH]))
    same = reduce(lambda a, b: a & b, [frame[f"`{f}`"].eqNullSafe(lookup[n]) for f, n in zip(fields, named, strict=True)])
    return frame.join(F.broadcast(lookup), same, "left").drop(*named)


def _with_placeholder_keys(values: pa.Table, config: TableConfig) -> pa.Table:
    """Give the distinct partition values a key, since the kernel makes key and path together."""
    for name in config.record_key_fields:
        if name not in values.column_names:
            values = values.append_column(name, pa.array(["-"] * values.num_rows))
    return values
