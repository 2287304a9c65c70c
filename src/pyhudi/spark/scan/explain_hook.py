"""`DataFrame.explain` says more about Hudi tables: how many files are read, and what rules the others out."""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakValueDictionary

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.patches import Hook, replace_method
from pyhudi.spark.scan.file_index import SnapshotFileIndex
from pyhudi.spec.files.file_group import FileSlice

_INDEXES: WeakValueDictionary[str, SnapshotFileIndex] = WeakValueDictionary()


def remember(index: SnapshotFileIndex) -> None:
    """Let plans in which an index stands be explained: there only its text is found."""
    _INDEXES[index.toString()] = index


def install() -> None:
    """Extend `DataFrame.explain`; a second call does nothing."""

    def hook(frame: DataFrame, original: Hook, *args: Any, **kwargs: Any) -> None:
        original(frame, *args, **kwargs)
        lines = explain_scans(frame)
        if lines:
            print("== Hudi files ==", *lines, "", sep="\n")  # noqa: T201 - where Spark's own text goes

    replace_method(ClassicDataFrame, "explain", hook)


def explain_scans(frame: DataFrame) -> list[str]:
    """Return a line for each scan of a Hudi table in the plan of a DataFrame: what it reads, and what rules out the rest.

    Example:
        >>> schema = pa.schema({"id": pa.int64(), "city": pa.string()})
        >>> trips = HudiTable.create(f"{folder}/trips", schema, name="trips", keys=["id"], partition_by=["city"])
        >>> _ = trips.insert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
        >>> explain_scans(spark.read.format("hudi").load(f"{folder}/trips").where("city = 'rome'"))
        ['file:...trips: 1 of 2 file slices, ... bytes; ruled out: 1 by partition path']
    """
    if not _INDEXES or frame.isStreaming:  # a streaming query has no plan before it runs
        return []
    plan = frame._jdf.queryExecution().sparkPlan()  # noqa: SLF001 - no public name
    return [line for scan in _scans(plan) if (line := _line(scan)) is not None]


def _scans(plan: JavaObject) -> list[JavaObject]:
    """Return the file scans among the leaves of a physical plan."""
    return [leaf for leaf in jvm.items_of(plan.collectLeaves()) if leaf.getClass().getSimpleName() == "FileSourceScanExec"]


def _line(scan: JavaObject) -> str | None:
    index = _INDEXES.get(str(scan.relation().location().toString()))
    if index is None:
        return None
    slices = index.explain_pruning(scan.partitionFilters(), scan.dataFilters())
    read = [file_slice for file_slice, reason in slices if reason is None]
    sizes = f"{sum(map(_bytes, read))} of {sum(_bytes(file_slice) for file_slice, _ in slices)} bytes"
    reasons = Counter(reason for _, reason in slices if reason is not None)
    ruled_out = ", ".join(f"{count} by {reason}" for reason, count in sorted(reasons.items()))
    return f"{index.location}: {len(read)} of {len(slices)} file slices, {sizes}" + (f"; ruled out: {ruled_out}" if ruled_out else "")


def _bytes(file_slice: FileSlice) -> int:
    return sum(log.size for log in file_slice.logs) + (0 if file_slice.base is None else file_slice.base.size)
