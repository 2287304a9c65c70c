"""Finds the file group of each incoming key by a join with the keys that the table's base files hold: the index SIMPLE on Spark.

Only the meta columns of the latest base files are read, by Spark's own Parquet scan; records that began in logs come from the driver.
Rules: `HoodieSimpleIndex`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi.kernels.incoming import POSITION_COLUMN
from pyhudi.kernels.probe import SEVERAL
from pyhudi.spark.key_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.file_group import BaseFile

FILE_ID: Final = "_pyhudi_file_id"
_FILE_NAME: Final = "_hoodie_file_name"
_STORED = StructType([StructField(name, StringType()) for name in (RECORD_KEY, PARTITION_PATH, _FILE_NAME)])


def locate(
    keyed: DataFrame, base_uri: str, files: Sequence[BaseFile], born_in_logs: pa.Table | None = None, *, positions: bool = False
) -> DataFrame:
    """Add the file id of the group that holds each key in the row's partition; null for a key that is new there.

    A row comes back once for each stored record of its key.

    Args:
        keyed: Rows with record key and partition path.
        base_uri: The table's base path.
        files: The latest base files of the partitions that the rows may touch.
        born_in_logs: Record key, partition path and file id of records that logs hold and no base file does.
        positions: Whether to add the place of the record in its base file, too.
    """
    if not files and born_in_logs is None:
        found = keyed.withColumn(FILE_ID, F.lit(None).cast("string"))
        return found.withColumn(POSITION_COLUMN, F.lit(None).cast("long")) if positions else found
    parts = [_stored_keys(keyed.sparkSession, base_uri, files)] if files else []
    if born_in_logs is not None:
        nowhere = F.lit(SEVERAL).cast("long").alias(POSITION_COLUMN)
        parts.append(keyed.sparkSession.createDataFrame(born_in_logs).select(RECORD_KEY, PARTITION_PATH, FILE_ID, nowhere))
    stored = functools.reduce(DataFrame.unionByName, parts)
    stored = stored if positions else stored.drop(POSITION_COLUMN)
    return keyed.join(stored, [PARTITION_PATH, RECORD_KEY], "left")


def _stored_keys(session: SparkSession, base_uri: str, files: Sequence[BaseFile]) -> DataFrame:
    paths = [f"{base_uri.rstrip('/')}/{file.path}" for file in files]
    scan = session.read.schema(_STORED).parquet(*paths)
    file_id = F.substring_index(_FILE_NAME, "_", 1).alias(FILE_ID)
    return scan.select(RECORD_KEY, PARTITION_PATH, file_id, F.col("_metadata.row_index").alias(POSITION_COLUMN))
