"""A cluster of processes whose executors, Python workers or driver are killed in the middle of a task, or whose tasks are slow: the rows
are exact, and nothing is left of what was repeated. `docs/reliability-tests.md` has the table of what is killed when.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from pyhudi import HudiTable
from tests.spark.cluster.driver import ROWS, faults, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

REPOSITORY = Path(__file__).parents[2]
#: Action, point in a task, what happens there (`tests/spark/cluster/faults/sitecustomize.py`).
STEPS = [
    "bulk_insert:written:executor",
    "upsert:writing:executor",
    "upsert:written:worker",
    "delete:marked:executor",
    "merge:writing:worker",
]
SERVICES = ["compact:writing:executor", "cluster:written:executor"]
OTHERS = ["upsert:marked:sleep", "upsert:written:sleep", "server_markers:writing:executor"]


def run(folder: Path, kind: str, steps: list[str]) -> tuple[int, list[dict[str, Any]]]:
    """Run a driver; return its status and what it prints of each step."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "SPARK_HOME": str(Path(pyspark.__file__).parent)}
    command = [sys.executable, "-m", "tests.spark.cluster.driver", str(folder), kind, *steps]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=1500)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def check(lines: list[dict[str, Any]], steps: list[str]) -> None:
    done = [line for line in lines if "step" in line]
    assert [line["step"] for line in done] == steps
    assert [line for line in done if line["wrong"]] == []
    assert [line["step"] for line in done if line["happened"] != 1] == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_actions_whose_executors_and_workers_are_killed_leave_exact_tables(kind: str, tmp_path: Path) -> None:
    steps = STEPS + (SERVICES if kind == "MERGE_ON_READ" else SERVICES[1:]) + OTHERS
    status, lines = run(tmp_path, kind, steps)
    check(lines, steps)
    assert status == 0


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_index_that_is_asked_again_in_the_middle_of_a_write_gives_the_same_answers(kind: str, tmp_path: Path) -> None:
    """An executor is lost while files are written, and with it and with all output of the shuffle what the look-up of keys had answered.

    The second driver has a defect, a repeated look-up finds nothing: it shows that keys were looked up again, and that the rows tell.
    """
    steps = ["bulk_insert:never:worker", "lookup_again:writing:lookup"]
    status, lines = run(tmp_path / "right", kind, steps)
    done = [line for line in lines if "step" in line]
    assert [(line["step"], line["wrong"], line["happened"]) for line in done] == [(steps[0], [], 0), (steps[1], [], 1)]
    assert status == 0
    _, lines = run(tmp_path / "defect", kind, [steps[0], "blind_lookup_again:writing:lookup"])
    assert lines[-1]["happened"] == 1
    assert "rows are" in str(lines[-1]["wrong"])


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("point", ["marked", "writing", "written"])
def test_the_next_writer_removes_what_a_killed_driver_left(kind: str, point: str, tmp_path: Path) -> None:
    status, lines = run(tmp_path, kind, ["bulk_insert:never:worker", f"upsert:{point}:driver"])
    assert status != 0
    assert [line.get("wrong") for line in lines] == [None, [], None]
    path = tmp_path / kind
    assert rows_of(path) == [(id_, 0) for id_ in range(ROWS)]
    HudiTable.open(path).upsert([{"id": 0, "city": "c0", "n": 1}], options={"hoodie.compact.inline": "false"})
    assert rows_of(path) == [(0, 1), *((id_, 0) for id_ in range(1, ROWS))]
    assert faults(path) == []
