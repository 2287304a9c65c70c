"""Record keys and partition paths of Spark rows, equal to what `kernels.keys` makes of the same values.

A record key is text that Spark can make itself for most types. Paths of plain values are made by the kernel on the distinct values
and joined back, so there is one rule for escaping. What Spark has no expression for (moments in paths, timestamps as text, bytes, a
user's generator) the kernel makes inside tasks, of the columns that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Final

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
from pyhudi.kernels.keys import key_columns, partition_paths, record_keys
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.choose import KeyGenerator
from pyhudi.keygen.protocol import KeyFields, PartitionLayout
from pyhudi.keygen.user import UserKeys

RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
_VALUE = "_pyhudi_value_{}"
_TEXT_TYPES = (StringType, IntegralType, BooleanType, DateType, DecimalType, FloatType, DoubleType)
_MOMENTS = (TimestampType, TimestampNTZType)
#: Begins what stands in the place of a path that a task could not make, and says why not. No path holds it.
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
    key_columns(to_arrow_schema(frame.schema).empty_table(), generator)
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
    if not all(_is_native(_type(frame, name), key) for name in key.key_fields):
        return _in_tasks(key.key_fields, _or_null(lambda rows: record_keys(rows, key)))
    texts = {name: _text(frame, name) for name in key.key_fields}
    if not key.is_composite:
        (text,) = texts.values()
        return F.when(text != "", text)
    parts = [
        F.concat(F.lit(f"{name}:"), F.when(text.isNull(), "__null__").when(text == "", "__empty__").otherwise(text))
        for name, text in texts.items()
    ]
    blank = reduce(lambda a, b: a & b, [text.isNull() | (text == "") for text in texts.values()])
    return F.when(~blank, F.concat_ws(",", *parts))


def _is_native(kind: DataType, key: KeyFields) -> bool:
    """Tell whether Spark can make the key text of a type exactly as the kernel does."""
    return isinstance(kind, _TEXT_TYPES) or (isinstance(kind, TimestampType) and not key.timestamps_as_text)


def _text(frame: DataFrame, name: str) -> Column:
    column = _column(frame, name)
    if isinstance(_type(frame, name), TimestampType):
        return F.unix_micros(column).cast("string")
    return column.cast("string")


def _column(frame: DataFrame, name: str) -> Column:
    """Return a column by name, into structs by a dotted one."""
    if name.lower() in {column.lower() for column in frame.columns}:
        return frame[f"`{name}`"]
    return frame[".".join(f"`{part}`" for part in name.split("."))]


def _type(frame: DataFrame, name: str) -> DataType:
    return frame.select(_column(frame, name)).schema.fields[0].dataType


def _in_tasks(fields: Sequence[str], make: Callable[[pa.Table], pa.Array]) -> Column:
    """Return what a kernel makes of some columns, as texts; where it refuses a row, the reason after `_REFUSED` for the batch."""
    heads = list(dict.fromkeys(field.partition(".")[0] for field in fields))

    def of_batch(*columns: pa.Array) -> pa.Array:
        try:
            return make(pa.table(list(columns), names=heads)).cast(pa.string())
        except KeyFieldError as error:
            return pa.repeat(pa.scalar(f"{_REFUSED}{error}"), len(columns[0]))

    # The kind of the function comes from its hints, which the stubs do not know of.
    column: Column = arrow_udf(of_batch, "string")(*(F.col(f"`{name}`") for name in heads))  # type: ignore[call-overload]
    return column


def _or_null(make: Callable[[pa.Table], pa.Array]) -> Callable[[pa.Table], pa.Array]:
    """Let keys that cannot be made be null, which the count of rows finds."""

    def make_or_null(rows: pa.Table) -> pa.Array:
        try:
            return make(rows)
        except KeyFieldError:
            return pa.nulls(rows.num_rows, pa.string())

    return make_or_null


def _of_records(frame: DataFrame, generator: UserKeys) -> DataFrame:
    columns = frame.columns
    made = {
        RECORD_KEY: _in_tasks(columns, _or_null(lambda rows: key_columns(rows, generator)[0])),
        PARTITION_PATH: _in_tasks(columns, lambda rows: key_columns(rows, generator)[1]),
    }
    return frame.withColumns(made)


def _generated_key(instant: str) -> Column:
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


def _with_partition_path(frame: DataFrame, layout: PartitionLayout) -> DataFrame:
    """Add the partition path of each row; plain values take one job, which reads the distinct ones."""
    names = layout.names
    if not names:
        return frame.withColumn(PARTITION_PATH, F.lit(""))
    kinds = [_type(frame, name) for name in names]
    if any(field.timestamp is not None for field in layout.fields) or any(isinstance(kind, _MOMENTS) for kind in kinds):
        return frame.withColumn(PARTITION_PATH, _in_tasks(names, lambda rows: partition_paths(rows, layout)))
    named = [_VALUE.format(i) for i in range(len(names))]
    values = frame.select(*(_column(frame, name).alias(value) for name, value in zip(names, named, strict=True))).distinct().toArrow()
    paths = partition_paths(pa.table(values.columns, names=list(names)), layout)
    lookup = frame.sparkSession.createDataFrame(pa.table([*values.columns, paths.cast(pa.string())], names=[*named, PARTITION_PATH]))
    same = reduce(lambda a, b: a & b, [_column(frame, f).eqNullSafe(lookup[n]) for f, n in zip(names, named, strict=True)])
    return frame.join(F.broadcast(lookup), same, "left").drop(*named)
