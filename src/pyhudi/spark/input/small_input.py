"""Decides whether a DataFrame's rows come to the driver at once, and brings them.

A write whose input is small runs on the driver in milliseconds; only a large one is worth Spark tasks. What is small is decided by the
plan's own statistics, and where those only know an upper bound (a filter, a join), by fetching rows up to the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from pyhudi.spark.input.local_rows import LOCAL_RELATION, local_rows
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.optimized_plan import optimized_plan
from pyhudi.spark.jvm.spark_types import nullable_schema

#: Plan nodes after which Spark's size estimate is an upper bound only.
_REDUCING: Final = ("Filter", "Join", "Aggregate", "Limit", "Sample", "Distinct", "Except", "Intersect")
#: An RDD, as `createDataFrame` makes one of Python rows: Spark takes it for the largest there can be, unless it was made of a plan.
_RDD: Final = "LogicalRDD"
_UNKNOWN_BYTES: Final = 1 << 50
_BYTES_PER_ROW_MIN: Final = 64


@dataclass(frozen=True, slots=True)
class Collected:
    """The rows, or None when they stay in Spark, and why."""

    rows: pa.Table | None
    reason: str


def collect_small(frame: DataFrame, max_bytes: int) -> Collected:
    """Bring the rows of a DataFrame to the driver when they are few.

    Args:
        frame: Any DataFrame; at most one Spark job runs for it.
        max_bytes: What counts as small, by Spark's estimate of the plan's output.
    """
    plan, size = _plan_and_size(frame)
    if size <= max_bytes:
        return Collected(_rows(frame, plan), f"the plan's estimate of {size:,} bytes is at most {max_bytes:,}")
    if not _may_be_small(plan.toString(), size):
        return Collected(None, f"the plan's estimate of {size:,} bytes is above {max_bytes:,}")
    most = max_bytes // _row_bytes(frame)
    rows = fetch_rows(frame.limit(most + 1))
    if rows.num_rows <= most:
        return Collected(rows, f"{rows.num_rows:,} rows, at most {most:,}")
    return Collected(None, f"more than {most:,} rows")


def is_made_of_values(frame: DataFrame) -> bool:
    """Tell whether Spark's optimizer already holds the rows: bringing them again costs nothing and gives the same."""
    plan, _ = _plan_and_size(frame)
    return bool(plan.nodeName() == LOCAL_RELATION)


def rows_of_small_plan(frame: DataFrame, max_bytes: int) -> pa.Table | None:
    """Return the rows when the plan's estimate is at most `max_bytes`, else None; nothing runs to find out."""
    plan, size = _plan_and_size(frame)
    return _rows(frame, plan) if size <= max_bytes else None


def _plan_and_size(frame: DataFrame) -> tuple[JavaObject, int]:
    plan = optimized_plan(frame)
    return plan, int(plan.stats().sizeInBytes())


def _rows(frame: DataFrame, plan: JavaObject) -> pa.Table:
    local = local_rows(frame, plan)
    return fetch_rows(frame) if local is None else local


def fetch_rows(frame: DataFrame) -> pa.Table:
    """Return the rows; required fields of structs come as ones that may be null: Spark's `toArrow` fails on null structs in maps."""
    if any(_has_required_fields(field.dataType) for field in frame.schema.fields):
        frame = frame.to(nullable_schema(frame))
    return frame.toArrow()


def _has_required_fields(spark: DataType) -> bool:
    if isinstance(spark, StructType):
        return any(not field.nullable or _has_required_fields(field.dataType) for field in spark.fields)
    parts = (getattr(spark, name, None) for name in ("elementType", "valueType"))
    return any(_has_required_fields(part) for part in parts if part is not None)


def estimated_rows(frame: DataFrame) -> int:
    """Return how many rows a DataFrame has by Spark's estimate of its plan, which may be far above."""
    _, size = _plan_and_size(frame)
    return size // _row_bytes(frame)


def _row_bytes(frame: DataFrame) -> int:
    return max(_BYTES_PER_ROW_MIN, int(frame._jdf.schema().defaultSize()))  # noqa: SLF001 - no public name


def _may_be_small(plan_text: str, size: int) -> bool:
    """Tell whether a plan's output may be much smaller than its estimate."""
    doubtful = (*_REDUCING, _RDD) if size >= _UNKNOWN_BYTES else _REDUCING
    nodes = (line.lstrip(" :+-") for line in plan_text.splitlines())
    return any(node.startswith(doubtful) for node in nodes)
