"""Finds the file group of each incoming key by a join with the keys that the table's base files hold: SIMPLE and GLOBAL_SIMPLE on Spark.

Only the meta columns of the latest base files are read, by Spark's own Parquet scan. Rules: `HoodieSimpleIndex`, `HoodieGlobalSimpleIndex`.
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
DELETE: Final = "_pyhudi_delete"
_OLD_PATH: Final = "_pyhudi_old_path"
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
    return keyed.join(stored.withColumnRenamed(_OLD_PATH, PARTITION_PATH), [PARTITION_PATH, RECORD_KEY], "left")


def locate_globally(keyed: DataFrame, base_uri: str, files: Sequence[BaseFile], *, moves_partition: bool) -> DataFrame:
    """Add the file id of the group that holds each key anywhere in the table.

    Args:
        keyed: Rows with record key and partition path.
        base_uri: The table's base path.
        files: The latest base files of the whole table.
        moves_partition: A row whose partition changed is deleted where it was and inserted anew (the default of
            `hoodie.simple.index.update.partition.path`); otherwise it stays in its old partition.
    """
    if not files:
        return keyed.withColumn(FILE_ID, F.lit(None).cast("string"))
    found = keyed.join(_stored_keys(keyed.sparkSession, base_uri, files), RECORD_KEY, "left")
    if not moves_partition:
        return found.withColumn(PARTITION_PATH, F.coalesce(_OLD_PATH, PARTITION_PATH)).drop(_OLD_PATH)
    moved = F.col(_OLD_PATH).isNotNull() & (F.col(_OLD_PATH) != F.col(PARTITION_PATH))
    here = found.withColumn(FILE_ID, F.when(~moved | F.col(_OLD_PATH).isNull(), F.col(FILE_ID))).drop(_OLD_PATH)
    gone = found.filter(moved).withColumn(PARTITION_PATH, F.col(_OLD_PATH)).drop(_OLD_PATH).withColumn(DELETE, F.lit(True))
    return here.unionByName(gone)


def _stored_keys(session: SparkSession, base_uri: str, files: Sequence[BaseFile]) -> DataFrame:
    paths = [f"{base_uri.rstrip('/')}/{file.path}" for file in files]
    scan = session.read.schema(_STORED).parquet(*paths)
    return scan.select(
        F.col(RECORD_KEY),
        F.col(PARTITION_PATH).alias(_OLD_PATH),
        F.substring_index(_FILE_NAME, "_", 1).alias(FILE_ID),
    )
