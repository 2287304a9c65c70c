"""Putting the columns of a query to the columns of a table: by position or name, with Spark's store-assignment casts.

Rule: `spark.sql.storeAssignmentPolicy`, whose ANSI form (the default) allows a cast that cannot change a value's
meaning (INT to BIGINT, DECIMAL to FLOAT) and refuses the others (STRING to INT). Spark's own table of allowed casts
answers. UPDATE and MERGE also store texts that are numbers or times, as Apache Hudi does (its quick start sets a BIGINT to a text); a
text that is none stops the statement, for which Spark's ANSI mode, its default, has to be on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyhudi.errors import SchemaError, with_subject
from pyhudi.spark.jvm import jvm
from pyhudi.sql.text.tokens import quote, text_literal


@dataclass(frozen=True, slots=True)
class Target:
    """One column of the result: fed by a column of the source, by a text, or null."""

    name: str
    type: DataType
    position: int | None = None
    text: str | None = None

    @classmethod
    def of(cls, field: StructField, *, position: int | None = None, text: str | None = None) -> Target:
        """Return the target with the name and type of a field."""
        return cls(field.name, field.dataType, position, text)


def conform(source: DataFrame, targets: Sequence[Target], what: str, *, cast_strings: bool = False) -> DataFrame:
    """Return the source with exactly the target columns, in their order and of their types.

    Args:
        source: The query's result.
        targets: One for each column wanted.
        what: The statement for messages, such as `INSERT into sales.orders`.
        cast_strings: Whether strings are cast to numbers and times.

    Raises:
        SchemaError: the number of columns differs, or a type cannot be stored in the column's.
    """
    session = source.sparkSession
    given = source.schema.fields
    fed = [(target, target.position) for target in targets if target.position is not None]
    if len(fed) != len(given):
        raise SchemaError(
            f"{what}: the query gives {len(given)} column(s) ({', '.join(field.name for field in given)}),"
            f" the table takes {len(fed)} ({', '.join(target.name for target, _ in fed)})."
        )
    if [(field.name, field.dataType) for field in given] == [(target.name, target.type) for target in targets]:
        return source
    for target, position in fed:
        require_storable(session, given[position].dataType, target, what, cast_strings=cast_strings)
    names = [field.name for field in given]
    if len({name.lower() for name in names}) < len(names):  # each must be named by itself below
        names = [f"_{i}" for i in range(len(given))]
        source = source.toDF(*names)
    return source.selectExpr(*(_expression(target, names, given) for target in targets))


def _expression(target: Target, names: Sequence[str], given: Sequence[StructField]) -> str:
    if target.position is None:
        literal = "NULL" if target.text is None else text_literal(target.text)
        return f"{cast_text(literal, target.type)} AS {quote(target.name)}"
    value = quote(names[target.position])
    if given[target.position].dataType != target.type:
        value = cast_text(value, target.type)
    return f"{value} AS {quote(target.name)}"


def require_storable(session: SparkSession, given: DataType, target: Target, what: str, *, cast_strings: bool = False) -> None:
    """Check that a value may be stored in a column, by Spark's store-assignment policy.

    Args:
        session: The session, whose policy it is.
        given: The value's type.
        target: The column.
        what: The statement for messages, such as `INSERT into sales.orders`.
        cast_strings: Whether strings are cast to numbers and times.

    Raises:
        SchemaError: the cast could change what the value means.
    """
    column_type = target.type.simpleString()
    if given == target.type or (cast_strings and _is_checked_text(session, given, target.type)):
        return
    if not _storable(session, given, target.type):
        problem = (
            f"{what}: column {target.name} is {column_type} and the query gives {given.simpleString()}, which cannot be"
            f" stored there safely."
            f" Write CAST(... AS {column_type}) in the query if that is what you mean."
        )
        raise with_subject(SchemaError(problem), target.name)


@contextmanager
def text_errors(what: str) -> Iterator[None]:
    """Name the statement in Spark's error about a text that cannot be cast, since the user wrote no cast.

    Args:
        what: The statement, such as `UPDATE of sales.orders`.
    """
    try:
        yield
    except PySparkException as error:
        if error.getCondition() != "CAST_INVALID_INPUT":
            raise
        raise SchemaError(f"{what}: nothing was written. {str(error).partition(' Correct the value')[0]}") from error


def cast_text(value: str, data_type: DataType) -> str:
    """Return SQL that casts a value, given as SQL, to a type."""
    return f"CAST({value} AS {_ddl(data_type)})"


def _storable(session: SparkSession, given: DataType, column_type: DataType) -> bool:
    if isinstance(given, NullType) or session.conf.get("spark.sql.storeAssignmentPolicy") == "LEGACY":
        return True
    return _can_store(session, given.json(), column_type.json())


def _is_checked_text(session: SparkSession, given: DataType, column_type: DataType) -> bool:
    """Tell whether a value is a text whose cast to a number or time fails when it is none, instead of giving null."""
    return (
        isinstance(given, StringType)
        and isinstance(column_type, NumericType | DateType | TimestampType | TimestampNTZType)
        and session.conf.get("spark.sql.ansi.enabled") == "true"
    )


@lru_cache(maxsize=1024)
def _can_store(session: SparkSession, given: str, column_type: str) -> bool:
    sql = jvm.jvm(session).org.apache.spark.sql
    from_json = sql.types.DataType.fromJson
    return bool(sql.catalyst.expressions.Cast.canANSIStoreAssign(from_json(given), from_json(column_type)))


def _ddl(data_type: DataType) -> str:
    """Return a type as SQL states it; Spark itself quotes the names inside a nested one."""
    if isinstance(data_type, ArrayType | MapType | StructType):
        return StructType([StructField("c", data_type)]).toDDL().partition(" ")[2]
    return data_type.simpleString()
