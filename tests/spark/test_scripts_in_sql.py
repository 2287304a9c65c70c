"""SQL scripts in the shapes in which they are published, through `pyhudi sql`: the rows that they print are right.

A script of `sql_scripts` states what a statement prints in comments after it, each line behind an arrow. The numbers that differ from
run to run are masked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPTS = sorted((Path(__file__).parent / "sql_scripts").glob("*.sql"))
ARROW = "--> "
FLAGS = ("--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=1")
IN_MEMORY = ("--conf", "spark.sql.catalogImplementation=in-memory")


def shell(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pyhudi", "sql", *FLAGS, *arguments]
    return subprocess.run(command, cwd=folder, env=dict(os.environ), input=stdin, capture_output=True, text=True, check=False)


def masked(line: str, folder: Path) -> str:
    line = re.sub(r"\b20\d{15}\b", "<instant>", line.rstrip().replace(str(folder), "<base>"))
    return re.sub(r"(?<=\t)\d{4}(?=\t|$)", "<bytes>", line) if line.startswith("<instant>") else line


def rows(done: subprocess.CompletedProcess[str], folder: Path) -> list[str]:
    return [masked(line, folder) for line in done.stdout.splitlines()]


def expected(text: str) -> list[str]:
    return [line.removeprefix(ARROW).rstrip() for line in text.splitlines() if line.startswith(ARROW)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script: Path, tmp_path: Path) -> None:
    text = script.read_text()
    variable = ("--hivevar", f"base={tmp_path}")
    way = SCRIPTS.index(script) % 4
    match way:
        case 0:
            done = shell(tmp_path, *variable, "-f", str(script))
        case 1:
            done = shell(tmp_path, *IN_MEMORY, *variable, "-e", text)
        case 2:
            done = shell(tmp_path, *IN_MEMORY, *variable, "-i", str(script), "-e", "")
        case _:
            done = shell(tmp_path, *IN_MEMORY, *variable, "-S", stdin=text)
    assert (rows(done, tmp_path), done.returncode) == (expected(text), 0), done.stderr
    assert ("Time taken" in done.stderr) == (way != 3)


def test_comments_semicolons_and_a_file_of_windows(tmp_path: Path) -> None:
    statements = (
        "-- a comment; with a semicolon",
        "/* block;",
        " comment */",
        "select 1 as a; -- trailing; comment",
        "select \"a;b\" as x, '--no' as y, `c` from (select 2 as c);",
        ";;",
        "/* only a comment */;",
        "-- only a comment",
        ";",
        "select /*+ broadcast(t) */ 3 from (select 1) t;",
        r"select 'it\'s; fine'; select ';' as `a;b`",
        "-- the end",
    )
    (tmp_path / "windows.sql").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(statements).encode())
    done = shell(tmp_path, *IN_MEMORY, "-f", "windows.sql")
    assert (rows(done, tmp_path), done.returncode) == (["1", "a;b\t--no\t2", "3", "it's; fine", ";"], 0), done.stderr


def test_time_travel_to_an_instant_that_a_run_before_has_printed(tmp_path: Path) -> None:
    table = f"t using hudi tblproperties (primaryKey = 'id') location '{tmp_path}/t'"
    first = f"create table {table} as select 1 as id, 'old' as name; update t set name = 'new'; select min(_hoodie_commit_time) from t;"
    again = shell(tmp_path, "--database", "default", "-S", "-e", first + "call show_commits(table => 't')")
    instants = sorted(line.partition("\t")[0] for line in again.stdout.splitlines() if "commit\t" in line)
    assert len(instants) == 2, again.stderr
    travel = "select name from t timestamp as of '${then}'; select name from t; select name from t version as of '${hivevar:then}'"
    variables = ("--hivevar", f"then={instants[0]}")
    assert rows(shell(tmp_path, *variables, "-S", "-e", travel), tmp_path) == ["old", "new", "old"]
    rollback = "call rollback_to_instant(table => 't', instant_time => '${now}'); select name from t"
    assert rows(shell(tmp_path, "--hivevar", f"now={instants[1]}", "-S", "-e", rollback), tmp_path) == ["true", "old"]


def test_failures_end_the_run_unless_they_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "fails.sql").write_text("select 1;\nselect * from missing;\nselect 2;\n")
    (tmp_path / "outer.sql").write_text("source fails.sql;\nselect 3;\nquit;\nselect 4;\n")
    (tmp_path / "lost.sql").write_text("select 0; SOURCE 'nowhere.sql'; select 5;")
    ends = shell(tmp_path, *IN_MEMORY, "-i", "outer.sql", "-e", "select 6")
    assert (rows(ends, tmp_path), ends.returncode) == (["1"], 1)
    assert "AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]" in ends.stderr
    goes_on = shell(tmp_path, *IN_MEMORY, "--hiveconf", "hive.cli.errors.ignore=true", "-f", "outer.sql")
    assert (rows(goes_on, tmp_path), goes_on.returncode) == (["1", "2", "3"], 0)
    lost = shell(tmp_path, *IN_MEMORY, "-f", "lost.sql")
    assert (rows(lost, tmp_path), lost.returncode) == (["0"], 1)
    assert "error: the file of statements nowhere.sql does not exist" in lost.stderr


def test_errors_of_jobs_are_told_without_a_stack(tmp_path: Path) -> None:
    done = shell(tmp_path, *IN_MEMORY, "--database", "missing", "-e", "select 1")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "AnalysisException: [SCHEMA_NOT_FOUND]" in done.stderr
    done = shell(tmp_path, *IN_MEMORY, "-e", "select java_method('java.lang.Integer', 'parseInt', 'x')")
    assert "caused by: java.lang.NumberFormatException" in done.stderr, done.stderr
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
