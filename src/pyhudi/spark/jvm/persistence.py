"""Rows that Spark keeps while a write looks at them several times.

A plan that gives other rows each time it runs is so counted and written as one and the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

_COMPRESSED: Final = "spark.sql.inMemoryColumnarStorage.compressed"
#: Of two writes at one time, the second would take the setting of the first for the user's.
_LOCK: Final = threading.Lock()


def persisted_until(end: ExitStack, frame: DataFrame) -> DataFrame:
    """Return the frame, whose rows Spark keeps until `end` is closed."""
    with _without_compression(frame.sparkSession):
        frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
    end.callback(frame.unpersist)
    return frame


@contextmanager
def _without_compression(session: SparkSession) -> Iterator[None]:
    """Let Spark keep what is persisted in the block as it is: it looks for the best encoding of each column with hash tables of its values.

    These take two fifths of the processor time of a large write, for rows that are read once or twice. `persist` clones the session with
    its settings, hence the setting has to be different only as long as that call takes.
    """
    with _LOCK:
        before = session.conf.get(_COMPRESSED, None)
        session.conf.set(_COMPRESSED, "false")
        try:
            yield
        finally:
            if before is None:
                session.conf.unset(_COMPRESSED)
            else:
                session.conf.set(_COMPRESSED, before)
