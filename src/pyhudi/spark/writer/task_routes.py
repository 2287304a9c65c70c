"""Sends each row to the Spark partition of its write task: updates to their file group, inserts spread over the tasks of their partition.

`repartitionById` (Spark 4.1) puts the rows of task n into partition n, so a Spark task writes exactly one file group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.kernels.base_file.write_columns import FILE_ID_COLUMN
from pyhudi.spark.index_join.key_columns import PARTITION_PATH, RECORD_KEY

TASK: Final = "_pyhudi_task"
_SPREAD: Final = 1_000_000
_GROUP_TASK: Final = "_pyhudi_group_task"
_LIMITS: Final = "_pyhudi_limits"
_TASKS: Final = "_pyhudi_tasks"


@dataclass(frozen=True, slots=True)
class Routes:
    """Which task takes what.

    `groups` maps (partition path, file id) to the number of the task that rewrites it; `inserts` maps a partition path to the tasks that
    take its inserts, with the share of the rows that each gets (shares sum to one).
    """

    groups: Mapping[tuple[str, str], int]
    inserts: Mapping[str, Sequence[tuple[int, float]]]
    tasks: int


def route(tagged: DataFrame, routes: Routes) -> DataFrame:
    """Return the rows so that Spark partition n holds the rows of task n; helper columns are dropped, `FILE_ID_COLUMN` too."""
    session = tagged.sparkSession
    groups = session.createDataFrame(_groups_table(routes)) if routes.groups else None
    rows = tagged
    if groups is not None:
        rows = rows.join(F.broadcast(groups), [PARTITION_PATH, FILE_ID_COLUMN], "left")
    else:
        rows = rows.withColumn(_GROUP_TASK, F.lit(None).cast("int"))
    if routes.inserts:
        rows = rows.join(F.broadcast(session.createDataFrame(_inserts_table(routes))), PARTITION_PATH, "left")
        task = F.coalesce(F.col(_GROUP_TASK), _insert_task())
    else:
        task = F.col(_GROUP_TASK)
    numbered = rows.withColumn(TASK, task.cast("int")).drop(_GROUP_TASK, _LIMITS, _TASKS, FILE_ID_COLUMN)
    return numbered.repartitionById(routes.tasks, TASK).drop(TASK)


def _insert_task() -> Column:
    """Return the task of an insert: the first whose upper limit is above the key's place in the spread."""
    index = F.pmod(F.xxhash64(RECORD_KEY), F.lit(_SPREAD))
    passed = F.size(F.filter(_LIMITS, lambda limit: limit <= index))
    return F.col(_TASKS)[passed]


def _groups_table(routes: Routes) -> pa.Table:
    keys = list(routes.groups)
    return pa.table(
        {
            PARTITION_PATH: pa.array([path for path, _ in keys], pa.string()),
            FILE_ID_COLUMN: pa.array([file_id for _, file_id in keys], pa.string()),
            _GROUP_TASK: pa.array(list(routes.groups.values()), pa.int32()),
        }
    )


def _inserts_table(routes: Routes) -> pa.Table:
    limits, tasks = [], []
    for shares in routes.inserts.values():
        total, row = 0.0, []
        for _, share in shares[:-1]:
            total += share
            row.append(round(total * _SPREAD))
        limits.append(row)
        tasks.append([number for number, _ in shares])
    return pa.table(
        {
            PARTITION_PATH: pa.array(list(routes.inserts), pa.string()),
            _LIMITS: pa.array(limits, pa.list_(pa.int64())),
            _TASKS: pa.array(tasks, pa.list_(pa.int32())),
        }
    )
