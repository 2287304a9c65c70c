"""A DataFrame that is nothing but a scan of local Parquet files: its rows need not pass through the JVM at all.

A load from Parquet (backfill, migration) is the commonest large write. Where Spark's plan is the bare scan, tasks get names of files and
row groups, and pyarrow reads what Spark would have read. Anything that the two readers could see differently (INT96 or rebased times, other
types, partition columns in paths) keeps the ordinary road.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.optimized_plan import optimized_plan

_LOCAL: Final = "file:"
_MOST_FILES: Final = 1000
_BATCH_ROWS: Final = 1 << 16
#: Spark marks files whose old dates and times are in the Julian calendar with these keys.
_REBASED: Final = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Some row groups of one local file."""

    path: str
    numbers: tuple[int, ...]


def split_source(frame: DataFrame, tasks: int) -> list[list[RowGroups]] | None:
    """Return the row groups behind a DataFrame, spread over at most so many tasks; None when it is no bare scan of local Parquet."""
    files = _files_of_bare_scan(frame)
    if files is None or len(files) > _MOST_FILES:
        return None
    frame_schema = arrow_schema(frame)
    sized: list[tuple[int, RowGroups]] = []
    for path in files:
        metadata = pq.read_metadata(path)
        if not _reads_alike(metadata, frame_schema):
            return None
        groups = (metadata.row_group(n) for n in range(metadata.num_row_groups))
        sized += [(group.total_byte_size, RowGroups(path, (n,))) for n, group in enumerate(groups)]
    return _split_rows(sized, tasks)


def read_row_groups(parts: Sequence[RowGroups], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some row groups."""
    for part in parts:
        with pq.ParquetFile(part.path) as file:
            yield from file.iter_batches(_BATCH_ROWS, row_groups=list(part.numbers), columns=list(columns))


def _files_of_bare_scan(frame: DataFrame) -> list[str] | None:
    plan = optimized_plan(frame)
    if plan.nodeName() != "LogicalRelation" and not plan.nodeName().startswith("Relation"):
        return None
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation" or relation.partitionSchema().length():
        return None
    location: JavaObject = relation.location()
    if relation.fileFormat().toString() != "Parquet" or location.getClass().getSimpleName() != "InMemoryFileIndex":
        return None
    paths = [str(uri) for uri in location.inputFiles()]
    if not paths or not all(uri.startswith(_LOCAL) and "%" not in uri for uri in paths):
        return None
    return ["/" + uri.removeprefix(_LOCAL).lstrip("/") for uri in paths]


def _reads_alike(metadata: pq.FileMetaData, frame_schema: pa.Schema) -> bool:
    """Tell whether pyarrow reads a file's columns as Spark does."""
    if any(key in (metadata.metadata or {}) for key in _REBASED):
        return False
    leaves = (metadata.schema.column(n) for n in range(len(metadata.schema)))
    if any(leaf.physical_type == "INT96" for leaf in leaves):
        return False
    stored = metadata.schema.to_arrow_schema()
    if stored.names != frame_schema.names:
        return False
    return all(stored.field(n).type == frame_schema.field(n).type for n in range(len(frame_schema)))


def _split_rows(sized: list[tuple[int, RowGroups]], tasks: int) -> list[list[RowGroups]]:
    """Deal row groups out, the largest first, each to the task that has least; neighbours in a task keep their order."""
    loads: list[tuple[int, list[RowGroups]]] = [(0, []) for _ in range(max(1, min(tasks, len(sized))))]
    for size, part in sorted(sized, key=lambda entry: -entry[0]):
        least = min(range(len(loads)), key=lambda n: loads[n][0])
        loads[least] = (loads[least][0] + size, [*loads[least][1], part])
    return [sorted(parts, key=lambda part: (part.path, part.numbers)) for _, parts in loads if parts]
