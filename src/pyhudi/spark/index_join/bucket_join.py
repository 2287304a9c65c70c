"""Sends rows to the file group of their bucket: the index BUCKET on Spark. Only the keys cross into Python.

The rules: `pyhudi.index.bucket_index`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_index import BucketIndex, Buckets
from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY


@dataclass(frozen=True, slots=True)
class BucketLabels:
    """The buckets of the partitions of a write: `labels` are the file ids of their file groups by number, or how they begin, or None."""

    buckets: Mapping[str, Buckets]
    labels: Mapping[str, Sequence[str | None]]

    def of(self, keys: pa.Array, paths: pa.Array) -> pa.Array:
        """Return the label of the bucket of each key."""
        labels = np.full(len(keys), None, object)
        keys, paths = keys.cast(pa.string()), np.array(paths.to_pylist(), object)
        for path in set(paths[np.flatnonzero(keys.is_valid())]):
            rows = np.flatnonzero((paths == path) & keys.is_valid().to_numpy(zero_copy_only=False))
            labels[rows] = np.array(self.labels[path], object)[self.buckets[path].numbers(keys.take(pa.array(rows)))]
        return pa.array(labels, pa.string())


def bucket_labels(index: BucketIndex, view: FileSystemView, paths: Sequence[str], *, new_groups: bool, only_known: bool) -> BucketLabels:
    """Return where the rows of partitions go.

    Args:
        index: the table's.
        view: the table's files.
        paths: the partitions of the rows.
        new_groups: all rows begin new file groups.
        only_known: rows of buckets without file group go nowhere.
    """
    buckets = {path: index.hashing.buckets(view, path) for path in paths}
    labels: dict[str, list[str | None]] = {}
    for path, buckets_of_path in buckets.items():
        slices = {} if new_groups else buckets_of_path.slices(view, path)
        begun = [None if only_known else beginning for beginning in buckets_of_path.beginnings]
        labels[path] = [slices[number].group.file_id if number in slices else begun[number] for number in range(len(begun))]
    return BucketLabels(buckets, labels)


def assign_buckets(keyed: DataFrame, labels: BucketLabels) -> DataFrame:
    """Add the file id of the bucket of each row, or how it begins where the file group is yet to be made."""
    # pyspark exports this name in a way that type checkers cannot follow.
    function = F.arrow_udf(labels.of, "string")  # type: ignore[attr-defined]
    return keyed.withColumn(FILE_ID_COLUMN, function(RECORD_KEY, PARTITION_PATH))
