"""Asks the record index of the metadata table where keys live, by Spark tasks: each file group of the index is asked by one.

Keys cross into Python and nothing else. Rules: `SparkMetadataTableGlobalRecordLevelIndex`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.metadata_lookup import usable_metadata_table
from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX
from pyhudi.metadata_table.read.record_groups import RecordIndexGroups
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.engine.task_results import task_identity
from pyhudi.spark.index_join.key_join import STORED_PATH
from pyhudi.spark.jvm.persistence import persisted_until

_log = logging.getLogger("pyhudi.index")
_GROUP: Final = "_pyhudi_index_group"
#: Why a task could not answer; null where it could.
_ERROR: Final = "_pyhudi_error"
_ANSWER: Final = pa.schema([(name, pa.string()) for name in (RECORD_KEY, STORED_PATH, FILE_ID_COLUMN, _ERROR)])
_ANSWER_TYPES: Final = ", ".join(f"`{name}` string" for name in _ANSWER.names)
#: Keys are asked so many at a time: a task holds no more of them as Python values.
_KEYS_AT_ONCE: Final = 1 << 18


def record_index_locations(
    keyed: DataFrame, lookup: LookupContext, persisted: contextlib.ExitStack, *, in_any_partition: bool
) -> DataFrame | None:
    """Return record key, partition and file id of those of the keys that the index knows.

    Args:
        keyed: Rows with record key and partition path.
        lookup: What an index may ask.
        persisted: Spark keeps the answers until it is closed.
        in_any_partition: Ask for keys in all partitions, not in those of their rows.

    Returns:
        None, with a warning, when the index cannot be asked or names file groups that are missing.
    """
    try:
        indices = persisted_until(persisted, _ask_groups(keyed, _groups(lookup, in_any_partition=in_any_partition)))
        _check(indices, lookup)
    except (CorruptTableError, UnsupportedError) as error:
        _log.warning("the record index of %s is not asked, its files are instead: %s", lookup.storage.uri, error)
        return None
    return indices.drop(_ERROR).withColumn(POSITION_COLUMN, F.lit(SEVERAL).cast("long"))


def _groups(lookup: LookupContext, *, in_any_partition: bool) -> RecordIndexGroups:
    groups = usable_metadata_table(lookup, RECORD_INDEX).record_index_groups
    if groups.is_by_partition and in_any_partition:
        raise UnsupportedError("it is one by partition, which Spark's tasks do not ask in all of them")
    return groups


def _check(locations: DataFrame, lookup: LookupContext) -> None:
    """Refuse answers of a damaged index.

    Raises:
        CorruptTableError: a task could not read it, or it names a file group that is not there.
    """
    known: dict[str, set[str]] = {}
    for path, file_id, error in locations.select(STORED_PATH, FILE_ID_COLUMN, _ERROR).distinct().collect():
        if error is not None:
            raise CorruptTableError(error)
        if path not in known:
            known[path] = {file_slice.group.file_id for file_slice in lookup.view.latest_slices(path)}
        if file_id not in known[path]:
            raise CorruptTableError(f"it names file group {file_id} in partition '{path}', which is not there")


def _ask_groups(keyed: DataFrame, groups: RecordIndexGroups) -> DataFrame:
    def number(keys: pa.Array, paths: pa.Array) -> pa.Array:
        return pa.array(groups.numbers(keys.cast(pa.string()), paths.cast(pa.string())).astype(np.int32))

    def look_up(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        group = task_identity()[0]
        for keys in _key_lots(batches):
            yield from _answers(groups, group, keys)

    # pyspark exports this name in a way that type checkers cannot follow.
    numbered = F.arrow_udf(number, "int")(RECORD_KEY, PARTITION_PATH)  # type: ignore[attr-defined]
    rows = keyed.select(RECORD_KEY, PARTITION_PATH).filter(F.col(RECORD_KEY).isNotNull()).withColumn(_GROUP, numbered)
    spread = rows.filter(F.col(_GROUP) >= 0).repartitionById(max(1, groups.count), _GROUP).select(RECORD_KEY)
    return spread.sortWithinPartitions(RECORD_KEY).mapInArrow(look_up, _ANSWER_TYPES)


def _key_lots(batches: Iterable[pa.RecordBatch]) -> Iterator[set[str]]:
    """Yield the keys of a task, which come sorted, some at a time; each is in one lot once."""
    lot: set[str] = set()
    for batch in batches:
        keys = batch.column(0).to_pylist()
        if len(lot) >= _KEYS_AT_ONCE and keys[0] not in lot:
            yield lot
            lot = set()
        lot.update(keys)
    if lot:
        yield lot


def _answers(groups: RecordIndexGroups, group: int, keys: set[str]) -> Iterator[pa.RecordBatch]:
    try:
        locations = [(key, location.partition_path, location.file_id) for key, location in groups.locations(group, keys)]
    except (CorruptTableError, UnsupportedError) as error:
        yield pa.RecordBatch.from_pylist([{_ERROR: str(error)}], schema=_ANSWER)
        return
    columns = [pa.array(values, pa.string()) for values in zip(*locations, strict=True)] if locations else [pa.array([], pa.string())] * 3
    yield pa.RecordBatch.from_arrays([*columns, pa.nulls(len(locations), pa.string())], schema=_ANSWER)
