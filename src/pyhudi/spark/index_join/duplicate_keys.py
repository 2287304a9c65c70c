"""Located rows of a merge-on-read table without those of deleted records whose key was inserted again in another file group.

The rule, and why: `pyhudi.index.live_records.of_live_records`. Keys with records in several groups are rare; they are brought to the
driver, which asks the logs of their slices.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.index.index_protocol import Hits, LookupContext
from pyhudi.index.live_records import mark_live, of_live_records
from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY

_FILES = "_pyhudi_files"


def drop_deleted_duplicates(rows: DataFrame, lookup: LookupContext) -> DataFrame:
    """Return the rows without those that only a deleted record brings; the same DataFrame when there are none.

    Args:
        rows: Rows with record key, partition path and file id, kept by Spark; a row occurs once for each record of its key.
        lookup: What an index may ask.
    """
    groups = rows.filter(F.col(FILE_ID_COLUMN).isNotNull()).groupBy(PARTITION_PATH, RECORD_KEY)
    duplicates = groups.agg(F.collect_set(FILE_ID_COLUMN).alias(_FILES)).filter(F.size(_FILES) > 1).collect()
    by_path: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for path, key, files in duplicates:
        by_path[path][key] = set(files)
    removed = [(path, key, file) for path, keys in by_path.items() for key, file in _deleted_records(lookup, path, keys)]
    if not removed:
        return rows
    names = [PARTITION_PATH, RECORD_KEY, FILE_ID_COLUMN]
    return rows.join(F.broadcast(rows.sparkSession.createDataFrame(removed, names)), names, "left_anti")


def _deleted_records(lookup: LookupContext, path: str, keys: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield key and file id of the records of a partition that are not to be changed."""
    strings = pa.array(sorted(keys), pa.string())
    file_slices = {file_slice.group.file_id: file_slice for file_slice in lookup.view.latest_slices(path)}
    named = sorted(set().union(*keys.values()))
    hits_of_files = [Hits(file_slices[file], _rows(strings, keys, file)) for file in named]
    for before, after in zip(hits_of_files, of_live_records(hits_of_files, strings, functools.partial(mark_live, lookup)), strict=True):
        for key, was, stays in zip(strings.to_pylist(), before.rows.to_pylist(), after.rows.to_pylist(), strict=True):
            if was is not None and stays is None:
                yield key, before.file_slice.group.file_id


def _rows(strings: pa.StringArray, keys: Mapping[str, set[str]], file: str) -> pa.Int64Array:
    """Return a row number for each key that the file holds; which one does not matter here."""
    numbers: Sequence[int | None] = [0 if file in keys[key] else None for key in strings.to_pylist()]
    return pa.array(numbers, pa.int64())
