"""Adds to each incoming row the file group that holds its key, by a join with the places of keys: what the table's base files hold.

Only the meta columns of the latest base files are read, by Spark's own Parquet scan; records that began in logs come from the driver.
Rules: `HoodieSimpleIndex`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.log_inserts import LogInsertDetector, keys_only_in_logs
from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.kernels.keys.key_probe import SEVERAL
from pyhudi.spark.index_join.key_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.jvm.error_translation import explain_missing
from pyhudi.spark.jvm.parquet_options import parquet_options
from pyhudi.spark.jvm.store_access import prepare_reads
from pyhudi.spec.files.file_group import BaseFile, FileSlice
from pyhudi.storage.storage_protocol import Storage

#: The partition that a stored record is in, which need not be that of the incoming row.
STORED_PATH: Final = "_pyhudi_place_path"
_FILE_NAME: Final = "_hoodie_file_name"
#: Paths are names of files, though a partition value may look like a pattern (`DataSource.GLOB_PATHS_KEY`).
_NAMES: Final = {"__globPaths__": "false"}
_STORED = StructType([StructField(name, StringType()) for name in (RECORD_KEY, PARTITION_PATH, _FILE_NAME)])


def join_locations(keyed: DataFrame, locations: DataFrame | None, *, positions: bool, in_any_partition: bool = False) -> DataFrame:
    """Add the file id of the group that holds each key in the row's partition; null for a key that is new there.

    A row comes back once for each stored record of its key.

    Args:
        keyed: Rows with record key and partition path.
        locations: What `stored_locations` or the record index says; None when the table has no records.
        positions: Whether to add the place of the record in its base file, too.
        in_any_partition: Find keys in all partitions, and add which one it is.
    """
    if locations is None:
        nothing = {FILE_ID_COLUMN: F.lit(None).cast("string")} | ({POSITION_COLUMN: F.lit(None).cast("long")} if positions else {})
        return keyed.withColumns(nothing | ({STORED_PATH: F.lit(None).cast("string")} if in_any_partition else {}))
    locations = locations if positions else locations.drop(POSITION_COLUMN)
    if in_any_partition:
        return keyed.join(locations, RECORD_KEY, "left")
    return keyed.join(locations.withColumnRenamed(STORED_PATH, PARTITION_PATH), [PARTITION_PATH, RECORD_KEY], "left")


def stored_locations(session: SparkSession, paths: Sequence[str], lookup: LookupContext) -> DataFrame | None:
    """Return record key, partition, file id and place in its base file of all records in some partitions; None when there are none."""
    slices = [file_slice for path in paths for file_slice in lookup.view.latest_slices(path)]
    files = [file_slice.base for file_slice in slices if file_slice.base is not None]
    parts = [_stored_keys(session, lookup.storage, files)] if files else []
    if (born := _born_in_logs(slices, lookup)) is not None:
        nowhere = F.lit(SEVERAL).cast("long").alias(POSITION_COLUMN)
        parts.append(session.createDataFrame(born).select(RECORD_KEY, STORED_PATH, FILE_ID_COLUMN, nowhere))
    return functools.reduce(DataFrame.unionByName, parts) if parts else None


def _stored_keys(session: SparkSession, storage: Storage, files: Sequence[BaseFile]) -> DataFrame:
    paths = [f"{storage.uri.rstrip('/')}/{file.path}" for file in files]
    base = prepare_reads(session, storage)
    # A key that is not read would be inserted again: pages are verified whatever the options of reads say.
    reader = session.read.schema(_STORED).options(**parquet_options(verify=True), **_NAMES)
    try:
        scan = reader.parquet(*paths)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        missing = (error.getMessageParameters() or {}).get("path", "")
        raise explain_missing(base, missing.removeprefix(f"{base}/")) from None
    file_id = F.substring_index(_FILE_NAME, "_", 1).alias(FILE_ID_COLUMN)
    path, row = F.col(PARTITION_PATH).alias(STORED_PATH), F.col("_metadata.row_index").alias(POSITION_COLUMN)
    return scan.select(RECORD_KEY, path, file_id, row)


def _born_in_logs(slices: Sequence[FileSlice], lookup: LookupContext) -> pa.Table | None:
    """Return keys, partitions and file ids of the records that only logs hold; None when there are none."""
    origins = LogInsertDetector(lookup.view)
    file_slices = [file_slice for file_slice in slices if origins.may_begin_records(file_slice)]
    keys_of_slices = lookup.engine.run(functools.partial(keys_only_in_logs, lookup.storage, lookup.context, lookup.view), file_slices)
    tables = [
        pa.table(
            {
                RECORD_KEY: keys,
                STORED_PATH: pa.repeat(pa.scalar(file_slice.group.partition_path), len(keys)),
                FILE_ID_COLUMN: pa.repeat(pa.scalar(file_slice.group.file_id), len(keys)),
            }
        )
        for file_slice, keys in zip(file_slices, keys_of_slices, strict=True)
        if len(keys)
    ]
    return pa.concat_tables(tables) if tables else None
