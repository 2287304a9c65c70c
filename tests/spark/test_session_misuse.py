"""Sessions that are started, shared or left in ways that do not work: one sentence says what to change, and what works nevertheless does.

Each case is a process of its own, which starts a JVM, or fails to.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXTENSION = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
CATALOG = "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
ON_ONE_CORE = '.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")'
START = f"""
import sys
from pathlib import Path
import pyhudi
from pyspark.sql import SparkSession

OPTIONS = {{"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}}
PATH = sys.argv[1]

def builder():
    return SparkSession.builder{ON_ONE_CORE}

def attempt(name, work):
    try:
        print(name, work())
    except Exception as error:
        print(name, type(error).__name__, error)

def rows(spark, path=PATH):
    frame = spark.createDataFrame([(1, "a")], "id INT, v STRING")
    frame.write.format("hudi").options(**OPTIONS).mode("overwrite").save(path)
    return [row.v for row in spark.read.format("hudi").load(path).collect()]

"""
STARTS_AND_WRITES = START + "attempt('answer', lambda: rows(pyhudi.enable(builder()).getOrCreate()))"
STOPPED = """
spark = pyhudi.enable(builder()).getOrCreate()
rows(spark)
spark.sql(f"CREATE TABLE t USING hudi LOCATION '{PATH}'")
frame = spark.read.format("hudi").load(PATH)
spark.stop()
attempt("load", lambda: spark.read.format("hudi").load(PATH))
attempt("stream", lambda: spark.readStream.format("hudi").load(PATH))
attempt("save", lambda: frame.write.format("hudi").options(**OPTIONS).mode("append").save(PATH))
attempt("update", lambda: spark.sql("UPDATE t SET v = 'b'"))
attempt("call", lambda: spark.sql("CALL show_commits(table => 't')"))
attempt("upsert", lambda: pyhudi.HudiTable.open(PATH).upsert(frame))
attempt("enable", lambda: pyhudi.enable(spark))
attempt("disable", lambda: pyhudi.disable(spark) is spark)
again = pyhudi.enable(builder()).getOrCreate()
attempt("again", lambda: rows(again))
attempt("enable", lambda: pyhudi.enable(spark))
attempt("again", lambda: rows(again))
"""
SHARED = """
one = builder()
spark = pyhudi.enable(pyhudi.enable(one)).getOrCreate()
attempt("twice", lambda: rows(pyhudi.enable(pyhudi.enable(spark))))
attempt("sibling", lambda: rows(spark.newSession(), PATH + "2"))
attempt("same", lambda: builder().getOrCreate() is spark)
attempt("context", lambda: pyhudi.enable(spark.sparkContext))
attempt("class", lambda: pyhudi.enable(SparkSession))
"""

#: As much of an older release as is looked at.
OLDER_SESSION = """
class Builder:
    def getOrCreate(self):
        return 1
    def __getattr__(self, name):
        return lambda *arguments, **named: self
class SparkSession:
    Builder, builder = Builder, Builder()
"""


def run(program: str, folder: Path, *arguments: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own; a variable of the environment that is None is left out."""
    environment = {**os.environ, "SPARK_CONF_DIR": str(folder), **variables}
    command = [sys.executable, "-c", program, str(folder / "table"), *arguments]
    stated = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run(command, cwd=folder, env=stated, capture_output=True, text=True, check=False)


def test_stopped_session_is_named_and_the_next_one_works(tmp_path: Path) -> None:
    answer = run(START + STOPPED, tmp_path)
    lines = answer.stdout.splitlines()
    refused = "UsageError This Spark session was stopped: get another one by pyhudi.enable(SparkSession.builder).getOrCreate()."
    calls = ("load", "stream", "save", "update", "call", "upsert", "enable")
    assert lines[:7] == [f"{call} {refused}" for call in calls], answer.stderr
    assert lines[7:] == ["disable True", "again ['a']", f"enable {refused}", "again ['a']"]


def test_sessions_that_are_enabled_twice_or_share_a_jvm(tmp_path: Path) -> None:
    answer = run(START + SHARED, tmp_path)
    takes = "UsageError pyhudi.enable takes a SparkSession or a SparkSession.builder, not"
    expected = ["twice ['a']", "sibling ['a']", "same True", f"context {takes} SparkContext.", f"class {takes} type."]
    assert answer.stdout.splitlines() == expected, answer.stderr


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"JAVA_HOME": "/nonexistent"}, "JAVA_HOME is /nonexistent, which has no bin/java. Install Java 17 or 21"),
        ({"JAVA_HOME": None, "PATH": "/nonexistent"}, "JAVA_HOME is not set, and no folder of PATH has java. Install Java 17 or 21"),
        ({"PYSPARK_SUBMIT_ARGS": f"--conf spark.sql.extensions={EXTENSION}"}, "PYSPARK_SUBMIT_ARGS has to end with pyspark-shell"),
        ({"PYSPARK_SUBMIT_ARGS": "--conf 'spark.app.name=x pyspark-shell"}, "PYSPARK_SUBMIT_ARGS has a quotation mark"),
        ({"PYSPARK_SUBMIT_ARGS": "--properties-file /nonexistent.conf pyspark-shell"}, "/nonexistent.conf, which does not exist"),
        ({"PYSPARK_SUBMIT_ARGS": "--no-such-flag 1 pyspark-shell"}, "what it printed is above"),
    ],
)
def test_jvm_that_does_not_start_is_explained(variables: dict[str, str | None], says: str, tmp_path: Path) -> None:
    answer = run(STARTS_AND_WRITES, tmp_path, **variables)
    assert answer.stdout.startswith("answer UsageError "), answer.stderr
    assert says in answer.stdout


@pytest.mark.parametrize("source", ["submit arguments", "properties file", "configuration folder", "builder", "extensions of others"])
def test_settings_of_hudi_from_any_place_are_taken_away(source: str, tmp_path: Path) -> None:
    submit, setting = "pyspark-shell", ""
    if source == "submit arguments":
        submit = f"--conf spark.sql.extensions={EXTENSION} --conf 'spark.sql.catalog.spark_catalog={CATALOG}' pyspark-shell"
    if source == "properties file":
        (tmp_path / "my.conf").write_text(f"spark.sql.extensions={EXTENSION}\n")
        submit = f"--properties-file {tmp_path}/my.conf pyspark-shell"
    if source == "configuration folder":
        (tmp_path / "spark-defaults.conf").write_text(f"# of the cluster\nspark.sql.extensions\t{EXTENSION}\nspark.jars.packages=\n")
    if source == "builder":
        setting = f'.config(map={{"spark.sql.extensions": "{EXTENSION}", "spark.sql.catalog.spark_catalog": "{CATALOG}"}})'
    if source == "extensions of others":
        setting = f'.config("spark.sql.extensions", "{EXTENSION},org.example.NoExtension")'
    program = START + f"attempt('answer', lambda: rows(pyhudi.enable(builder(){setting}).getOrCreate()))"
    answer = run(program, tmp_path, PYSPARK_SUBMIT_ARGS=submit)
    assert answer.stdout.splitlines() == ["answer ['a']"], answer.stderr
    assert EXTENSION not in answer.stderr


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("import sys, pyhudi; pyhudi.enable", "pyhudi.enable"),
        ("from pyhudi.startup import *; enable_every_session(); import pyspark.sql.session as s; s.Builder().getOrCreate()", "pyhudi"),
        ("from pyhudi.__main__ import submit; submit()", "pyhudi-submit"),
        ("import sys; sys.argv = ['pyhudi', 'thriftserver']; from pyhudi.__main__ import run; run()", "pyhudi.enable"),
    ],
)
def test_older_pyspark_is_named(program: str, name: str, tmp_path: Path) -> None:
    sources = {
        "__init__": "",
        "version": "__version__ = '3.5.3'",
        "sql/__init__": "from pyspark.sql.session import SparkSession\n",
        "find_spark_home": "",
        "sql/session": OLDER_SESSION,
    }
    for module, source in sources.items():
        file = tmp_path / "pyspark" / f"{module}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    answer = run(program, tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert f"{name} needs PySpark 4.1 or later, and this is PySpark 3.5.3 in {tmp_path}/pyspark: pip install" in answer.stderr
