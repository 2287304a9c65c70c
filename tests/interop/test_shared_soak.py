"""pyhudi's writers and services and Apache Hudi write one table at the same time, while their processes are killed and stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.reference import why_no_reference

#: Of each kind of table.
SECONDS = os.environ.get("PYHUDI_SHARED_SOAK_SECONDS", "180")
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("version", [9, 8])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_processes_of_both_that_are_killed_leave_a_sound_history(kind: str, version: int, tmp_path: Path) -> None:
    problem = why_no_reference()
    if problem:
        pytest.skip(f"Apache Hudi is not here: {problem}")
    command = [sys.executable, "-m", "tests.interop.shared_soak", str(tmp_path / "soak"), "--kind", kind, "--version", str(version)]
    done = subprocess.run([*command, "--seconds", SECONDS], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["faults"] == []
    assert min(result["counts"]["of Apache Hudi"], result["counts"]["kills"]) > 0, result["counts"]
