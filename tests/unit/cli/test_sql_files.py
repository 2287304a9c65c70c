"""Files and settings of `pyhudi sql` that are wrong: the error comes before Spark starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-f", "missing.sql"], "the file of statements missing.sql does not exist"),
        (["-i", "bytes.sql"], "the file of statements bytes.sql is no text in UTF-8"),
        (["--hivevar", "x", "-e", "SELECT 1"], "'x' is no option"),
    ],
    ids=["missing", "bytes", "variable"],
)
def test_wrong_files_and_variables_are_refused_before_spark_starts(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "bytes.sql").write_bytes(b"\xff\xfe")
    command = [sys.executable, "-m", "pyhudi", "sql", *arguments]
    # Without Java, a session that starts has another message.
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": "", "JAVA_HOME": "/missing"}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith(f"error: {message}")) == (2, True), done.stderr
