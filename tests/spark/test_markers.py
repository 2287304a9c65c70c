"""Markers that Spark tasks have the driver write: both ways of writing, tasks that fail, and the fall-back."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from pyhudi import HudiTable
from pyhudi.engine.engine_protocol import driver_host
from pyhudi.markers.marker_batches import MarkerBatches
from pyhudi.spark.engine.task_engine import SparkEngine
from pyhudi.spec.files.marker import MarkerType
from pyhudi.testing.invariants import garbage, timeline_faults
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

TABLE = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.write.markers.type": "TIMELINE_SERVER_BASED",
    "hoodie.markers.timeline_server_based.batch.interval_ms": "5",
    "pyhudi.engine": "spark",
}


@pytest.fixture
def created(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, MarkerType]]:
    """The markers that the driver writes."""
    markers = list[tuple[str, MarkerType]]()
    create = MarkerBatches.create

    def note(self: MarkerBatches, data_path: str, kind: MarkerType) -> None:
        create(self, data_path, kind)
        markers.append((data_path, kind))

    monkeypatch.setattr(MarkerBatches, "create", note)
    return markers


def frame(spark: SparkSession, rows: int) -> DataFrame:
    return spark.range(rows).selectExpr("id", "concat('c', id % 4) AS city", "id AS n")


def check_sound(path: Path) -> None:
    table = HudiTable.open(path)
    assert timeline_faults(table.storage) == []
    assert garbage(table.storage) == []


@pytest.mark.parametrize("kind", slow_cases(["COPY_ON_WRITE", "MERGE_ON_READ"], {"MERGE_ON_READ"}))
def test_tasks_have_the_driver_write_their_markers(
    spark: SparkSession, tmp_path: Path, kind: str, created: list[tuple[str, MarkerType]]
) -> None:
    options = {**TABLE, "hoodie.datasource.write.table.type": kind, "hoodie.datasource.write.operation": "bulk_insert"}
    frame(spark, 40).write.format("hudi").options(**options).save(str(tmp_path / "t"))
    files = {path.relative_to(tmp_path / "t").as_posix() for path in (tmp_path / "t").glob("c*/*.parquet")}
    assert {path for path, _ in created} >= files
    assert {marker for _, marker in created} == {MarkerType.CREATE}
    created.clear()
    frame(spark, 8).write.format("hudi").options(**TABLE).mode("append").save(str(tmp_path / "t"))
    assert len({path.partition("/")[0] for path, _ in created}) == 4
    assert {marker for _, marker in created} == {MarkerType.MERGE if kind == "COPY_ON_WRITE" else MarkerType.CREATE}
    assert HudiTable.open(tmp_path / "t").count() == 40
    check_sound(tmp_path / "t")


def test_write_whose_tasks_fail_is_rolled_back_by_its_markers(
    spark: SparkSession, tmp_path: Path, created: list[tuple[str, MarkerType]]
) -> None:
    options = {**TABLE, "hoodie.datasource.write.operation": "bulk_insert"}
    frame(spark, 8).write.format("hudi").options(**options).save(str(tmp_path / "t"))
    created.clear()
    failing = frame(spark, 8).repartition(4).withColumn("n", expr("IF(id = 7, raise_error('the source is broken'), n)"))
    with pytest.raises(Exception, match="the source is broken"):
        failing.write.format("hudi").options(**options).mode("append").save(str(tmp_path / "t"))
    assert HudiTable.open(tmp_path / "t").count() == 8
    check_sound(tmp_path / "t")
    for path, _ in created:
        assert not (tmp_path / "t" / path).exists()


@pytest.mark.slow
def test_without_the_embedded_server_markers_are_files(
    spark: SparkSession, tmp_path: Path, created: list[tuple[str, MarkerType]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        frame(spark, 8).write.format("hudi").options(**TABLE, **{"hoodie.embed.timeline.server": "false"}).save(str(tmp_path / "t"))
    assert created == []
    assert "falls back to DIRECT" in caplog.text
    check_sound(tmp_path / "t")


def test_tasks_of_a_local_master_reach_the_driver_by_the_loopback_address(spark: SparkSession) -> None:
    assert driver_host(SparkEngine(spark)) == "127.0.0.1"
