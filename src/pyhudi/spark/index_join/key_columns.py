"""Record keys and partition paths of Spark rows, equal to what `kernels.keys.key_kernels` makes of the same values.

A record key is text that Spark can make itself for most types. Paths of plain values are made by the kernel on the distinct values
and joined back, so there is one rule for escaping. What Spark has no expression for (timestamps in paths, timestamps as text, bytes, a
user's generator) the kernel makes inside tasks, of the columns that it needs. So it does with floating point numbers, whose text in Spark
is that of the JVM's release and of which Spark takes -0.0 for 0.0, and with decimals of many places, which Spark writes without exponent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from inspect import signature
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.keys.key_kernels import column_text, key_columns, partition_paths
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.choose_generator import KeyGenerator
from pyhudi.keygen.key_generator_protocol import KeyFields, PartitionLayout
from pyhudi.keygen.user import UserKeys
from pyhudi.schema.field_paths import head_columns
from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.input.prepare_rows import require_columns

RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
_VALUE = "_pyhudi_value_{}"
_TEXT_TYPES = (StringType, IntegralType, BooleanType, DateType)
#: Java writes decimals of more places with an exponent where they are small: `1E-7`.
_PLAIN_SCALE: Final = 6
#: Partition values that are made into paths in tasks: a timestamp is seldom there twice, and Spark takes -0.0 for 0.0.
_MADE_IN_TASKS = (TimestampType, TimestampNTZType, FloatType, DoubleType)
#: PySpark 4.3 wants to be given the zone of timestamps, 4.1 takes UTC.
_ZONE: Final[dict[str, Any]] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
#: Begins what is in the place of a path that a task could not make, and says why not. No path holds it.
_REFUSED: Final = "\0"


def with_keys(frame: DataFrame, generator: KeyGenerator, instant: str) -> DataFrame:
    """Add record key and partition path of each row; `refuse_unmade` must see the paths before they are used.

    Args:
        frame: the data columns, of the table's types.
        generator: the table's.
        instant: the write's, for keys that are made up.

    Raises:
        KeyFieldError: a field is missing or has a type without text, or a value cannot be part of a path.
    """
    key_columns(to_arrow_schema(frame.schema, **_ZONE).empty_table(), generator)
    if isinstance(generator, UserKeys):
        return _of_records(frame, generator)
    if isinstance(generator, AutoKeys):
        return _with_partition_path(frame.withColumn(RECORD_KEY, _generated_key(instant)), generator.layout)
    return _with_partition_path(frame.withColumn(RECORD_KEY, _record_key(frame, generator.key)), generator.layout)


def refuse_unmade(paths: Iterable[str | None]) -> None:
    """Refuse rows for which a task could make no partition path.

    Raises:
        KeyFieldError: says why.
    """
    for path in paths:
        if path is not None and path.startswith(_REFUSED):
            raise KeyFieldError(path.removeprefix(_REFUSED))


def _record_key(frame: DataFrame, key: KeyFields) -> Column:
    """Return the record key of each row; null where every key field is null or empty."""
    strings = {name: _text(frame, name, key) for name in key.key_fields}
    if not key.is_composite:
        (text,) = strings.values()
        return F.when(text != "", text)
    parts = [
        F.concat(F.lit(f"{name}:"), F.when(text.isNull(), "__null__").when(text == "", "__empty__").otherwise(text))
        for name, text in strings.items()
    ]
    blank = reduce(lambda a, b: a & b, [text.isNull() | (text == "") for text in strings.values()])
    return F.when(~blank, F.concat_ws(",", *parts))


def _text(frame: DataFrame, name: str, key: KeyFields) -> Column:
    """Return the text of a key field; the kernel makes it of types whose text Spark does not make as the kernel does."""
    column, kind = _column(frame, name), _type(frame, name)
    if isinstance(kind, TimestampType) and not key.timestamps_as_text:
        return F.unix_micros(column).cast("string")
    if isinstance(kind, _TEXT_TYPES) or (isinstance(kind, DecimalType) and kind.scale <= _PLAIN_SCALE):
        return column.cast("string")
    as_text = key.timestamps_as_text
    return _batchwise(lambda values: column_text(pa.chunked_array([values]), name, timestamps_as_text=as_text), [column])


def _column(frame: DataFrame, name: str) -> Column:
    """Return a column by name, into structs by a dotted one."""
    if name.lower() in {column.lower() for column in frame.columns}:
        return frame[f"`{name}`"]
    return frame[".".join(f"`{part}`" for part in name.split("."))]


def _type(frame: DataFrame, name: str) -> DataType:
    return frame.select(_column(frame, name)).schema.fields[0].dataType


def _in_tasks(fields: Sequence[str], make: Callable[[pa.Table], pa.Array]) -> Column:
    """Return what a kernel makes of some columns, as strings; where it refuses a row, the reason after `_REFUSED` for the batch."""
    heads = list(head_columns(fields))

    def of_batch(*columns: pa.Array) -> pa.Array:
        try:
            return make(pa.table(list(columns), names=heads)).cast(pa.string())
        except KeyFieldError as error:
            return pa.repeat(pa.scalar(f"{_REFUSED}{error}"), len(columns[0]))

    return _batchwise(of_batch, [F.col(f"`{name}`") for name in heads])


def _batchwise(make: Callable[..., pa.Array], columns: Sequence[Column]) -> Column:
    """Return the strings that a function of Arrow arrays makes of columns, batch by batch, inside tasks."""

    def of_batch(*arrays: pa.Array) -> pa.Array:
        return make(*arrays)

    # The kind of the function comes from its hints, which the stubs do not know of.
    column: Column = arrow_udf(of_batch, "string")(*columns)  # type: ignore[call-overload]
    return column


def _of_records(frame: DataFrame, generator: UserKeys) -> DataFrame:
    columns = frame.columns
    made = {
        RECORD_KEY: _in_tasks(columns, lambda rows: _keys_or_null(rows, generator)),
        PARTITION_PATH: _in_tasks(columns, lambda rows: key_columns(rows, generator)[1]),
    }
    return frame.withColumns(made)


def _keys_or_null(rows: pa.Table, generator: UserKeys) -> pa.Array:
    """Return the keys of a user's generator; null where it fails, which the paths say why."""
    try:
        return key_columns(rows, generator)[0]
    except KeyFieldError:
        return pa.nulls(rows.num_rows, pa.string())


def _generated_key(instant: str) -> Column:
    """Return a key for each row of a table without record key: `<instant>_<Spark partition>_<row>`."""
    number = F.monotonically_increasing_id()
    row = number.bitwiseAND(F.lit((1 << 33) - 1))
    return F.concat(F.lit(f"{instant}_"), F.shiftright(number, 33).cast("string"), F.lit("_"), row.cast("string"))


def with_table_types(frame: DataFrame, columns: pa.Schema) -> DataFrame:
    """Return the data columns of a DataFrame with the names and types of the table's, so that keys have the table's text."""
    fields_by_name = {field.name.lower(): field for field in from_arrow_schema(columns).fields}
    selected = []
    for field in frame.schema.fields:
        target = fields_by_name.get(field.name.lower())
        if target is None:
            continue
        column = frame[f"`{field.name}`"]
        selected.append((column if field.dataType == target.dataType else column.cast(target.dataType)).alias(target.name))
    return frame.select(*selected)


def named_records(frame: DataFrame, columns: pa.Schema, config: TableConfig, *, anywhere: bool) -> DataFrame:
    """Return the columns of a DataFrame that names records to delete, with the names and types of the table's.

    Args:
        frame: keys, and partition values.
        columns: the table's.
        config: the table's.
        anywhere: the records are looked for in all partitions, so that partition columns may be missing; they are null then.

    Raises:
        KeyFieldError: a column is missing.
    """
    given = arrow_schema(frame)
    require_columns(given, config.record_key_fields, "a record key field", config)
    if not anywhere:
        require_columns(given, config.partition_fields, "a partition field", config)
    rows = with_table_types(frame, columns)
    needed = {name.lower() for name in config.naming_columns} - {name.lower() for name in rows.columns}
    missing = [field for field in from_arrow_schema(columns).fields if field.name.lower() in needed]
    return rows.withColumns({field.name: F.lit(None).cast(field.dataType) for field in missing}) if missing else rows


def _with_partition_path(frame: DataFrame, layout: PartitionLayout) -> DataFrame:
    """Add the partition path of each row; plain values take one job, which reads the distinct ones."""
    names = layout.names
    if not names:
        return frame.withColumn(PARTITION_PATH, F.lit(""))
    kinds = [_type(frame, name) for name in names]
    if any(field.timestamp is not None for field in layout.fields) or any(isinstance(kind, _MADE_IN_TASKS) for kind in kinds):
        return frame.withColumn(PARTITION_PATH, _in_tasks(names, lambda rows: partition_paths(rows, layout)))
    named = [_VALUE.format(i) for i in range(len(names))]
    values = frame.select(*(_column(frame, name).alias(value) for name, value in zip(names, named, strict=True))).distinct().toArrow()
    paths = partition_paths(pa.table(values.columns, names=list(names)), layout)
    lookup = frame.sparkSession.createDataFrame(pa.table([*values.columns, paths.cast(pa.string())], names=[*named, PARTITION_PATH]))
    same = reduce(lambda a, b: a & b, [_column(frame, f).eqNullSafe(lookup[n]) for f, n in zip(names, named, strict=True)])
    return frame.join(F.broadcast(lookup), same, "left").drop(*named)
