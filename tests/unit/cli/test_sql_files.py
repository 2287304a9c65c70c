"""Files and settings of `pyhudi sql` that are wrong: the error comes before Spark starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyhudi.cli.sessions import sql_command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-f", "missing.sql"], "missing.sql: No such file"),
        (["-i", "bytes.sql"], "bytes.sql is no text in UTF-8"),
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


def test_a_byte_order_mark_is_no_part_of_a_statement(tmp_path: Path) -> None:
    (tmp_path / "windows.sql").write_bytes(b"\xef\xbb\xbfselect 1;\r\n")
    assert sql_command._text_of(str(tmp_path / "windows.sql")) == "select 1;\n"
