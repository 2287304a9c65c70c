"""Hive's own JDBC client, beeline, whose jars PySpark ships, reads Hudi tables through `pyhudi thriftserver`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest

from pyhudi import HudiTable

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    settings = [
        f"spark.sql.warehouse.dir={tmp_path}",
        f"spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:memory:{tmp_path.name};create=true",
    ]
    flags = [part for setting in settings for part in ("--conf", setting)]
    command = [sys.executable, "-m", "pyhudi", "thriftserver", "--port", "0", *flags]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout
    try:
        line = server.stdout.readline().strip()
        assert line.startswith("jdbc:hive2://"), (tmp_path / "server.log").read_text()[-2000:]
        yield line
    finally:
        server.terminate()
        server.wait(60)
        server.stdout.close()


def beeline(url: str, *statements: str) -> subprocess.CompletedProcess[str]:
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    java = Path(os.environ["JAVA_HOME"], "bin", "java")
    client = [java, "-cp", jars, "org.apache.hive.beeline.BeeLine", "-u", url, "--outputformat=csv2", "--silent=true"]
    client += [part for statement in statements for part in ("-e", statement)]
    return subprocess.run([*map(str, client)], capture_output=True, text=True, timeout=120, check=False)


def test_beeline_selects_and_is_told_that_it_cannot_write(url: str, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "rides", SCHEMA, name="rides", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    table.upsert([{"id": 1, "city": "rome"}, {"id": 2, "city": "oslo"}])
    table.delete([{"id": 2, "city": "oslo"}])
    table.upsert([{"id": 3, "city": "rome"}])
    view = f"CREATE TEMPORARY VIEW rides USING hudi OPTIONS (path '{tmp_path / 'rides'}')"
    read = beeline(url, view, "SELECT id, city FROM rides ORDER BY id")
    assert [line for line in read.stdout.splitlines() if line and not line.startswith("0: jdbc:")] == ["1,rome", "3,rome"], read.stderr
    assert read.returncode == 0
    before = table.history().num_rows
    refused = beeline(url, view, "INSERT INTO rides SELECT * FROM rides")
    assert refused.returncode != 0
    assert "UNSUPPORTED_INSERT" in refused.stderr
    assert table.history().num_rows == before
