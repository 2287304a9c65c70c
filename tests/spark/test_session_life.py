"""A session that speaks Hudi goes on doing so: RESET, settings, siblings and clones, a restart; and its log stays clean."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import pyhudi
from pyhudi import HudiTable
from pyhudi.spark.enabled_sessions import is_enabled

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string())])
MERGE = "MERGE INTO hudi.`{}` t USING (SELECT 1L AS id, 'new' AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"

#: What may clear the settings of a session.
CLEARING: dict[str, Callable[[SparkSession], Any]] = {
    "RESET": lambda session: session.sql("RESET"),
    "RESET in other spelling": lambda session: session.sql("-- all of it\nreset ;"),
    "RESET of the key": lambda session: session.sql("RESET spark.pyhudi.enabled"),
    "SET of neighbours": lambda session: [session.sql("SET spark.pyhudi.other = 1"), session.sql("SET spark.pyhudi = 1")],
    "unset": lambda session: session.conf.unset("spark.pyhudi.enabled"),
    "RESET in the JVM": lambda session: session._jsparkSession.sql("RESET"),
    "unset in the JVM": lambda session: session._jsparkSession.conf().unset("spark.pyhudi.enabled"),
    "getOrCreate": lambda session: [session.sql("RESET"), SparkSession.builder.getOrCreate()],
}


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A session whose settings nobody else needs."""
    return spark.newSession()


@pytest.fixture
def path(tmp_path: Path) -> str:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    table.upsert([{"id": 1, "v": "old"}])
    return str(tmp_path / "t")


def values(session: SparkSession, path: str) -> list[str]:
    return [row.v for row in session.read.format("hudi").load(path).collect()]


def clone_of(session: SparkSession) -> SparkSession:
    """Return a clone, as Spark makes for a stream."""
    return SparkSession(session.sparkContext, session._jsparkSession.cloneSession())


@pytest.mark.parametrize("clear", CLEARING.values(), ids=CLEARING)
def test_a_session_its_siblings_and_clones_speak_hudi_after_its_settings_were_cleared(
    session: SparkSession, path: str, clear: Callable[[SparkSession], Any]
) -> None:
    same = SparkSession(session.sparkContext, session._jsparkSession)
    clear(session)
    for other in (same, session.newSession(), clone_of(session)):
        assert is_enabled(other)
    clear(session)
    session.sql(MERGE.format(path))
    assert values(session, path) == ["new"]


def test_a_clone_speaks_hudi_after_its_own_reset(session: SparkSession, path: str) -> None:
    clone = clone_of(session)
    assert values(clone, path) == ["old"]
    clone._jsparkSession.sql("RESET")
    assert values(clone, path) == ["old"]


def test_batches_of_a_stream_speak_hudi_after_a_reset_in_the_jvm(session: SparkSession, path: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "rows.json").write_text('{"id": 1, "v": "streamed"}')
    session._jsparkSession.sql("RESET")

    def write(frame: DataFrame, _: int) -> None:
        frame.write.format("hudi").option("hoodie.table.name", "t").mode("append").save(path)

    stream = session.readStream.schema("id long, v string").json(str(source)).writeStream.foreachBatch(write)
    stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    assert values(session, path) == ["streamed"]


def test_the_setting_switches_pyhudi_off_until_it_is_reset(session: SparkSession) -> None:
    session.sql("SET spark.pyhudi.enabled = false")
    assert not is_enabled(session)
    session.sql("RESET")
    assert is_enabled(session)


def test_clearing_the_settings_of_one_session_leaves_one_that_was_not_enabled_alone(session: SparkSession) -> None:
    plain = SparkSession(session.sparkContext, session._jsparkSession.newSession())
    session.sql("RESET")
    plain.sql("RESET")
    assert is_enabled(session)
    assert not is_enabled(plain)
    assert is_enabled(pyhudi.enable(plain))


def test_two_sessions_with_different_catalogs_change_the_same_table(session: SparkSession, path: str, tmp_path: Path) -> None:
    other = session.newSession()
    settings = {
        "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        ".url": f"jdbc:derby:{tmp_path / 'derby'};create=true",
        ".driver": "org.apache.derby.jdbc.EmbeddedDriver",
    }
    for name, value in settings.items():
        other.conf.set(f"spark.sql.catalog.other{name}", value)
    other.sql("USE other")
    session.sql(f"CREATE TABLE two_catalogs USING hudi LOCATION '{path}'")
    try:
        for one in (session, other):
            one.sql("RESET")
            one.sql("UPDATE spark_catalog.default.two_catalogs SET v = concat(v, '+')")
            assert one.table("spark_catalog.default.two_catalogs").head(1)[0].v == HudiTable.open(path).to_arrow()["v"][0].as_py()
    finally:
        session.sql("DROP TABLE two_catalogs")
    assert values(session, path) == ["old++"]


@pytest.mark.slow
def test_a_restarted_session_speaks_hudi_and_stopped_streams_leave_the_log_clean(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    program = [sys.executable, "-m", "tests.spark.restarted_session", str(tmp_path)]
    done = subprocess.run(
        program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "first": 1,
        "indexes": ["column_stats"],
        "stopped": [False, False],
        "restarted": 1,
        "sibling": "no",
    }
    unwanted = [line for line in done.stderr.splitlines() if "ERROR" in line or "Exception" in line or line.startswith("\tat ")]
    assert unwanted == []
