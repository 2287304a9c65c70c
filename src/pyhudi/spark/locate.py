"""Finds the file group of each incoming key by a join with the keys that the table's base files hold: the index SIMPLE on Spark.

Only the meta columns of the latest base files are read, by Spark's own Parquet scan. Rules: `HoodieSimpleIndex`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi.spark.key_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.file_group import BaseFile

FILE_ID: Final = "_pyhudi_file_id"
_FILE_NAME: Final = "_hoodie_file_name"
_STORED = StructType([StructField(name, StringType()) for name in (RECORD_KEY, PARTITION_PATH, _FILE_NAME)])


def locate(keyed: DataFrame, base_uri: str, files: Sequence[BaseFile]) -> DataFrame:
    """Add the file id of the group that holds each key in the row's partition; null for a key that is new there.

    Args:
        keyed: Rows with record key and partition path.
        base_uri: The table's base path.
        files: The latest base files of the partitions that the rows may touch.
    """
    if not files:
        return keyed.withColumn(FILE_ID, F.lit(None).cast("string"))
    stored = _stored_keys(keyed.sparkSession, base_uri, files)
    return keyed.join(stored, [PARTITION_PATH, RECORD_KEY], "left")


def _stored_keys(session: SparkSession, base_uri: str, files: Sequence[BaseFile]) -> DataFrame:
    paths = [f"{base_uri.rstrip('/')}/{file.path}" for file in files]
    scan = session.read.schema(_STORED).parquet(*paths)
    return scan.select(RECORD_KEY, PARTITION_PATH, F.substring_index(_FILE_NAME, "_", 1).alias(FILE_ID))
