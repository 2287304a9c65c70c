"""The project of docs/dbt.md, built by dbt with its session method, twice. `make test-dbt` makes dbt's environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs" / "dbt.md"
SOURCES = Path(__file__).parents[2] / "src"
_FILES = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
READ = """
import json
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
def rows(columns, table):
    return sorted(list(row) for row in spark.sql(f"SELECT {columns} FROM shop.{table}").collect())
result = {"daily": rows("id, amount", "daily"), "totals": rows("customer, total", "totals"),
    "properties": dict(spark.sql("SHOW TBLPROPERTIES shop.daily").collect())}
print("RESULT " + json.dumps(result))
"""


def test_project_of_the_page(tmp_path: Path) -> None:
    python = os.environ.get("PYHUDI_DBT_PYTHON")
    if not python:
        pytest.skip("PYHUDI_DBT_PYTHON is not set; `make test-dbt` sets it")
    for name, text in _FILES.findall(PAGE.read_text()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "read.py").write_text(READ)
    dbt = str(Path(python).with_name("dbt"))
    run(tmp_path, python, dbt, "build", "--profiles-dir", ".")
    orders = tmp_path / "seeds" / "orders.csv"
    orders.write_text(orders.read_text().replace("3,ann,30", "3,ann,35") + "4,cid,40,2026-01-02\n")
    run(tmp_path, python, dbt, "build", "--profiles-dir", ".")
    answer = re.search(r"^RESULT (.*)$", run(tmp_path, python, "read.py"), re.MULTILINE)
    assert answer is not None
    result = json.loads(answer.group(1))
    assert result["daily"] == [[1, 10], [2, 20], [3, 35], [4, 40]]
    assert result["totals"] == [["ann", 45], ["bob", 20], ["cid", 40]]
    assert result["properties"]["primaryKey"] == "id"


def run(folder: Path, python: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "PYSPARK_PYTHON": python, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    command = [python, "-m", "pyhudi", "run", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout
