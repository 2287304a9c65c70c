"""Sorting rows apart by a label in each: by partition path, by base file."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.rows import PartitionRows
from pyhudi.schema.meta_columns import PARTITION_PATH


def split_by_partition(keyed: pa.Table) -> list[PartitionRows]:
    """Return keyed rows that hold `_hoodie_partition_path` by that path, without that column."""
    labels = keyed.column(PARTITION_PATH)
    return [PartitionRows(path, rows) for path, rows in split_rows(keyed.drop_columns([PARTITION_PATH]), labels)]


def split_rows(rows: pa.Table, labels: pa.ChunkedArray) -> list[tuple[str, pa.Table]]:
    """Return the rows of each label, in the order of the labels; rows are copied only where they lie scattered.

    Example:
        >>> parts = split_rows(pa.table({"n": [1, 2, 3]}), pa.chunked_array([["b", "a", "b"]]))
        >>> [(label, part["n"].to_pylist()) for label, part in parts]
        [('a', [2]), ('b', [1, 3])]
    """
    if rows.num_rows == 0:
        return []
    codes = labels.combine_chunks()
    if not pa.types.is_dictionary(codes.type):
        codes = codes.dictionary_encode()
    if len(codes.dictionary) == 1:
        return [(codes.dictionary[0].as_py(), rows)]
    counts: Counter[str] = Counter()
    for entry in codes.value_counts().to_pylist():
        counts[entry["values"]] += entry["counts"]
    if len(counts) > 1:
        indices = pc.rank(codes.dictionary, tiebreaker="dense").take(codes.indices)
        if not pc.all(pc.less_equal(indices[:-1], indices[1:])).as_py():
            rows = rows.take(pc.array_sort_indices(indices))
    parts, start = [], 0
    for label, count in sorted(counts.items()):
        parts.append((label, rows.slice(start, count)))
        start += count
    return parts
