"""`count()` of a whole merge-on-read snapshot, and SQL's `count(*)`, from the footers of base files and the keys in the logs: no job.

To count, Spark's scan would number every base row and test its bit, and the logs' rows would be merged whole. That the
answer stays cheap is worth one replaced method; frames that are cached, and every other query, are Spark's to answer.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.read.snapshot.slice_cache import count_slice
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.jvm.patches import Hook, replace_method
from pyhudi.spark.scan.file_index import merges
from pyhudi.spark.scan.slice_merge import LOCAL_BYTES
from pyhudi.spec.files.file_group import FileSlice

_ATTRIBUTE: Final = "_pyhudi_counted"
#: More files are Spark's to open, on all its executors.
_MOST_SLICES: Final = 256


def install() -> None:
    """Replace `DataFrame.count`; a second call does nothing."""
    replace_method(ClassicDataFrame, "count", _count)


def with_count(frame: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Return the frame, which shows the snapshot, so that its `count()` may be answered here.

    That is so for merge-on-read snapshots all of whose rows count; the changes of a span are some of the rows.
    """
    if _counts_slices(snapshot):
        frame.__dict__[_ATTRIBUTE] = snapshot
    return frame


def counted_rows(snapshot: Snapshot) -> int | None:
    """Return the rows of a merge-on-read snapshot; None where counting them is Spark's."""
    return _rows(snapshot) if _counts_slices(snapshot) else None


def _counts_slices(snapshot: Snapshot) -> bool:
    return merges(snapshot) and snapshot.condition is None


def _count(frame: DataFrame, original: Hook) -> Any:
    snapshot = frame.__dict__.get(_ATTRIBUTE)
    # Counting a cached frame is how its cache is filled.
    count = _rows(snapshot) if isinstance(snapshot, Snapshot) and not frame.is_cached else None
    return original(frame) if count is None else count


def _rows(snapshot: Snapshot) -> int | None:
    """Return the rows of a snapshot, or None when that is too much work for one process."""
    slices: list[FileSlice] = []
    for path in snapshot.partition_paths:
        slices += snapshot.slices(path)
        if len(slices) > _MOST_SLICES:
            return None
    snapshot.check_not_cleaned()
    if sum(log.size for one in slices for log in one.logs) > LOCAL_BYTES:
        return None
    return sum(LocalEngine().run(partial(count_slice, snapshot), slices))
