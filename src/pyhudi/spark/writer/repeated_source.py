"""The rows of a write that may lose against others and be repeated."""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql import DataFrame

from pyhudi.spark.jvm.persistence import persisted_until


class RepeatedSource:
    """Hands out the rows of a write to each of its attempts.

    The first attempt has them as they come, computed once and stored nowhere, which is what nearly all writes need. From the second one on
    Spark stores them until the write ends: however often it is repeated, its source is computed twice, and all further attempts write the
    same rows.
    """

    def __init__(self, frame: DataFrame, end: ExitStack) -> None:
        """Take the rows; Spark stores nothing yet. `end` is closed when the write ends."""
        self._frame, self._end = frame, end
        self._attempts = 0

    def rows(self) -> DataFrame:
        """Return the rows for the next attempt."""
        self._attempts += 1
        if self._attempts == 2 and not _is_persisted(self._frame):
            self._frame = persisted_until(self._end, self._frame)
        return self._frame


def _is_persisted(frame: DataFrame) -> bool:
    """Tell whether the caller has Spark store the rows already: at the end they would be removed from there as well."""
    level = frame.storageLevel
    return level.useMemory or level.useDisk
