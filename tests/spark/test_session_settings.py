"""Sessions that are started as Apache Hudi's pages prescribe speak Hudi with the jar taken out, by every way to start one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import pyhudi
from pyhudi.errors import UsageError
from pyhudi.spark.options import start_settings

pytestmark = pytest.mark.spark

EXTENSION = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
CATALOG = "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
REGISTRATOR = "org.apache.spark.HoodieSparkKryoRegistrar"
BUNDLE = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.1.0"
KRYO = "org.apache.spark.serializer.KryoSerializer"
#: A server that nobody can reach: a package that Spark looked for would fail the start.
NOWHERE = "http://127.0.0.1:9/"

SCRIPT = f"""
import sys
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.appName("Hudi quick start")
    .config("spark.serializer", "{KRYO}")
    .config("spark.sql.catalog.spark_catalog", "{CATALOG}")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
rows = spark.createDataFrame([(1, "rider-A")], "id INT, rider STRING")
options = {{"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}}
rows.write.format("hudi").options(**options).mode("overwrite").save(sys.argv[1])
spark.sql(f"CREATE TABLE t USING hudi LOCATION '{{sys.argv[1]}}'")
spark.sql("UPDATE t SET rider = 'rider-B' WHERE id = 1")
print([row.rider for row in spark.table("t").collect()], sys.argv[2:], __name__)
if len(sys.argv) > 2:
    sys.exit(7)
"""
#: The same, with the context that jobs of older releases and of AWS Glue begin with.
CONTEXT_SCRIPT = (
    "from pyspark import SparkConf, SparkContext\n"
    f'settings = [("spark.sql.extensions", "{EXTENSION}"), ("spark.kryo.registrator", "{REGISTRATOR}")]\n'
    "context = SparkContext(conf=SparkConf().setAll(settings))\n"
    + SCRIPT.replace(SCRIPT[SCRIPT.index("spark = (") : SCRIPT.index("rows =")], "spark = SparkSession(context)\n")
)


#: What a user types into the `pyspark` shell, with a mistake.
TYPED = """
spark.sql("CREATE TABLE t (id INT, rider STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')").collect()
spark.sql("INSERT INTO t VALUES (1, 'rider-A'), (2, 'rider-B')").collect()
spark.sql("UPDATE t SET ridr = 'rider-C'")
spark.sql("UPDATE t SET rider = 'rider-C' WHERE id = 2").collect()
print("read", sorted(row.rider for row in spark.table("t").collect()))
"""


def run(command: list[str], folder: Path, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, beside the script, with a configuration folder of Spark whose settings ask for the jar."""
    configuration = folder / "conf"
    configuration.mkdir()
    (configuration / "spark-defaults.conf").write_text(
        f"spark.jars.packages  {BUNDLE}\nspark.jars.repositories {NOWHERE}\nspark.sql.extensions={EXTENSION}\nspark.driver.host 127.0.0.1\n"
    )
    (folder / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "SPARK_CONF_DIR": str(configuration), **variables}
    return subprocess.run(command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_script_that_does_not_call_enable(tmp_path: Path) -> None:
    flags = f"--packages {BUNDLE} --repositories {NOWHERE} --conf spark.kryo.registrator={REGISTRATOR} --master local[1] pyspark-shell"
    command = [sys.executable, "-m", "pyhudi", "-v", "run", "script.py", str(tmp_path / "t"), "-x", "y"]
    answer = run(command, tmp_path, PYSPARK_SUBMIT_ARGS=flags)
    assert answer.stdout.splitlines()[-1:] == ["['rider-B'] ['-x', 'y'] __main__"], answer.stderr
    assert answer.returncode == 7
    removals = [line for line in answer.stderr.splitlines() if " was removed from " in line]
    for value in (EXTENSION, CATALOG, REGISTRATOR, BUNDLE):
        assert any(value in line for line in removals), removals


def test_submitted_script(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(CONTEXT_SCRIPT)
    flags = ["--master", "local[1]", "--packages", BUNDLE, "--conf", f"spark.serializer={KRYO}"]
    submit = "from pyhudi.__main__ import submit; submit()"
    answer = run([sys.executable, "-c", submit, *flags, "job.py", str(tmp_path / "t")], tmp_path)
    assert answer.stdout.splitlines()[-1:] == ["['rider-B'] [] __main__"], answer.stderr
    assert answer.returncode == 0


@pytest.mark.slow
def test_pyspark_shell(tmp_path: Path) -> None:
    shell = str(Path(pyspark.__file__).parent / "bin" / "pyspark")
    flags = ["--master", "local[1]", "--packages", BUNDLE, "--conf", f"spark.sql.catalog.spark_catalog={CATALOG}"]
    in_memory = ["--conf", "spark.sql.catalogImplementation=in-memory", "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse"]
    interpreter = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON_OPTS": "-i"}
    answer = run([shell, *flags, *in_memory], tmp_path, TYPED, PYHUDI_ENABLE="1", **interpreter)
    assert "read ['rider-A', 'rider-C']" in answer.stdout, answer.stderr
    assert "SchemaError: default.t has no column ridr: its columns are id, rider." in answer.stderr
    assert "py4j" not in answer.stderr.lower()


def test_failing_script_shows_its_own_traceback(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def f():\n    raise KeyError('mine')\n\nf()\n")
    answer = run([sys.executable, "-m", "pyhudi", "run", "fails.py"], tmp_path)
    assert answer.returncode == 1
    frames = [line for line in answer.stderr.splitlines() if line.startswith("  File")]
    assert frames == ['  File "fails.py", line 4, in <module>', '  File "fails.py", line 2, in f']
    assert answer.stderr.endswith("KeyError: 'mine'\n")


def test_sql_shell(tmp_path: Path) -> None:
    (tmp_path / "first.sql").write_text("-- nothing; but a comment\nSET spark.sql.cli.print.header = true;")
    statements = (
        f"CREATE TABLE t (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{tmp_path}/t';"
        " INSERT INTO t VALUES (1, ';'), (2, NULL); SELECT id, name FROM ${table} ORDER BY id; SELECT * FROM missing; SELECT 3"
    )
    flags = ["--master", "local[1]", "--conf", "spark.sql.catalogImplementation=in-memory", "--packages", BUNDLE, "--hivevar", "table=t"]
    answer = run([sys.executable, "-m", "pyhudi", "sql", "-S", *flags, "-i", "first.sql", "-e", statements], tmp_path)
    assert answer.stdout.splitlines()[-3:] == ["id\tname", "1\t;", "2\tNULL"], answer.stderr
    assert answer.returncode == 1
    errors = [line for line in answer.stderr.splitlines() if "missing" in line]
    assert errors[0].startswith("AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]")


def test_running_session_whose_catalog_cannot_be_loaded(spark: SparkSession) -> None:
    session = spark.newSession()
    session._jsparkSession.conf().set("spark.sql.catalog.spark_catalog", CATALOG)
    assert pyhudi.enable(session).sql("SHOW NAMESPACES").count() == 1


def test_running_session_is_given_hudis_catalog(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    session = spark.newSession()
    caplog.set_level("INFO", "pyhudi.spark")
    session.conf.set("spark.sql.catalog.spark_catalog", CATALOG)
    assert session.sql("SHOW NAMESPACES").count() >= 1
    assert session.sql(f"set spark.sql.catalog.spark_catalog={CATALOG};").first() == ("spark.sql.catalog.spark_catalog", "builtin")
    assert session.sql("SHOW NAMESPACES").count() >= 1
    assert [f"{CATALOG} was removed from " in message for message in caplog.messages] == [True, True]


def test_catalog_of_another_name_is_the_session_catalog(spark: SparkSession) -> None:
    session = spark.newSession()
    session._jsparkSession.conf().set("spark.sql.catalog.hudi", CATALOG)
    pyhudi.enable(session)
    session.sql("CREATE DATABASE hudi.named")
    session.sql("CREATE TABLE hudi.named.t (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    session.sql("INSERT INTO hudi.named.t VALUES (1, 'a'), (2, 'b')")
    session.sql("UPDATE hudi.named.t SET name = 'z' WHERE id = 2")
    session.createDataFrame([(3, "c")], "id INT, name STRING").write.format("hudi").mode("append").saveAsTable("hudi.named.t")
    session.sql("DELETE FROM hudi.named.t WHERE id = 1")
    session.sql("ALTER TABLE hudi.named.t RENAME TO hudi.named.u")
    session.sql("USE hudi.named")
    for name in ("u", "named.u", "hudi.named.u", "spark_catalog.named.u"):
        assert session.sql(f"SELECT id, name FROM {name} ORDER BY id").collect() == [(2, "z"), (3, "c")]
    assert session.table("hudi.named.u").count() == 2
    inner = "SELECT 1 FROM hudi.named.u WHERE `hudi`.`named`.`u`.`id` = o.id + 1"
    assert session.sql(f"SELECT o.id FROM hudi.named.u o WHERE EXISTS ({inner})").collect() == [(2,)]
    assert session.sql("SELECT hudi.named.u.id FROM hudi.named.u ORDER BY hudi.named.u.id DESC").collect() == [(3,), (2,)]
    star = "SELECT s.name, s.id, t.id FROM (SELECT hudi.named.u.* EXCEPT (id), struct(hudi.named.u.*).id AS id FROM hudi.named.u) s"
    assert session.sql(f"{star} JOIN (SELECT hudi.named.u.* FROM named.u) t USING (id) ORDER BY id").collect() == [("z", 2, 2), ("c", 3, 3)]
    with pytest.raises(AnalysisException, match=r"`named`.`u`.`nothing`"):
        session.sql("SELECT hudi.named.u.nothing FROM hudi.named.u")
    session.sql("UPDATE hudi.named.u SET name = 'y' WHERE hudi.named.u.id = 3")
    session.sql("DELETE FROM hudi.named.u WHERE hudi.named.u.name = 'y'")
    assert session.table("hudi.named.u").count() == 1
    session.sql("DROP TABLE hudi.named.u")
    assert session.sql("SHOW TABLES IN named").count() == 0
    session.sql("USE spark_catalog.default")
    session.sql("DROP DATABASE named")


def test_catalog_of_another_name_is_set_in_a_running_session(spark: SparkSession) -> None:
    session = spark.newSession()
    assert session.sql(f"SET spark.sql.catalog.lake = {CATALOG}").first() == ("spark.sql.catalog.lake", "hudi.CatalogAlias")
    assert session.sql("SHOW NAMESPACES IN lake").count() >= 1


def test_script_that_builds_the_running_session_with_hudis_settings(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_settings, "_inherited_settings", lambda: pytest.fail("the settings of a running Spark were read again"))
    builder = SparkSession.builder.config("spark.sql.catalog.spark_catalog", CATALOG).config("spark.sql.extensions", EXTENSION)
    for again in (builder, pyhudi.enable(builder)):
        session = again.getOrCreate()
        assert session.conf.get("spark.sql.catalog.spark_catalog") == "builtin"
        assert session.sql("SHOW NAMESPACES").count() >= 1
    builder.config("spark.sql.catalog.spark_catalog", CATALOG)
    assert SparkSession.builder.getOrCreate().sql("SHOW NAMESPACES").count() >= 1


def test_running_session_that_loaded_the_jar_is_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session = spark.newSession()
    session._jsparkSession.conf().set("spark.sql.catalog.spark_catalog", CATALOG)
    monkeypatch.setattr(start_settings, "_is_loadable", lambda *_: True)
    with pytest.raises(
        UsageError, match=r"started with Apache Hudi's own classes \(org\.apache\.spark\.sql\.hudi\.catalog\.HoodieCatalog\)"
    ):
        pyhudi.enable(session)
