"""Tables that merge by a class of the user's, in Spark's tasks: wherever the class is defined, it works or is refused by name."""

from __future__ import annotations

import importlib
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.merge import custom
from pyhudi.merge.custom import register_merger
from pyhudi.spark.engine.task_engine import SparkEngine
from pyhudi.spark.scan import slice_merge as merged_slices

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "amount": pa.int64()})
NAME = "com.example.Merger"
DEFINITION = """
class Summed:
    def merge(self, older, newer):
        return {**newer, "amount": older["amount"] + newer["amount"]}
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HudiTable:
    """Ten rows of amount 1, five of them written again with amount 5; logs are merged in Spark's tasks."""
    monkeypatch.setattr(custom, "_MERGERS", {NAME: defined_in_a_notebook()()})
    monkeypatch.setattr(merged_slices, "LOCAL_BYTES", 0)
    options = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.datasource.write.payload.class": NAME}
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ", options=options)
    for amount, count in ((1, 10), (5, 5)):
        table.upsert([{"id": number, "amount": amount} for number in range(count)])
    return table


def total(spark: SparkSession, table: HudiTable) -> int:
    (row,) = spark.read.format("hudi").load(table.storage.uri).agg({"amount": "sum"}).collect()
    return int(row[0])


def append(spark: SparkSession, table: HudiTable, rows: list[tuple[int, int]]) -> None:
    frame = spark.createDataFrame(rows, "id long, amount long")
    writer = frame.write.format("hudi").mode("append").option("hoodie.table.name", "t").option("pyhudi.engine", "spark")
    writer.option("hoodie.datasource.write.recordkey.field", "id").save(table.storage.uri)


def defined_in_a_notebook() -> Any:
    """As a cell of a notebook does it: in `__main__`, which is another module in the workers."""
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(DEFINITION, cell)
    return cell["Summed"]


@pytest.mark.slow
def test_merger_of_the_notebook_itself_goes_to_the_tasks(spark: SparkSession, table: HudiTable) -> None:
    register_merger(NAME, defined_in_a_notebook()())
    assert total(spark, table) == 10 + 25
    append(spark, table, [(0, 100), (99, 7)])
    assert total(spark, table) == 10 + 25 + 100 + 7
    (done,) = table.services.compact(engine=SparkEngine(spark))
    assert (done.engine, total(spark, table)) == ("spark", 142)


def test_merger_of_a_module_goes_to_the_tasks_once_they_can_import_it(
    spark: SparkSession, table: HudiTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "beside_the_script.py"
    module.write_text(DEFINITION)
    monkeypatch.syspath_prepend(str(tmp_path))
    register_merger(NAME, importlib.import_module("beside_the_script").Summed())
    for work in (lambda: total(spark, table), lambda: table.services.compact(engine=SparkEngine(spark))):
        with pytest.raises(UsageError, match=r"module beside_the_script.*com\.example\.Merger.*addPyFile"):
            work()
    spark.sparkContext.addPyFile(str(module))
    assert total(spark, table) == 10 + 25


def test_merger_that_does_not_pickle_is_refused(spark: SparkSession, table: HudiTable) -> None:
    merger = defined_in_a_notebook()()
    merger.lock = threading.Lock()
    register_merger(NAME, merger)
    with pytest.raises(UsageError, match="pickle"):
        total(spark, table)
    with pytest.raises(UsageError, match="pickle"):
        append(spark, table, [(0, 100)])
    assert sorted(table.history()["action"].to_pylist()) == ["deltacommit", "deltacommit", "rollback"]
