"""What `pyhudi.enable` does to a session or a builder, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.types import StructType

import pyhudi
import pyspark_hudi
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark.enabled_sessions import is_enabled
from tests.spark.tables import make_table

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = pa.table([[1]], names=["id"])
    return str(make_table(tmp_path, rows.schema, {"": rows}))


def test_enabling_twice_changes_nothing(spark: SparkSession) -> None:
    before = (DataFrameReader.load, SparkSession.sql, SparkSession.table)
    assert pyhudi.enable(spark) is spark
    assert (DataFrameReader.load, SparkSession.sql, SparkSession.table) == before


def test_builder_is_returned_and_gives_enabled_sessions(spark: SparkSession, table: str) -> None:
    builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
    assert pyhudi.enable(builder) is builder
    assert pyhudi.enable(builder).getOrCreate().read.format("hudi").load(table).count() == 1


def test_new_session_of_an_enabled_one_speaks_hudi(spark: SparkSession, table: str) -> None:
    assert spark.newSession().read.format("hudi").load(table).count() == 1


def test_session_that_was_not_enabled_is_left_alone(spark: SparkSession, table: str) -> None:
    plain = SparkSession(spark.sparkContext, spark._jsparkSession.newSession())
    assert not is_enabled(plain)
    assert plain.sql("SELECT 1 AS one").head(1)[0]["one"] == 1


def test_session_that_the_jvm_makes_of_an_enabled_one_reads_tables(spark: SparkSession, table: str) -> None:
    plain = SparkSession(spark.sparkContext, spark._jsparkSession.newSession())
    assert plain.read.format("hudi").load(table).count() == 1


def test_a_session_that_was_never_enabled_finds_a_source_that_says_so() -> None:
    assert pyspark_hudi.DefaultSource.name() == "hudi"
    source = pyspark_hudi.DefaultSource({"path": "/tmp/trips"})
    schema = StructType()
    for call in (source.schema, lambda: source.reader(schema), lambda: source.writer(schema, False), lambda: source.streamReader(schema)):
        with pytest.raises(PySparkRuntimeError, match="call pyhudi"):
            call()


@pytest.mark.parametrize("remote", ["option", "environment"])
def test_builder_of_a_spark_connect_client_is_refused(monkeypatch: pytest.MonkeyPatch, remote: str) -> None:
    builder = SparkSession.builder
    if remote == "option":
        builder = builder.remote("sc://localhost")
    else:
        monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(UnsupportedError, match="Spark Connect"):
        pyhudi.enable(builder).getOrCreate()


def test_session_of_a_spark_connect_client_is_refused_with_what_works_there() -> None:
    class Remote:
        pass

    Remote.__module__ = "pyspark.sql.connect.session"
    with pytest.raises(UnsupportedError, match=r"HudiTable works in this process"):
        pyhudi.enable(Remote())  # type: ignore[type-var]


@pytest.mark.parametrize("target", [None, "local[*]", SparkSession])
def test_anything_else_is_refused(target: Any) -> None:
    with pytest.raises(UsageError, match=r"SparkSession\.builder"):
        pyhudi.enable(target)
