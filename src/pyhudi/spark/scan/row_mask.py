"""Leaves the base rows out of a scan that the log files of their slice replaced or deleted.

Each base file of a slice with logs is scanned as a partition of its own, whose extra partition column holds a bit for
every row, set when the row no longer counts. A filter tests the bit of each row by the row index that Spark's Parquet
reader gives, right whatever row groups were skipped. All of it runs in generated code, in the scan's own stage. Design:
docs/design/0061-spark-merge-on-read.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from pyspark.sql import SparkSession
from pyspark.sql.types import ByteType, IntegerType, LongType, StringType, StructField

from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.column_expressions import Expressions
from pyhudi.spark.jvm.jvm import JavaObject

#: The partition column of the bits; empty for files all of whose rows count. A text, since the bytes of Spark's strings are read in place:
#: a test of `BINARY` bytes makes an object for each row.
MASK: Final = StructField("_pyhudi_masked_rows", StringType(), nullable=False)

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
_INTEGER, _BYTE = IntegerType(), ByteType()


def bits_of(positions: npt.NDArray[np.int64]) -> bytes:
    """Return the bits of the rows at these positions, lowest bit first; rows beyond the last byte count.

    Example:
        >>> bits_of(np.array([0, 9])).hex()
        '0102'
    """
    if not len(positions):
        return b""
    flags = np.zeros(int(positions.max()) + 1, dtype=np.bool_)
    flags[positions] = True
    return np.packbits(flags, bitorder="little").tobytes()


def row_index_column(session: SparkSession) -> StructField:
    """Return the column that Spark's Parquet reader fills with a row's position in its file.

    `_metadata.row_index` is the same wrapped in a struct, which costs as much again.
    """
    return StructField(_row_index_name(session), LongType())


def without_masked(session: SparkSession, relation: JavaObject) -> JavaObject:
    """Return a plan of the relation's rows that count.

    Args:
        session: The session of the plan.
        relation: A `LogicalRelation` over Parquet files which has the row index among its data columns and `MASK` among its partition
        columns.
    """
    return jvm.java_class(session, f"{_LOGICAL}.Filter")(_counts(session), relation)


@lru_cache(maxsize=8)
def _row_index_name(session: SparkSession) -> str:
    return str(jvm.companion(session, "execution.datasources.parquet.ParquetFileFormat").ROW_INDEX_TEMPORARY_COLUMN_NAME())


@lru_cache(maxsize=8)
def _counts(session: SparkSession) -> JavaObject:
    """Return the condition: the row is beyond the bits, or its bit is not set.

    The columns are named, not bound, so that the expression is made once; Spark's analysis binds them. `getByte` knows no bounds: the
    first half of the `Or` keeps it within them, and Spark evaluates from left to right.
    """
    make = Expressions(session)
    column = jvm.companion(session, "catalyst.analysis.UnresolvedAttribute").quoted
    mask, row = column(MASK.name), column(_row_index_name(session))
    index = make.narrow_column(make.call("ShiftRight", row, make.literal(3)), _INTEGER)
    is_beyond = make.call("GreaterThanOrEqual", index, make.invoke(mask, "numBytes", [], make.java_type(_INTEGER)))
    in_byte = make.call("BitwiseAnd", make.narrow_column(row, _INTEGER), make.literal(7))
    byte = make.narrow_column(make.invoke(mask, "getByte", [index], make.java_type(_BYTE)), _INTEGER)
    bit = make.call("BitwiseAnd", make.call("ShiftRight", byte, in_byte), make.literal(1))
    return make.call("Or", is_beyond, make.call("EqualTo", bit, make.literal(0)))
