"""Leaves the base rows out of a scan that the log files of their slice replaced or deleted.

Each base file of a slice with logs is scanned as a partition of its own, whose extra partition column holds a bit for
every row, set when the row no longer counts. A filter tests the bit of each row by the row index that Spark's Parquet
reader gives, right whatever row groups were skipped. All of it runs in generated code, in the scan's own stage. Design:
docs/design/0061-spark-merge-on-read.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType, ByteType, IntegerType, LongType, StructField

from pyhudi.spark import jvm
from pyhudi.spark.expressions import Expressions
from pyhudi.spark.jvm import JavaObject

#: The partition column of the bits; null for files all of whose rows count.
MASK: Final = StructField("_pyhudi_masked_rows", BinaryType())

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
_BUFFER = "java.nio.ByteBuffer"


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
    name = jvm.companion(session, "execution.datasources.parquet.ParquetFileFormat").ROW_INDEX_TEMPORARY_COLUMN_NAME()
    return StructField(name, LongType())


def without_masked(session: SparkSession, relation: JavaObject, shown: Sequence[str]) -> JavaObject:
    """Return a plan of the relation's rows that count.

    Args:
        session: The session of the plan.
        relation: A `LogicalRelation` over Parquet files with the partition column `MASK` and the row index.
        shown: The columns to keep.
    """
    make = Expressions(session)
    columns = {column.name(): column for column in jvm.items_of(relation.output())}
    condition = _counts(make, columns[MASK.name], columns[row_index_column(session).name])
    filtered = jvm.java_class(session, f"{_LOGICAL}.Filter")(condition, relation)
    return jvm.java_class(session, f"{_LOGICAL}.Project")(make.seq([columns[name] for name in shown]), filtered)


def _counts(make: Expressions, mask: JavaObject, row: JavaObject) -> JavaObject:
    """Return the condition: there are no bits, or the row is beyond them, or its bit is not set.

    `ByteBuffer` checks the bounds and leaves nothing to collect: the compiler sees that it does not escape.
    """
    eight = make.literal(3)  # as a shift
    in_byte = make.call("BitwiseAnd", make.cast(row, IntegerType()), make.literal(7))
    index = make.cast(make.call("ShiftRight", row, eight), IntegerType())
    byte = make.invoke(make.invoke_static(_BUFFER, "wrap", [mask], make.object_type(_BUFFER)), "get", [index], make.java_type(ByteType()))
    bit = make.call("BitwiseAnd", make.call("ShiftRight", make.cast(byte, IntegerType()), in_byte), make.literal(1))
    beyond = make.call("ShiftLeft", make.cast(make.call("OctetLength", mask), LongType()), eight)
    is_clear = make.call("EqualTo", bit, make.literal(0))
    is_beyond = make.call("GreaterThanOrEqual", row, beyond)
    return make.call("Or", make.call("IsNull", mask), make.call("Or", is_beyond, is_clear))
