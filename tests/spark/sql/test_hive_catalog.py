"""Spark's Hive catalog: tables that one session makes are found by the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]


def run(part: str, folder: Path) -> dict[str, Any]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    program = [sys.executable, "-m", "tests.spark.sql.hive_catalog", part]
    done = subprocess.run(
        program, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.slow
def test_a_new_session_finds_and_changes_the_tables_of_the_last(tmp_path: Path) -> None:
    made = run("first", tmp_path)
    assert [row[1] for row in made["tables"]] == ["copied", "new_name"]
    assert made["partitions"] == [["day=mon"], ["day=tue"], ["day=wed"]]
    result = run("second", tmp_path)
    assert result["orders"] == [[1, "ann", 10.0, None, "mon"], [2, "bob", 2.5, None, "tue"], [4, "dee", 4.0, "new", "wed"]]
    assert result["copied"] == [[1, "ann"], [2, "bea"]]
    assert result["view"] == [[1, 10.0], [4, 4.0]]
    assert result["described"][:5] == [
        ["Id", "int", None],
        ["name", "string", None],
        ["amount", "double", None],
        ["note", "string", "free text"],
        ["day", "string", None],
    ]
    assert result["databases"] == [["default"], ["sales"]]
    assert [row[1] for row in result["sales"]] == ["dear", "orders"]
    assert (result["renamed"], result["created"]) == ([[1]], True)
    assert (result["changed"], result["left"]) == ([[4], [5]], [["default"]])
    assert not (tmp_path / "spark-warehouse" / "sales.db").exists()
