"""Floats as the doubles with the same text, as Apache Hudi widens them, computed by Spark: a float of 0.1 becomes a double of 0.1.

Rule: `schema.float_columns`, which does the same to columns of Arrow. Spark compiles these expressions into the stage of the scan; a cast
by way of a string makes three objects for each row. The power of ten of a float is a column of its own below the projection: the
expression names it nine times, and a stage with more than 8,000 bytes of code in a method is not compiled by the JVM.
Design: docs/design/0124-schema-evolution-on-write.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import IntegerType

from pyhudi.schema.float_columns import EXACT_MAX, EXACT_MIN, NEARLY_HALF, power_of_exponent
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.column_expressions import Expressions, column_of

#: The exponents of floats from 2^-24 to 10^7, for which the shortest decimal is computed.
_EXPONENTS: Final = range(-24, 24)


def exact_double(value: str, floats: list[str]) -> str:
    """Return SQL for the double that has the text of a float.

    Args:
        value: SQL of the float.
        floats: it is added to these, for which the frame needs the columns of `with_powers`.

    Example:
        >>> floats = []
        >>> sql = exact_double("x", floats)
        >>> frame = with_powers(spark, spark.sql("SELECT CAST(0.1 AS FLOAT) AS x"), floats)
        >>> frame.select(F.expr(sql).alias("d")).collect()
        [Row(d=0.1)]
    """
    floats.append(value)
    number, power = _float_name(value), _power_name(value)
    wide = f"CAST({number} AS DOUBLE)"
    size, finer = f"abs({wide})", f"({power} * 10D)"
    short = f"rint({wide} * {power}) / {power}"
    scaled = f"({wide} * {finer})"
    text = double_of_text(number)
    # One digit more, unless two decimals are as near.
    long = f"IF(abs({scaled} - rint({scaled})) > {NEARLY_HALF}D, {text}, rint({scaled}) / {finer})"
    computed = f"IF(CAST({short} AS FLOAT) = {number}, {short}, {long})"
    # Spark compares NaN as greater than all numbers: it takes the text, as infinities do.
    return f"IF({size} >= {EXACT_MIN}D AND {size} < {EXACT_MAX}D, {computed}, IF({number} = 0, {wide}, {text}))"


def double_of_text(value: str) -> str:
    """Return SQL for the same by way of the text of the float, for the lambdas of lists and maps: Spark does not compile those."""
    return f"CAST(CAST({value} AS STRING) AS DOUBLE)"


def with_powers(session: SparkSession, frame: DataFrame, floats: Sequence[str]) -> DataFrame:
    """Return a frame with the columns that `exact_double` needs for these floats beside its own."""
    if not floats:
        return frame
    numbers = frame.select("*", *(F.expr(value).alias(_float_name(value)) for value in floats))
    return numbers.select("*", *(_power(session, _float_name(value)).alias(_power_name(value)) for value in floats))


def _power_name(value: str) -> str:
    return f"_pyhudi_power_{_hash(value)}"


def _float_name(value: str) -> str:
    return f"_pyhudi_float_{_hash(value)}"


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()[:16]


def _power(session: SparkSession, value: str) -> Column:
    """Return the power of ten for a float, a column; null beyond the range that is computed."""
    make = Expressions(session)
    number = jvm.sql_parser(session).parseExpression(value)
    exponent = make.invoke_static("java.lang.Math", "getExponent", [number], make.java_type(IntegerType()))
    powers = F.array(*(F.lit(power_of_exponent(one)) for one in _EXPONENTS))
    return F.get(powers, column_of(session, exponent) - _EXPONENTS.start)
