"""Rows that Spark keeps while a write looks at them several times.

A plan that gives other rows each time it runs is so counted and written as one and the same.
"""

from __future__ import annotations

from contextlib import ExitStack

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def persisted_until(end: ExitStack, frame: DataFrame) -> DataFrame:
    """Return the frame, whose rows Spark keeps until `end` is closed."""
    frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
    end.callback(frame.unpersist)
    return frame
