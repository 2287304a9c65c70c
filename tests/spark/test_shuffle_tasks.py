"""Options of the number of tasks of a write, from every door: rows are looked up, counted and sorted in so many Spark tasks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

#: No other stage of these writes has so many tasks.
TASKS = 7
_GROUPS = itertools.count()
CREATE = """CREATE TABLE {name} (id BIGINT, city STRING, v INT) USING hudi PARTITIONED BY (city)
    LOCATION '{path}' TBLPROPERTIES (primaryKey = 'id', 'hoodie.metadata.enable' = 'false'{more})"""


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A table of 40 rows in two partitions, which Spark tasks write."""
    settings = {"pyhudi.engine": "spark", "spark.sql.autoBroadcastJoinThreshold": "-1", "hoodie.metadata.enable": "false"}
    with set_in(spark, settings):
        create(spark, str(tmp_path / "t"))
        yield str(tmp_path / "t")
        spark.sql("DROP TABLE IF EXISTS tasks_of_writes")


@contextmanager
def set_in(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name in settings:
        spark.conf.unset(name)


def create(spark: SparkSession, path: str, more: str = "") -> None:
    spark.sql("DROP TABLE IF EXISTS tasks_of_writes")
    spark.sql(CREATE.format(name="tasks_of_writes", path=path, more=more))
    spark.sql("INSERT INTO tasks_of_writes SELECT id, 0, IF(id % 2 = 0, 'oslo', 'rome') FROM range(0, 40, 1, 2)")


def incoming(spark: SparkSession, first: int = 20) -> DataFrame:
    return spark.range(first, first + 40, 1, 3).selectExpr("id", "IF(id % 2 = 0, 'oslo', 'rome') AS city", "1 AS v")


def tasks_of(spark: SparkSession, action: Callable[[], object]) -> set[int]:
    """Return the numbers of tasks of the stages that an action runs."""
    group = f"write {next(_GROUPS)}"
    spark.sparkContext.setJobGroup(group, group)
    action()
    tracker = spark.sparkContext.statusTracker()
    jobs = [info for job in tracker.getJobIdsForGroup(group) if (info := tracker.getJobInfo(job))]
    stages = [stage for job in jobs for number in job.stageIds if (stage := tracker.getStageInfo(number))]
    return {stage.numTasks for stage in stages if stage.numCompletedTasks}


def by_frame(spark: SparkSession, path: str, operation: str, given: dict[str, str]) -> None:
    name = "bulk_insert" if operation == "bulkinsert" else operation
    options = {"hoodie.datasource.write.operation": name, "pyhudi.engine": "spark"}
    incoming(spark).write.format("hudi").options(**options, **given).mode("append").save(path)


def by_table(spark: SparkSession, path: str, operation: str, given: dict[str, str]) -> None:
    table, options = HudiTable.open(path), {"pyhudi.engine": "spark", **given}
    write = table.bulk_insert if operation == "bulkinsert" else getattr(table, operation)
    write(incoming(spark), options=options)


def by_set(spark: SparkSession, path: str, operation: str, given: dict[str, str]) -> None:
    incoming(spark).createOrReplaceTempView("changes_of_writes")
    with set_in(spark, given):
        spark.sql(STATEMENTS[operation])


def by_properties(spark: SparkSession, path: str, operation: str, given: dict[str, str]) -> None:
    incoming(spark).createOrReplaceTempView("changes_of_writes")
    for name, value in given.items():
        spark.sql(f"ALTER TABLE tasks_of_writes SET TBLPROPERTIES ('{name}' = '{value}')")
    spark.sql(STATEMENTS[operation])


STATEMENTS = {
    "insert": "INSERT INTO tasks_of_writes SELECT id, v, city FROM changes_of_writes",
    "upsert": """MERGE INTO tasks_of_writes t USING changes_of_writes s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
}
DOORS = {"frame": by_frame, "table": by_table, "set": by_set, "properties": by_properties}
CASES = [
    (door, operation)
    for door in DOORS
    for operation in ("insert", "upsert", "delete", "bulkinsert")
    if door in ("frame", "table") or operation in STATEMENTS
]
FAST = [("frame", "delete")]


@pytest.mark.parametrize("case", slow_cases(CASES, [case for case in CASES if case not in FAST]), ids="-".join)
def test_number_of_tasks_is_the_one_that_the_option_gives(spark: SparkSession, path: str, case: tuple[str, str]) -> None:
    door, operation = case
    write, given = DOORS[door], {f"hoodie.{operation}.shuffle.parallelism": str(TASKS)}
    if operation == "bulkinsert":
        given |= {"hoodie.bulkinsert.sort.mode": "GLOBAL_SORT"}
    assert TASKS in tasks_of(spark, lambda: write(spark, path, operation, given))
    rows = HudiTable.open(path).to_arrow()
    assert len(rows) == {"insert": 80, "upsert": 60, "delete": 20, "bulkinsert": 80}[operation]
    if door == "frame":
        assert TASKS not in tasks_of(spark, lambda: by_frame(spark, path, operation, {}))
