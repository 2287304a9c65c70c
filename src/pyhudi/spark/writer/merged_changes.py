"""The rows of a MERGE as Spark keeps them: each with the file group it goes to. The rules are those of `pyhudi.write.tagging.change_facts`.

Located rows name the file they were read from; a row that names none is looked up by its key, so that a record which the table holds
already is updated there. Rows of one record meet in the task of its file group, which sees whether there are several.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spark.index_join.key_columns import with_keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.tagging.change_facts import UNCHANGED_COLUMN
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS, changed_key

_OLD_KEY: Final = "_pyhudi_old_key"
_OLD_PATH: Final = "_pyhudi_old_path"
_TIMES: Final = "_pyhudi_times"


def changed_rows(frame: DataFrame, config: TableConfig, instant: str, look_up: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Return record key, partition path, file id (null for a new record), whether it is a delete, and the columns of the table.

    Args:
        frame: location columns, `_pyhudi_delete`, `_pyhudi_unchanged` and the columns of the table with its types; kept by Spark.
        config: the table's.
        instant: the write's requested time.
        look_up: adds the file id to keyed rows without location, and `_pyhudi_delete` where some leave their partition.

    Raises:
        KeyFieldError: an update gives its record another key.
    """
    rows = _drop_no_op_rows(frame)
    rows_with_location, is_delete = rows.filter(F.col(FILE_NAME).isNotNull()), F.coalesce(F.col(DELETE_COLUMN), F.lit(False))
    deletes = rows_with_location.filter(is_delete).withColumnRenamed(FILE_NAME, FILE_ID_COLUMN).withColumn(DELETE_COLUMN, F.lit(True))
    new = rows.filter(F.col(FILE_NAME).isNull()).drop(*LOCATION_COLUMNS, DELETE_COLUMN)
    keyed = with_keys(new, key_generator(config, instant=instant), instant)
    looked_up = look_up(keyed) if config.record_key_fields else keyed.withColumn(FILE_ID_COLUMN, F.lit(None).cast("string"))
    if DELETE_COLUMN not in looked_up.columns:
        looked_up = looked_up.withColumn(DELETE_COLUMN, F.lit(False))
    parts = [deletes, *_updates(rows_with_location.filter(~is_delete), config, instant), looked_up]
    columns = [RECORD_KEY, PARTITION_PATH, FILE_ID_COLUMN, DELETE_COLUMN, *(name for name in new.columns if name not in LOCATION_COLUMNS)]
    return reduce(DataFrame.unionByName, (part.select(*(f"`{name}`" for name in columns)) for part in parts))


def _drop_no_op_rows(frame: DataFrame) -> DataFrame:
    """Leave out rows that leave their record as it is, unless another row changes the same record."""
    if UNCHANGED_COLUMN not in frame.columns:
        return frame
    unchanged = F.coalesce(F.col(UNCHANGED_COLUMN), F.lit(False))
    if not frame.filter(unchanged).take(1):
        return frame.drop(UNCHANGED_COLUMN)
    rows_with_location = frame.filter(F.col(FILE_NAME).isNotNull())
    times = rows_with_location.withColumn(_TIMES, F.count("*").over(Window.partitionBy(*LOCATION_COLUMNS)))
    active = times.filter(~unchanged | (F.col(_TIMES) > 1)).drop(_TIMES)
    return active.unionByName(frame.filter(F.col(FILE_NAME).isNull())).drop(UNCHANGED_COLUMN)


def _updates(rows_with_location: DataFrame, config: TableConfig, instant: str) -> list[DataFrame]:
    """Return new versions of located records at their locations; for those whose partition changes, a delete and a new record."""
    renamed = rows_with_location.withColumnsRenamed({RECORD_KEY: _OLD_KEY, PARTITION_PATH: _OLD_PATH, FILE_NAME: FILE_ID_COLUMN})
    keyed = with_keys(renamed.drop(DELETE_COLUMN), key_generator(config, instant=instant), instant)
    if config.record_key_fields:
        other = keyed.filter(~F.col(RECORD_KEY).eqNullSafe(F.col(_OLD_KEY))).select(_OLD_KEY, RECORD_KEY).take(1)
        if other:
            old, new = other[0]
            raise changed_key(config, old, new)
    else:
        keyed = keyed.withColumn(RECORD_KEY, F.col(_OLD_KEY))
    stay = F.col(PARTITION_PATH) == F.col(_OLD_PATH)
    unmoved = keyed.filter(stay).withColumn(DELETE_COLUMN, F.lit(False))
    if not config.partition_fields:
        return [unmoved]
    leaving = keyed.filter(~stay)
    left = leaving.withColumns({PARTITION_PATH: F.col(_OLD_PATH), DELETE_COLUMN: F.lit(True)})
    arrived = leaving.withColumns({FILE_ID_COLUMN: F.lit(None).cast("string"), DELETE_COLUMN: F.lit(False)})
    return [unmoved, left, arrived]
