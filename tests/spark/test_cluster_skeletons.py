"""Bootstrapped and widened tables on executors that are processes: they get the format of a scan from the driver, whatever session asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

REPOSITORY = Path(__file__).parents[2]
READ = {"same": 12_000, "distinct": 12_000, "found": 3, "of_skeletons": 11_998}


WIDENED = [["a", 0.1, 1.0], ["b", None, 2.0], ["c", 0.3, 0.5]]


def test_executors_read_skeletons_and_widened_files_in_any_session(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "SPARK_HOME": str(Path(pyspark.__file__).parent)}
    command = [sys.executable, "-m", "tests.spark.cluster.skeletons", str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=600)
    documents = [line[line.index('{"') :] for line in done.stdout.splitlines() if '{"' in line]
    lines = [json.loads(line) for line in documents if line.startswith(('{"type"', '{"widened"', '{"plain"'))]
    assert lines.pop(0) == {"plain": ["a", "b", "c"]}, done.stderr[-2000:]
    assert lines.pop(0) == {"widened": WIDENED}
    sessions = [(line.pop("type"), line.pop("session")) for line in lines]
    assert sessions == [(kind, one) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for one in ("first", "other", "isolated")]
    assert lines == [READ] * 6
    assert done.returncode == 0
