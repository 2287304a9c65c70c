"""`pyhudi.disable`: a session is as before `pyhudi.enable`, and with the last one PySpark's own methods come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pyhudi
from pyhudi.errors import UsageError

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
REFUSED = "does not speak Hudi any more"


@pytest.mark.slow
def test_every_patch_is_taken_off_with_the_last_session_and_others_continue(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.disabled_session", str(tmp_path)],
        cwd=tmp_path,
        env={**{name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "patched": True,
        "with another left": [True, REFUSED, "1"],
        "twice": [True, REFUSED, "2"],
        "unpatched": [],
        "workers": [True, "python3"],
        "none left": [REFUSED, REFUSED, 1],
        "enabled again": ["3", REFUSED],
        "after stop": [True, []],
    }


@pytest.mark.parametrize("target", [None, "local[*]"])
def test_anything_else_is_refused(target: Any) -> None:
    with pytest.raises(UsageError, match=r"SparkSession\.builder"):
        pyhudi.disable(target)
